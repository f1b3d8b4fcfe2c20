// Loads and stores kernels by key; PrivateFile implements the rules of a single file.
// SPDX-License-Identifier: MIT
#include "jit/DiskCache.h"

#include "compiler/support/ForkGate.h"
#include "jit/CacheFolder.h"
#include "jit/PrivateFile.h"

#include <cerrno>
#include <cstring>

#include <unistd.h>

namespace nereid::jit {

std::optional<artifact::Artifact> DiskCache::load(const std::string &dir, std::string_view key) {
  if (dir.empty() || !isCacheKey(key))
    return std::nullopt;
  const Descriptor top = openFolder(dir, /*make=*/false);
  const Descriptor subfolder = top ? openFolderAt(top, subfolderOf(key), /*make=*/false) : Descriptor();
  if (!subfolder)
    return std::nullopt;
  const std::string name = kernelFileName(key);
  const FileContents file = readPrivateFile(subfolder, name);
  if (file.state != FileContents::State::Read)
    return std::nullopt;
  auto artifact = artifact::deserialize(file.bytes);
  if (artifact && artifact->hash == key)
    return std::move(*artifact);
  // A file of another version of Nereid is valid for that version, but its key would differ, so that it is never looked
  // up under this name.
  unlinkat(subfolder.get(), name.c_str(), 0);
  return std::nullopt;
}

bool DiskCache::store(const std::string &dir, std::string_view key, const artifact::Artifact &artifact) {
  if (!isCacheKey(key) || artifact.hash != key) {
    note("the kernel cache is off for `" + artifact.name + "`: its key is not its hash");
    return false;
  }
  if (dir.empty()) {
    note("the kernel cache is off: there is no folder for it");
    return false;
  }
  const Descriptor top = openFolder(dir, /*make=*/true);
  const Descriptor subfolder = top ? openFolderAt(top, subfolderOf(key), /*make=*/true) : Descriptor();
  if (!subfolder) {
    note("the kernel cache is off: folder `" + dir + "`: " + std::strerror(errno));
    return false;
  }
  const std::string bytes = artifact::serialize(artifact);
  const std::string problem = replaceFile(subfolder, kernelFileName(key), bytes, Sync::Yes);
  if (!problem.empty()) {
    note("the kernel cache is off: a file in `" + dir + "` cannot be written: " + problem);
    return false;
  }
  // After a sixteenth of the limit by this process, or one store in 64: often enough for many short processes, rare
  // enough to be cheap.
  bytesSinceEviction += bytes.size();
  if (bytesSinceEviction > limitBytes / 16 || isOneIn64(key))
    evict(dir);
  return true;
}

CacheInfo DiskCache::info(const std::string &dir) {
  CacheInfo total;
  for (const CachedFile &file : listCachedFiles(dir)) {
    total.files += !file.isAside;
    total.bytes += file.bytes;
  }
  return total;
}

CacheInfo DiskCache::clear(const std::string &dir) {
  CacheInfo removed;
  for (const CachedFile &file : listCachedFiles(dir))
    removeCachedFile(dir, file, removed);
  return removed;
}

CacheInfo DiskCache::evict(const std::string &dir) {
  bytesSinceEviction = 0;
  return evictCachedFiles(dir, limitBytes);
}

std::vector<std::string> DiskCache::takeNotes() {
  const support::ForkGate gate;
  std::lock_guard<std::mutex> lock(notesMutex);
  return std::exchange(notesPending, {});
}

void DiskCache::note(std::string text) {
  const support::ForkGate gate;
  std::lock_guard<std::mutex> lock(notesMutex);
  if (notesGiven.insert(text).second)
    notesPending.push_back(std::move(text));
}

DiskCache &processCache() {
  static auto *cache = new DiskCache(); // threads may still use it while the process ends
  return *cache;
}

} // namespace nereid::jit
