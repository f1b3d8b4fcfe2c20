// How many registers a kernel needs, as far as its PTX tells.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/sim/ptx/Ptx.h"

namespace nereid::sim {

/// The most 32-bit registers that are live at once; predicates have registers of their own. Code of called functions
/// is left out. The order of instructions is PTX's; an assembler may choose another.
uint32_t liveRegisters(const Function &function);

} // namespace nereid::sim
