// Launches of kernels whose programs may wait for any others: as many run at a time as have to.
// SPDX-License-Identifier: MIT
//
// A thread runs one program after the other. A program that waits says so at each iteration of its loop; where it waits
// for long, its thread starts another program on a stack of its own, or goes on with one that waits. So a program may
// wait for any other one. docs/why/waiting-programs.md
#pragma once

#include "runtime/cpu/Schedule.h"

namespace nereid::runtime {

struct WaitSite;

/// Runs all programs, or the only one, each once, and returns when the last has ended. Where no program can go on, the
/// failure of the launch says which ones wait.
LaunchEnd runWaiting(const Programs &programs, CostEstimate &cost);

/// The host call of a program that waits; see HostCalls::wait.
bool waitForOthers(const WaitSite *site, uint32_t isFirst);

/// The host call of a program that has arrived at an atomic operation; see HostCalls::arrive.
void startOthers();

/// How long all programs of a launch may wait until the launch fails; zero: for ever.
void setWaitLimit(double seconds);

} // namespace nereid::runtime
