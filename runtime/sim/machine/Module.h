// The definition of sim::Module.
// SPDX-License-Identifier: MIT
#pragma once

#include "runtime/sim/machine/Decode.h"

namespace nereid::sim {

class Module {
public:
  ModuleState state;
};

} // namespace nereid::sim
