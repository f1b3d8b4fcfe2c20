// How kernel files and their views lie in the cache's folder, and which may go.
// SPDX-License-Identifier: MIT
//
//   <dir>/<first two digits>/<key>.nereid   a kernel
//   <dir>/<first two digits>/.aside-*       a file that is being written
//   <dir>/<base 32 of key>/                 the key's view, for other readers
#pragma once

#include "jit/DiskCache.h"

#include <cstdint>
#include <ctime>
#include <string>
#include <string_view>
#include <vector>

namespace nereid::jit {

/// Lower-case hex, 8 to 128 digits: nothing that could lead out of the folder.
bool isCacheKey(std::string_view key);
std::string subfolderOf(std::string_view key);
std::string kernelFileName(std::string_view key);

/// A choice that differs from key to key and needs no state.
bool isOneIn64(std::string_view key);

struct CachedFile {
  std::string subfolder;
  std::string name;
  uint64_t bytes = 0; ///< the view's files included
  time_t lastUse = 0;
  bool isAside = false;
};

/// Every file of the cache's own naming that this user owns.
std::vector<CachedFile> listCachedFiles(const std::string &dir);

/// Removes the file, and a kernel's view with it; counts it when it was there.
void removeCachedFile(const std::string &dir, const CachedFile &file, CacheInfo &removed);

/// Removes what was used least recently until the folder is well below the
/// limit, and files that a broken writer left. Several processes may do so at
/// once: each then finds some files gone already.
CacheInfo evictCachedFiles(const std::string &dir, uint64_t limitBytes);

} // namespace nereid::jit
