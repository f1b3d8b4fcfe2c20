// Hands the partitions of `warp_specialize` ops to warps that wait for them from a kernel's start.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/ttg/Dialect.h"
#include "compiler/lowering/TtgToLlvm/TargetEmitter.h"

namespace nereid::lowering {

/// One op and what its partitions take from outside: values that no constant and no argument of the kernel gives.
struct DispatchedOp {
  ttg::WarpSpecializeOp op;
  llvm::SmallVector<mlir::Value> passed;
};

/// The state of a kernel whose default warps start the partitions of others.
struct WarpDispatch {
  llvm::BasicBlock *workers = nullptr; ///< entered by the warps of partitions
  llvm::SmallVector<DispatchedOp> ops; ///< numbered from 1; 0 ends the kernel
};

/// Whether the kernel has such ops.
bool dispatchesWarps(tt::FuncOp function);
/// Branches from the kernel's entry to the code of the default warps, where `entry` goes on, and that of the others.
void beginDispatch(TtgFunctionEmitter &emitter, IrBuilder &entry);
/// Emits an op in the default warps' code.
mlir::LogicalResult emitDispatched(TtgFunctionEmitter &emitter, ttg::WarpSpecializeOp op);
/// Ends the other warps.
void stopWorkers(TtgFunctionEmitter &emitter);
/// Emits their code.
mlir::LogicalResult emitWorkers(TtgFunctionEmitter &emitter);

} // namespace nereid::lowering
