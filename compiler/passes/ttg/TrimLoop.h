// Removes what a loop computes and carries for nothing.
// SPDX-License-Identifier: MIT
#pragma once

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

namespace nereid::ttg {

/// The loop without the ops and carried values that neither its effects nor its used results depend on, as addresses of
/// loads that are gone.
mlir::scf::ForOp trimLoop(mlir::scf::ForOp loop, mlir::RewriterBase &rewriter);

} // namespace nereid::ttg
