// Writes the flat folder of stage files beside the cache, for other readers.
// SPDX-License-Identifier: MIT
#include "jit/DiskCache.h"
#include "jit/PrivateFile.h"

#include <cerrno>
#include <cstring>

namespace nereid::jit {

/// Base 32 of RFC 4648 without padding, of the bytes that the hex digits encode.
std::string DiskCache::viewFolder(std::string_view key) {
  static constexpr char kAlphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  static constexpr std::string_view kHexDigits = "0123456789abcdef";
  std::string out;
  uint32_t bits = 0;
  int count = 0;
  for (const char digit : key) {
    bits = (bits << 4 | static_cast<uint32_t>(kHexDigits.find(digit) & 15)) & 0xffff;
    count += 4;
    if (count >= 5) {
      count -= 5;
      out += kAlphabet[bits >> count & 31];
    }
  }
  if (count > 0)
    out += kAlphabet[bits << (5 - count) & 31];
  return out;
}

/// Whether it is a plain file name: no path and not hidden.
static bool isPlainName(const std::string &name) {
  return !name.empty() && name.front() != '.' && name.find('/') == name.npos && name.find('\0') == name.npos;
}

std::vector<std::string> DiskCache::writeView(const std::string &dir, const std::string &folder,
                                              const std::string &name, const std::vector<artifact::Stage> &stages,
                                              const std::string &metadataJson) {
  const auto fail = [&](const std::string &problem) {
    note("kernel `" + name + "` has no files in `" + dir + "`: " + problem);
    return std::vector<std::string>();
  };
  std::vector<artifact::Stage> files = stages;
  files.push_back({"json", metadataJson});
  if (dir.empty() || !isPlainName(folder) || !isPlainName(name))
    return fail("the name is not one of a file");
  const Descriptor top = openFolder(dir, /*make=*/true);
  const Descriptor view = top ? openFolderAt(top, folder, /*make=*/true) : Descriptor();
  if (!view)
    return fail(std::strerror(errno));

  std::vector<std::string> paths;
  for (const artifact::Stage &file : files) {
    if (!isPlainName(file.name))
      return fail("stage `" + file.name + "` is not the name of a file");
    const std::string fileName = name + "." + file.name;
    if (const int reason = replaceFile(view, fileName, file.data, Sync::No))
      return fail(std::strerror(reason));
    paths.push_back(dir + "/" + folder + "/" + fileName);
  }
  return paths;
}

} // namespace nereid::jit
