// The layout of kernel files and their views in the cache folder, and their eviction.
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

/// Lower-case hex, 8 to 128 digits: no path that could leave the folder.
bool isCacheKey(std::string_view key);
std::string subfolderOf(std::string_view key);
std::string kernelFileName(std::string_view key);

/// A stateless choice that depends on the key.
bool isOneIn64(std::string_view key);

struct CachedFile {
  std::string subfolder;
  std::string name;
  uint64_t bytes = 0; ///< including the files of its view
  time_t lastUse = 0;
  bool isAside = false;
};

/// Every file named by the cache's rules that this user owns.
std::vector<CachedFile> listCachedFiles(const std::string &dir);

/// Removes the file, and a kernel's view with it; counts it where it existed.
void removeCachedFile(const std::string &dir, const CachedFile &file, CacheInfo &removed);

/// Removes the least recently used kernels until the folder is well below the limit, and files of crashed writers.
/// Several processes may do so at once: each ignores files that are already removed.
CacheInfo evictCachedFiles(const std::string &dir, uint64_t limitBytes);

} // namespace nereid::jit
