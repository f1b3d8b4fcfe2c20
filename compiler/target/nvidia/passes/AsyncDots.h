// Lets warp-group dots overlap with the threads of a loop.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/target/nvidia/dialect/Dialect.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/PatternMatch.h"

namespace nereid::nvidia {

/// Makes dots asynchronous whose accumulators only the next iteration's dot takes and whose operands lie in
/// `multiBuffers` or outside the loop. Returns the wait in the loop, which ends the dots of the iteration before:
/// buffers that these read may be overwritten after it and a barrier. A wait after the loop ends the last dots. Null
/// where there are no such dots.
ttng::WarpGroupDotWaitOp makeDotsAsync(mlir::scf::ForOp loop, llvm::ArrayRef<mlir::Value> multiBuffers,
                                       mlir::RewriterBase &rewriter);

/// Whether all products of a dot are accumulated by the tensor core; otherwise, with fp8, in runs that are added by
/// threads as they end.
bool accumulatesInFullPrecision(ttng::WarpGroupDotOp dot);

/// Erases the block's fences that follow no buffer which threads fill.
void eraseIdleFences(mlir::Block &block, mlir::RewriterBase &rewriter);

} // namespace nereid::nvidia
