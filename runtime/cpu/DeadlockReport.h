// Says which programs of a launch wait for what none of them does.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/cpu/ProgramRange.h"

#include <span>

namespace nereid::runtime {

struct WaitSite;

/// A program that has started and waits.
struct WaitingProgram {
  uint64_t id = 0;
  const WaitSite *site = nullptr;
};

/// Reports the failure `launch-deadlock`: `waiting` are all programs that have started and not ended, `notStarted`
/// others have not started, as at most `residents` run at a time.
void reportDeadlock(const Programs &programs, std::span<const WaitingProgram> waiting, uint64_t notStarted,
                    size_t residents);

} // namespace nereid::runtime
