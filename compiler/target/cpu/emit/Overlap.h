// Copies a load's tile where a later store overlaps it, and makes the later reads use the copy.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/target/cpu/emit/EmitContext.h"

namespace nereid::cpu {

/// Emits the step's test and, under its result, its copy.
mlir::LogicalResult emitGuard(EmitContext &context, const Step &step);

} // namespace nereid::cpu
