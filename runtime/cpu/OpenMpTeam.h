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
/// process is a fork of one in which that library may have had threads: they do not exist here.
uint32_t openMpThreads();

/// The limit of threads that is set in the library, also where it cannot run a team; 0 where there is none. A worker of
/// PyTorch's DataLoader is a fork that limits itself to one thread.
uint32_t openMpLimit();

/// A thread's part of a region: the user data, the thread's index in the team and the team's size.
using TeamBody = void (*)(void *data, uint32_t index, uint32_t count);

/// Calls `body` on `threads` threads, or fewer where the library starts fewer, the calling one included, and returns
/// when all have returned. Only after openMpThreads() returned at least 1.
void runOnOpenMpTeam(uint32_t threads, TeamBody body, void *data);

} // namespace nereid::runtime
