// Products by warp groups that go on while the threads of a loop do.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/ttng/Dialect.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

namespace nereid::ttg {

/// Lets products run whose sums only the next turn's product takes and whose matrices lie in `multiBuffers` or outside
/// the loop. The wait of a turn, which is returned, ends those of the turn before: what these read may be overwritten
/// behind it and a barrier. Behind the loop a wait ends the last ones. Null where there are no such products.
ttng::WarpGroupDotWaitOp makeDotsAsync(mlir::scf::ForOp loop, llvm::ArrayRef<mlir::Value> multiBuffers,
                                       mlir::RewriterBase &rewriter);

} // namespace nereid::ttg
