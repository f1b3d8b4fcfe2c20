// Chooses the layouts of dots that tensor cores compute.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/ttg/TargetInterface.h"

namespace nereid::nvidia {

/// The layout of a dot's result: for wgmma where operands and threads suit it, else for mma; null where there is no
/// instruction for the types.
ttg::LayoutEncoding dotLayout(tt::DotOp dot, const ttg::MmaFeatures &features, ttg::ThreadCounts threads);

/// The layout of operand 0 or 1, given that of the result; null where it goes to shared memory.
ttg::LayoutEncoding operandLayout(tt::DotOp dot, unsigned operand, ttg::LayoutEncoding accumulator);

} // namespace nereid::nvidia
