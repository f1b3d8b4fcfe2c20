// The threads that help a launch; created at first use, stopped before a fork.
// SPDX-License-Identifier: MIT
//
// A launching thread never becomes a thread of the pool's library: it posts requests for help and works on its own
// programs. So a launch does not wait for a helper that arrives late, and no user thread keeps the library's scheduler
// open when a fork has to close it.
#pragma once

#include <cstdint>
#include <memory>

namespace nereid::runtime {

/// Work that any number of threads may join until none is left.
class SharedWork {
public:
  virtual ~SharedWork();
  /// Takes part until no work is left.
  virtual void join() = 0;
  virtual bool isUsedUp() const = 0;
};

/// Threads of one launch, the calling one included.
uint32_t poolThreads();
/// Zero restores the default: the processors of the thread that launches first, limited by CPU quotas of cgroups and by
/// the request. Waits for running launches.
void setPoolThreads(uint32_t threads);
/// Sets a function that is called when the default is resolved; it returns the user's limit, or zero for none.
void setThreadRequest(uint32_t (*request)());

/// Requests that up to `helpers` threads join the work and returns at once. The pool may be closed at the moment (a
/// fork is under way elsewhere), and helpers may arrive late or never: the caller must be able to finish alone.
void requestHelp(std::shared_ptr<SharedWork> work, uint32_t helpers);

} // namespace nereid::runtime
