// Runs a launch on the OpenMP team that the process has already, where it has one.
// SPDX-License-Identifier: MIT
//
// A library such as PyTorch brings OpenMP threads of its own, which spin for a
// while after each parallel region. Threads of ours beside them would have to
// share the processors with that spinning: one operation of each kind in turns
// took up to twice as long as either alone. docs/why/cpu-threads.md
#pragma once

#include <cstdint>

namespace nereid::runtime {

/// Threads that a parallel region of the calling thread would have; 0 where no
/// OpenMP library is loaded, or where this process is a fork of one that ran
/// regions of ours: that library's threads are then gone for good.
uint32_t openMpThreads();

/// A thread's part of a region: what was given, the thread's index in the team and the team's size.
using TeamBody = void (*)(void *data, uint32_t index, uint32_t count);

/// Calls `body` on `threads` threads, or fewer where the library gives no more,
/// the calling one included, and returns when all have returned. Only after
/// openMpThreads() gave at least 1.
void runOnOpenMpTeam(uint32_t threads, TeamBody body, void *data);

} // namespace nereid::runtime
