// The one place where LLVM's fatal errors are caught, so that the compiler never ends the process.
// SPDX-License-Identifier: MIT
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"

#include <chrono>
#include <functional>
#include <optional>
#include <string>

namespace nereid::support {

/// Runs `work` on a thread of its own with a large stack and waits for it.
/// Where LLVM gives up (report_fatal_error, bad inline assembly, no memory),
/// the thread ends there and the reason is returned. What `work` had made
/// until then is abandoned, never destroyed: its destructors would meet
/// half-finished state. Nothing is returned when `work` came to its end.
///
/// Guarded work may guard a part of itself, so that what lies around that part
/// (a lock, a thread to join) is left in order. Forks wait for guarded work.
std::optional<std::string> runGuarded(llvm::function_ref<void()> work);

/// How work ended that could be given up.
struct GuardedEnd {
  bool isCancelled = false; ///< it may still be running, on what `work` owns
  bool isTimedOut = false;  ///< abandoned since it passed a `TimeLimit`
  std::optional<std::string> failure;
};

/// The same; `isCancelRequested` is asked every few hundredths of a second. Once it says so the work is given up: this
/// returns at once, and the work ends when it next comes by `exitIfCancelled`. It may refer to nothing that its
/// caller owns; `work` itself, with what it captured, lives as long as the work does.
GuardedEnd runGuarded(std::function<void()> work, llvm::function_ref<bool()> isCancelRequested);

/// Whether this thread's guarded work was given up.
bool isCancelled();

/// As long as it lives, guarded work whose caller may give it up is given up after that time; 0 is no limit. For calls
/// of libraries that nothing else can end.
class TimeLimit {
public:
  explicit TimeLimit(std::chrono::seconds limit);
  TimeLimit(const TimeLimit &) = delete;
  TimeLimit &operator=(const TimeLimit &) = delete;
  ~TimeLimit();
};

/// Ends guarded work that was given up; for places where no lock is held.
void exitIfCancelled();

/// Waits until work that was given up has ended, so that a process may end; false where the time was too short.
bool waitForCancelled(std::chrono::milliseconds limit);

} // namespace nereid::support
