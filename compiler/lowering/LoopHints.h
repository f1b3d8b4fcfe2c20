// Attaches the hints that a kernel gives for a loop to its LLVM branch.
// SPDX-License-Identifier: MIT
#pragma once

namespace llvm {
class Instruction;
}
namespace mlir {
class Operation;
}

namespace nereid::lowering {

/// Attaches `tt.loop_unroll_factor` and the no-hoisting hint of `llvm.loop_annotation` to the branch back to the loop's
/// header.
void attachLoopHints(mlir::Operation *loop, llvm::Instruction *latch);

} // namespace nereid::lowering
