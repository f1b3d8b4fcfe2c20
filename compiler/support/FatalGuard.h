// Catches LLVM's fatal errors, so that the compiler never ends the process.
// SPDX-License-Identifier: MIT
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"

#include <chrono>
#include <functional>
#include <optional>
#include <string>

namespace nereid::support {

/// Runs `work` on a thread of its own with a large stack and waits for it. On a fatal error of LLVM
/// (report_fatal_error, bad inline assembly) and where memory is short (MemoryReserve.h) the thread ends there and the
/// reason is returned. Objects that `work` had created are leaked: their destructors would run on half-finished state.
/// Returns nothing when `work` completed.
///
/// Guarded work may guard a part of itself, so that the state around that part (a lock, a thread to join) stays valid.
/// Forks wait for guarded work.
std::optional<std::string> runGuarded(llvm::function_ref<void()> work);

/// The end of work that may be cancelled.
struct GuardedEnd {
  bool isCancelled = false; ///< it may still be running, on what `work` owns
  bool isTimedOut = false;  ///< cancelled since it exceeded a `TimeLimit`
  bool isOutOfMemory = false;
  std::optional<std::string> failure;
};

/// As above, with cancellation: `isCancelRequested` is polled every few hundredths of a second. Once it returns true
/// the work is cancelled: this returns at once, and the work ends at its next call of `exitIfCancelled`. The work must
/// not refer to anything that its caller owns; `work` itself, with its captures, lives until the work ends.
GuardedEnd runGuarded(std::function<void()> work, llvm::function_ref<bool()> isCancelRequested);

/// Whether this thread's guarded work was cancelled.
bool isCancelled();

/// During its lifetime, guarded work that may be cancelled is cancelled after that time; 0 is no limit. For calls of
/// libraries that cannot be ended otherwise.
class TimeLimit {
public:
  explicit TimeLimit(std::chrono::seconds limit);
  TimeLimit(const TimeLimit &) = delete;
  TimeLimit &operator=(const TimeLimit &) = delete;
  ~TimeLimit();
};

/// Ends guarded work that was cancelled, or is short of memory; for points where no lock is held.
void exitIfCancelled();

/// Waits until cancelled work has ended, so that the process may end; false after the time limit.
bool waitForCancelled(std::chrono::milliseconds limit);

} // namespace nereid::support
