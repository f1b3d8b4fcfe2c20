// Compiled kernels on disk: one checksummed file each, named by its key.
// SPDX-License-Identifier: MIT
//
// Many processes may use one folder, also over a network. A file is written under a temporary name and renamed, so that
// it is complete or absent, and its checksum tells where a machine stopped in between; whatever cannot be read or
// trusted is a miss. The cache never fails a compilation: where a write is not possible it adds a note once.
#pragma once

#include "artifact/Artifact.h"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nereid::jit {

struct CacheInfo {
  uint64_t files = 0;
  uint64_t bytes = 0;
};

/// No setting is read from the environment: the caller passes the folder with each call, and may pass another one each
/// time. A key is lower-case hex, at least 8 digits, and is also the `hash` of the artifact stored under it.
class DiskCache {
public:
  static constexpr uint64_t kDefaultLimitBytes = uint64_t{1} << 30;

  /// The artifact stored under the key. A corrupt file is removed; one that others could have written, a link or a
  /// special file is left alone.
  std::optional<artifact::Artifact> load(const std::string &dir, std::string_view key);

  /// Every process finds the kernel from then on. A machine that stops may lose it before `settle`. False, with a note,
  /// where the file could not be written.
  bool put(const std::string &dir, std::string_view key, const artifact::Artifact &artifact);

  /// What takes long and nobody waits for: the disk has the kernel afterwards, and now and then the folder is brought
  /// below its limit.
  void settle(const std::string &dir, std::string_view key);

  /// `put`, then `settle`.
  bool store(const std::string &dir, std::string_view key, const artifact::Artifact &artifact);

  CacheInfo info(const std::string &dir);

  /// Removes every kernel file, its view and files of crashed writers; files that are not the cache's stay. Returns
  /// what was removed.
  CacheInfo clear(const std::string &dir);

  /// Writes `<dir>/<folder>/<name>.<stage>` for each stage and `<name>.json`, a flat form for other readers; it is
  /// never read back here. Returns the paths written, the metadata last; empty, with a note, on failure.
  std::vector<std::string> writeView(const std::string &dir, const std::string &folder, const std::string &name,
                                     const std::vector<artifact::Stage> &stages, const std::string &metadataJson);

  /// The folder that serves as the view of a key: its bytes in base 32.
  static std::string viewFolder(std::string_view key);

  /// The size limit of a folder in bytes; the least recently used kernels are removed beyond it. Checked now and then
  /// after a store.
  void setLimit(uint64_t bytes) { limitBytes = bytes; }

  /// Checks the size now. Returns what was removed.
  CacheInfo evict(const std::string &dir);

  /// The notes since the last call. Each text is given once in the lifetime of the cache, so that a full disk gives one
  /// note.
  std::vector<std::string> takeNotes();

private:
  void note(std::string text);
  void noteOfFolder(const std::string &dir, int reason);

  std::atomic<uint64_t> limitBytes{kDefaultLimitBytes};
  std::atomic<uint64_t> bytesSinceEviction{0};
  std::mutex notesMutex;
  std::set<std::string> notesGiven;
  std::vector<std::string> notesPending;
};

/// The cache of this process, whose notes its callers show.
DiskCache &processCache();

} // namespace nereid::jit
