// The one place where LLVM's fatal errors are caught, so that the compiler never ends the process.
// SPDX-License-Identifier: MIT
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"

#include <optional>
#include <string>

namespace nereid::support {

/// Runs `work` on a thread of its own with a large stack and waits for it.
/// Where LLVM gives up (report_fatal_error, bad inline assembly, no memory),
/// the thread ends there and the reason is returned. What `work` had made
/// until then is abandoned, never destroyed: its destructors would meet
/// half-finished state. Nothing is returned when `work` came to its end.
std::optional<std::string> runGuarded(llvm::function_ref<void()> work);

} // namespace nereid::support
