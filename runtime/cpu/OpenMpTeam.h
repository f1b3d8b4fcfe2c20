// Runs a launch on an OpenMP team that the process already has.
// SPDX-License-Identifier: MIT
//
// A library such as PyTorch has OpenMP threads of its own, which spin for a while after each parallel region. A second
// set of threads would share the processors with that spinning: alternating operations of both took up to twice as long
// as either alone. docs/why/cpu-threads.md
#pragma once

#include <cstdint>

namespace nereid::runtime {

/// Threads that a parallel region of the calling thread would have; 0 where no OpenMP library is loaded, or where this
/// process is a fork of one that ran regions of this runtime: that library's threads then no longer exist.
uint32_t openMpThreads();

/// A thread's part of a region: the user data, the thread's index in the team and the team's size.
using TeamBody = void (*)(void *data, uint32_t index, uint32_t count);

/// Calls `body` on `threads` threads, or fewer where the library starts fewer, the calling one included, and returns
/// when all have returned. Only after openMpThreads() returned at least 1.
void runOnOpenMpTeam(uint32_t threads, TeamBody body, void *data);

} // namespace nereid::runtime
