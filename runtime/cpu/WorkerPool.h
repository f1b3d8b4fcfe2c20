// The threads that help a launch; created at first use, gone before a fork.
// SPDX-License-Identifier: MIT
//
// A launching thread never becomes a thread of the pool's library: it posts
// requests for help and works on its own programs. So a launch does not wait
// for a helper that comes late, and no user thread holds the library's
// scheduler open when a fork has to close it.
#pragma once

#include <cstdint>
#include <memory>

namespace nereid::runtime {

/// Work that any number of threads may join until it is used up.
class SharedWork {
public:
  virtual ~SharedWork();
  /// Takes part until nothing is left; returns at once when nothing is.
  virtual void join() = 0;
  virtual bool isUsedUp() const = 0;
};

/// Processors that this process may run on; at least 1.
uint32_t usableProcessors();

/// Threads of one launch, the calling one included.
uint32_t poolThreads();
/// Zero restores `usableProcessors()`. Waits for running launches.
void setPoolThreads(uint32_t threads);

/// Asks up to `helpers` threads to join the work and returns at once. The pool
/// may be closed just now (a fork is under way elsewhere), and helpers may
/// arrive late or never: the caller must be able to finish alone.
void requestHelp(std::shared_ptr<SharedWork> work, uint32_t helpers);

} // namespace nereid::runtime
