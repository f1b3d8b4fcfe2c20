// Emits scf loops and branches: one phi per carried scalar; carried tiles stay in their buffers.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/target/cpu/emit/EmitContext.h"

#include <functional>

namespace nereid::cpu {

class ControlEmitter {
public:
  /// Emits the steps of a region at the insert point.
  using EmitSequence = std::function<mlir::LogicalResult(const Sequence &)>;

  ControlEmitter(EmitContext &context, EmitSequence emitSequence)
      : context(context), ir(context.ir), emitSequence(std::move(emitSequence)) {}

  mlir::LogicalResult emit(const Step &step);
  /// Emits a basic block of scalars with control flow at the insert point; returns the operands of its terminator.
  mlir::FailureOr<llvm::SmallVector<llvm::Value *>> emitScalarBlock(mlir::Block &block);

private:
  mlir::LogicalResult emitFor(const Step &step);
  mlir::LogicalResult emitWhile(const Step &step);
  mlir::LogicalResult emitIf(const Step &step);
  mlir::LogicalResult emitSwitch(const Step &step);
  llvm::SmallVector<llvm::Value *> scalarsOf(mlir::ValueRange values);
  llvm::SmallVector<llvm::Value *> yielded(mlir::Operation *terminator);

  EmitContext &context;
  llvm::IRBuilder<> &ir;
  EmitSequence emitSequence;
};

} // namespace nereid::cpu
