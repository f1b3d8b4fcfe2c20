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

/// Lets dots whose accumulators only the next iteration's dot takes, and which need other dots of their iteration, run
/// beside the next iteration's first dots. Returns the wait in the loop for them; null where no dot is carried so.
ttng::WarpGroupDotWaitOp carryDots(mlir::scf::ForOp loop, llvm::ArrayRef<mlir::Value> multiBuffers,
                                   mlir::RewriterBase &rewriter);

/// Registers of a thread that `registersOfDots` and operands to be kept may take together; the rest is for addresses
/// and operands that are narrowed.
inline constexpr unsigned kMostRegistersOfDots = 224;

/// Registers of the results of a loop's dots, of operands that stay in registers over all iterations, and of vectors
/// that are loaded for this iteration and the next one.
unsigned registersOfDots(mlir::scf::ForOp loop);

/// Whether all products of a dot are accumulated by the tensor core; otherwise, with fp8, in runs that are added by
/// threads as they end.
bool accumulatesInFullPrecision(ttng::WarpGroupDotOp dot);

/// Erases the block's fences that follow no buffer which threads fill.
void eraseIdleFences(mlir::Block &block, mlir::RewriterBase &rewriter);

} // namespace nereid::nvidia
