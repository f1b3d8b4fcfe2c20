// Splits a mask into the conditions that must all hold.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/target/cpu/plan/Affine.h"
#include "compiler/target/cpu/plan/IndexMap.h"

namespace nereid::cpu {

/// One factor of a conjunction.
struct Conjunct {
  mlir::Value value;                ///< the operand of the outermost `and`
  IndexMap map;                     ///< its index map, without dimensions that it does not depend on
  std::optional<PrefixMask> prefix; ///< its prefix form, with `dim` one of the nest's
};

/// The factors of `mask`, evaluated at `map`.
llvm::SmallVector<Conjunct, 4> conjuncts(AffineInfo &affineInfo, mlir::Value mask, const IndexMap &map);

} // namespace nereid::cpu
