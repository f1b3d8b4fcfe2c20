// Runs work on a thread with a large stack where the calling thread's is small.
// SPDX-License-Identifier: MIT
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"

namespace nereid::support {

/// Whether this thread's stack has room for parsers, sema and passes on a text as deeply nested as they accept.
bool hasStackRoom();

/// Runs `work` on this thread, or, where it lacks room, on another one, and waits for it. `work` must not depend on the
/// thread that it runs on. Without room and without another thread, it runs here.
void runWithStackRoom(llvm::function_ref<void()> work);

/// Starts a thread with a large stack, on which signals are blocked. False where there is none to be had.
bool startThread(unsigned long &thread, void *(*run)(void *), void *argument);

} // namespace nereid::support
