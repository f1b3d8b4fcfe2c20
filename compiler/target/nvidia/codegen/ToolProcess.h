// Runs a program that ends no later than the waiting thread.
// SPDX-License-Identifier: MIT
#pragma once

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>

namespace nereid::nvidia {

/// A file descriptor of the child: `from` here becomes `to` there.
struct Redirection {
  int from, to;
};

struct ToolEnd {
  enum class Kind : uint8_t {
    Exited,
    Killed, ///< by a signal that was not ours
    NotStarted,
    Late, ///< killed here: at the limit, or cancelled
  };
  Kind kind = Kind::NotStarted;
  int number = 0; ///< the exit status, or the signal
};

/// Runs `arguments` with an empty environment, in a process group of its own. The group is killed at the limit (0:
/// none) and when this thread's work is cancelled; the kernel kills the program when this process ends for any reason.
ToolEnd runTool(llvm::ArrayRef<const char *> arguments, llvm::ArrayRef<Redirection> files, uint32_t secondsLimit);

} // namespace nereid::nvidia
