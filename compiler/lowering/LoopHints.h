// What a kernel's author asks of LLVM for one loop.
// SPDX-License-Identifier: MIT
#pragma once

namespace llvm {
class Instruction;
}
namespace mlir {
class Operation;
}

namespace nereid::lowering {

/// Attaches `tt.loop_unroll_factor` and the ban on hoisting of `llvm.loop_annotation` to the branch that goes back to
/// the loop's header.
void attachLoopHints(mlir::Operation *loop, llvm::Instruction *latch);

} // namespace nereid::lowering
