// Asynchronous operations that have been issued and those that wait for them.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/sim/machine/Machine.h"

namespace nereid::sim {

/// Performs the operation now, or when its group is waited for; false after a failure.
bool start(Warp &warp, AsyncGroups &groups, std::function<bool()> perform);
void commit(AsyncGroups &groups);
/// Performs all but the last `pending` groups.
bool waitForGroups(AsyncGroups &groups, size_t pending);
/// Performs every operation, committed or not.
bool waitForAll(AsyncGroups &groups);
AsyncGroups &groupsOf(std::vector<AsyncGroups> &lanes, unsigned lane);
/// Performs the operation now, or when the scheduler completes it; false after a failure.
bool startUnordered(Warp &warp, std::function<bool()> perform);

//--- mbarriers -----------------------------------------------------------------------------

/// Whether the word is an mbarrier; fails if not.
bool expectMbarrier(Warp &warp, const Instruction &instruction, const char *barrier, unsigned lane);

//--- what waits lack -----------------------------------------------------------------------

/// What the mbarrier lacks that an instruction of a warp tests, in brackets; empty where it tests none.
std::string missingAtMbarrier(const Warp &warp, uint32_t lanes, const Instruction &instruction);
/// The threads that have come to the barrier of a CTA or a cluster that an instruction waits at, in brackets, or empty.
std::string missingAtBarrier(const Warp &warp, uint32_t lanes, const Instruction &instruction);

//--- arrivals ------------------------------------------------------------------------------

/// Adds arrivals and bytes to an mbarrier (a word in shared memory); both may complete its phase.
/// `operation`: the asynchronous one that does so, 0: none.
void arriveAt(Warp &warp, const Instruction &instruction, char *barrier, uint32_t arrivals, uint64_t operation = 0);
void expectBytes(Warp &warp, const Instruction &instruction, char *barrier, uint32_t bytes);
void completeBytes(Warp &warp, const Instruction &instruction, char *barrier, uint32_t bytes, uint64_t operation = 0);

} // namespace nereid::sim
