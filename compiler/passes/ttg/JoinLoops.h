// Makes one loop of two that follow each other and differ in a part of their bodies.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/index/AxisInfo.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

namespace nereid::ttg {

/// Joins two loops to one over the iterations of both; null, with nothing changed, where that cannot be. The second
/// loop must begin where the first one ends, with the values that the first one leaves. What stands in both bodies
/// stands once; a branch has the rest, which must have no effects. An iteration computes what it computed before.
/// `accepts` is called with the new loop while the old ones are still there, and may refuse it.
mlir::scf::ForOp joinLoops(mlir::scf::ForOp first, mlir::scf::ForOp second, const index::AxisInfoAnalysis &axisInfo,
                           mlir::RewriterBase &rewriter, llvm::function_ref<bool(mlir::scf::ForOp)> accepts);

} // namespace nereid::ttg
