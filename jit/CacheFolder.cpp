// Lists and removes the files of the cache.
// SPDX-License-Identifier: MIT
#include "jit/CacheFolder.h"

#include "jit/PrivateFile.h"

#include <algorithm>
#include <functional>
#include <memory>

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace nereid::jit {

static constexpr std::string_view kSuffix = ".nereid";
static constexpr std::string_view kHexDigits = "0123456789abcdef";
// A writer takes seconds at most; an older file was left by one that crashed.
static constexpr time_t kAsideSeconds = 3600;

bool isCacheKey(std::string_view key) {
  return key.size() >= 8 && key.size() <= 128 && key.find_first_not_of(kHexDigits) == std::string_view::npos;
}

std::string subfolderOf(std::string_view key) { return std::string(key.substr(0, 2)); }

std::string kernelFileName(std::string_view key) { return std::string(key).append(kSuffix); }

bool isOneIn64(std::string_view key) {
  // The last digits: the first ones are the same for all files of a subfolder.
  const char last = key[key.size() - 1], before = key[key.size() - 2];
  return last == '0' && kHexDigits.find(before) % 4 == 0;
}

static bool isKernelName(std::string_view name) {
  return name.ends_with(kSuffix) && isCacheKey(name.substr(0, name.size() - kSuffix.size()));
}

using Visit = std::function<void(const Descriptor &, const std::string &, const struct stat &)>;

/// Calls `visit` with the name and status of each entry of a folder inside `top` that this user owns; links are not
/// followed.
static void forEachOwned(const Descriptor &top, const std::string &folder, const Visit &visit) {
  const Descriptor opened = openFolderAt(top, folder, /*make=*/false);
  if (!opened)
    return;
  const std::unique_ptr<DIR, int (*)(DIR *)> listing(fdopendir(dup(opened.get())), closedir);
  if (!listing)
    return;
  while (const dirent *entry = readdir(listing.get())) {
    struct stat status;
    if (fstatat(opened.get(), entry->d_name, &status, AT_SYMLINK_NOFOLLOW) == 0 && status.st_uid == geteuid())
      visit(opened, entry->d_name, status);
  }
}

static uint64_t diskBytes(const struct stat &status) { return static_cast<uint64_t>(status.st_size); }

static uint64_t viewBytes(const Descriptor &top, std::string_view key) {
  uint64_t total = 0;
  forEachOwned(top, DiskCache::viewFolder(key),
               [&](const Descriptor &, const std::string &, const struct stat &status) {
                 if (S_ISREG(status.st_mode))
                   total += diskBytes(status);
               });
  return total;
}

static std::string_view keyOf(const CachedFile &file) {
  return std::string_view(file.name).substr(0, file.name.size() - kSuffix.size());
}

static void listSubfolder(const Descriptor &top, const std::string &subfolder, std::vector<CachedFile> &files) {
  forEachOwned(top, subfolder, [&](const Descriptor &, const std::string &name, const struct stat &status) {
    const bool isAside = name.starts_with(kAsidePrefix);
    if (!S_ISREG(status.st_mode) || !(isAside || isKernelName(name)))
      return;
    CachedFile &file = files.emplace_back(CachedFile{subfolder, name, diskBytes(status), status.st_mtime, isAside});
    if (!isAside)
      file.bytes += viewBytes(top, keyOf(file));
  });
}

std::vector<CachedFile> listCachedFiles(const std::string &dir) {
  std::vector<CachedFile> files;
  const Descriptor top = openFolder(dir, /*make=*/false);
  if (top)
    for (const char high : kHexDigits)
      for (const char low : kHexDigits)
        listSubfolder(top, {high, low}, files);
  return files;
}

/// A view is flat: its files are removed, then the folder, unless it contains anything else.
static void removeView(const Descriptor &top, std::string_view key) {
  const std::string folder = DiskCache::viewFolder(key);
  forEachOwned(top, folder, [](const Descriptor &view, const std::string &name, const struct stat &status) {
    if (S_ISREG(status.st_mode))
      unlinkat(view.get(), name.c_str(), 0);
  });
  unlinkat(top.get(), folder.c_str(), AT_REMOVEDIR);
}

void removeCachedFile(const std::string &dir, const CachedFile &file, CacheInfo &removed) {
  const Descriptor top = openFolder(dir, /*make=*/false);
  const Descriptor subfolder = top ? openFolderAt(top, file.subfolder, /*make=*/false) : Descriptor();
  if (!subfolder || unlinkat(subfolder.get(), file.name.c_str(), 0) != 0)
    return;
  removed.files += !file.isAside;
  removed.bytes += file.bytes;
  if (!file.isAside)
    removeView(top, keyOf(file));
}

CacheInfo evictCachedFiles(const std::string &dir, uint64_t limitBytes) {
  std::vector<CachedFile> files = listCachedFiles(dir);
  std::sort(files.begin(), files.end(), [](const CachedFile &a, const CachedFile &b) { return a.lastUse < b.lastUse; });
  uint64_t total = 0;
  for (const CachedFile &file : files)
    total += file.bytes;
  // Down to three quarters, so that the next stores do not evict again.
  const uint64_t target = total > limitBytes ? limitBytes / 4 * 3 : limitBytes;
  const time_t brokenBefore = time(nullptr) - kAsideSeconds;
  CacheInfo removed;
  for (const CachedFile &file : files) {
    const bool isBroken = file.isAside && file.lastUse < brokenBefore;
    const bool isTooMuch = !file.isAside && total - removed.bytes > target;
    if (isBroken || isTooMuch)
      removeCachedFile(dir, file, removed);
  }
  return removed;
}

} // namespace nereid::jit
