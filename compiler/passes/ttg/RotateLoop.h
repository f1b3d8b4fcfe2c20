// Declares the rotation of a loop: the first stage of each iteration runs at the end of the one before.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/passes/ttg/LoopSchedule.h"

#include "mlir/IR/IRMapping.h"

namespace nereid::ttg {

/// The ops that hold the parts of a rotated loop.
struct RotatedLoop {
  mlir::scf::IfOp guard;   ///< everything, for the case that there is an iteration
  mlir::scf::WhileOp loop; ///< it exits between its regions
};

/// Builds the loop anew: stage 0 of the first iteration, then a loop whose iterations run the entries of stage 1 that
/// come before `exit`, exit where no further iteration follows, and run the entries from `exit` on, those of stage 0
/// for the next iteration. The entries of stage 1 from `exit` on follow the loop once more, for the last iteration;
/// then `finish` is called, which may add ops there and map values of the loop's body anew. Nothing runs for an
/// iteration that does not exist. Stage 0 depends on nothing that comes after `exit`.
RotatedLoop rotateLoop(mlir::scf::ForOp loop, const LoopSchedule &schedule, size_t exit, mlir::RewriterBase &rewriter,
                       llvm::function_ref<void(mlir::IRMapping &)> finish);

} // namespace nereid::ttg
