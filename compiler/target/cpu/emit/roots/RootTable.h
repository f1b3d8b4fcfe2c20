// The ops that are roots of nests.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/target/cpu/plan/RootTraits.h"

namespace nereid::cpu {

RootTable rootTable();

} // namespace nereid::cpu
