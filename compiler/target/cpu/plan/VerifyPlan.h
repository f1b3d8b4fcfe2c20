// Verifies a plan, as MLIR's verifier does a module.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/target/cpu/plan/LoopPlan.h"

namespace nereid::cpu {

/// The first broken rule, with the nest or buffer that breaks it; empty for a valid plan. The rules:
///   - A step has what its kind names, and every nest has a root and a number of its own.
///   - The roots of a nest have its shape, and their buffers hold their elements.
///   - Each tile that a nest reads is computable or in a buffer; a buffer is written before it is read.
///   - Only tiles that scf.for carries have two buffers.
/// and as far as the plan's state goes:
///   - The order is a permutation of the dimensions with a loop; a vector's lanes divide its dimension.
///   - Buffers that are live at one time do not overlap in the arena, and lie inside it.
std::string findError(const LoopPlan &plan, AffineInfo &affineInfo);

} // namespace nereid::cpu
