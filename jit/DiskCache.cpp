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

/// Calls `work`, which returns the system's number of an error or 0, again after such an answer.
template <typename Work> static int retryStale(Work work) {
  int reason = ESTALE;
  for (int trial = 0; trial < kStaleTrials && reason == ESTALE; ++trial)
    reason = work();
  return reason;
}

static Descriptor openSubfolder(const std::string &dir, std::string_view key, bool make) {
  const Descriptor top = openFolder(dir, make);
  return top ? openFolderAt(top, subfolderOf(key), make) : Descriptor();
}

std::optional<artifact::Artifact> DiskCache::load(const std::string &dir, std::string_view key) {
  if (dir.empty() || !isCacheKey(key))
    return std::nullopt;
  const std::string name = kernelFileName(key);
  Descriptor subfolder;
  FileContents file;
  retryStale([&] {
    subfolder = openSubfolder(dir, key, /*make=*/false);
    if (!subfolder)
      return errno;
    file = readPrivateFile(subfolder, name);
    return file.error;
  });
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

bool DiskCache::put(const std::string &dir, std::string_view key, const artifact::Artifact &artifact) {
  if (!isCacheKey(key) || artifact.hash != key) {
    note("the kernel cache is off for `" + artifact.name + "`: its key is not its hash");
    return false;
  }
  if (dir.empty()) {
    note("the kernel cache is off: there is no folder for it");
    return false;
  }
  const std::string bytes = artifact::serialize(artifact);
  const int reason = retryStale([&] {
    const Descriptor subfolder = openSubfolder(dir, key, /*make=*/true);
    return subfolder ? replaceFile(subfolder, kernelFileName(key), bytes, Sync::No) : errno;
  });
  if (reason != 0)
    noteOfFolder(dir, reason);
  else
    bytesSinceEviction += bytes.size();
  return reason == 0;
}

void DiskCache::settle(const std::string &dir, std::string_view key) {
  if (const Descriptor subfolder = openSubfolder(dir, key, /*make=*/false))
    syncFile(subfolder, kernelFileName(key));
  // After a sixteenth of the limit by this process, or one store in 64: often enough for many short processes, rare
  // enough to be cheap.
  if (bytesSinceEviction > limitBytes / 16 || isOneIn64(key))
    evict(dir);
}

bool DiskCache::store(const std::string &dir, std::string_view key, const artifact::Artifact &artifact) {
  const bool isThere = put(dir, key, artifact);
  if (isThere)
    settle(dir, key);
  return isThere;
}

void DiskCache::noteOfFolder(const std::string &dir, int reason) {
  const std::string folder = "the kernel cache is off: folder `" + dir + "`";
  const std::string text = std::strerror(reason);
  const bool isReadOnly = reason == EROFS || reason == EACCES || reason == EPERM;
  if (!isReadOnly || access(dir.c_str(), R_OK | X_OK) != 0)
    return note(folder + ": " + text);
  note(folder + " is read-only for this user (" + text +
       "): kernels in it are used, others are compiled by each process; TRITON_CACHE_DIR names another folder");
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
