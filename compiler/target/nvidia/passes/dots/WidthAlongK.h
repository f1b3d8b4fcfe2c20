// Chooses how many adjacent elements along K a lane holds of the operands of a warp's dot.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/tt/Dialect.h"

namespace nereid::nvidia {

/// At least what a register of the instruction holds; the same for both operands.
unsigned widthAlongK(tt::DotOp dot);

} // namespace nereid::nvidia
