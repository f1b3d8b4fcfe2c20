// One compilation of a kernel among the threads and processes that share a cache folder.
// SPDX-License-Identifier: MIT
//
// The lock is advisory and never needed for a right result: where it cannot be had, a kernel is compiled more than
// once.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace nereid::jit {

class CompileLock {
public:
  struct Wait {
    std::chrono::milliseconds limit = std::chrono::minutes(5);
    std::function<bool()> isCancelled; ///< may be empty
  };

  /// How the wait for a key ended.
  enum class Outcome {
    Owned,    ///< this caller compiles, and holds the lock meanwhile
    Released, ///< another has held and released it: its kernel should be in the cache
    None,     ///< no lock can be had, or not in time: the caller compiles without one
    Cancelled,
  };

  /// Takes the lock of a key, or waits for its owner. The death of an owner frees it at once.
  static Outcome take(const std::string &dir, std::string_view key, const Wait &wait,
                      std::unique_ptr<CompileLock> &lock);

  /// Lets the others read the cache.
  ~CompileLock();
  CompileLock(const CompileLock &) = delete;
  CompileLock &operator=(const CompileLock &) = delete;

private:
  CompileLock(std::string path, int fd);

  std::string path;
  int fd;
  pid_t owner; ///< a forked child does not release what its parent holds
};

} // namespace nereid::jit
