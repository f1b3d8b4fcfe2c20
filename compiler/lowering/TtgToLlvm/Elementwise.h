// Emits one elementwise op on one element of each operand.
// SPDX-License-Identifier: MIT
//
// f16 and bf16 have LLVM's types; fp8 is held as i8. Where the source language leaves a result undefined, no op here
// may trap or be poison.
#pragma once

#include "compiler/lowering/TargetEmitter.h"

namespace nereid::lowering {

class ElementEmitter {
public:
  ElementEmitter(IrBuilder &ir, TargetEmitter &target, bool canFuse) : ir(ir), target(target), canFuse(canFuse) {}

  llvm::Type *typeOf(mlir::Type element);
  /// i1 takes a byte in memory.
  llvm::Type *memoryType(mlir::Type element);
  llvm::Value *toMemory(llvm::Value *value);
  llvm::Value *fromMemory(llvm::Value *value, mlir::Type element);
  /// A null attribute gives zero, the stand-in for undefined values.
  llvm::Constant *constant(mlir::Attribute value, mlir::Type element);

  /// The op's results; empty, after a diagnostic, where the op has no emitter here.
  llvm::SmallVector<llvm::Value *, 2> emit(mlir::Operation *op, llvm::ArrayRef<llvm::Value *> operands);

  /// Converts a number to another type of its family; integers are signed, floats round to nearest.
  llvm::Value *convert(llvm::Value *value, mlir::Type from, mlir::Type to);

private:
  llvm::Value *emitOne(mlir::Operation *op, llvm::ArrayRef<llvm::Value *> in);
  llvm::SmallVector<llvm::Value *, 2> externOp(tt::ExternElementwiseOp op, llvm::ArrayRef<llvm::Value *> in);
  llvm::SmallVector<llvm::Value *, 2> inlineAsm(tt::ElementwiseInlineAsmOp op, llvm::ArrayRef<llvm::Value *> in);
  llvm::Value *fp8Op(mlir::Operation *op, llvm::ArrayRef<llvm::Value *> in);
  llvm::Value *tileOp(mlir::Operation *op, llvm::ArrayRef<llvm::Value *> in);
  // Integers.
  llvm::Value *integerOp(mlir::Operation *op, llvm::ArrayRef<llvm::Value *> in);
  llvm::Value *shift(mlir::Operation *op, llvm::Value *a, llvm::Value *amount);
  llvm::Value *highProduct(llvm::Value *a, llvm::Value *b, bool isSigned);
  // Floats.
  llvm::Value *floatOp(mlir::Operation *op, llvm::ArrayRef<llvm::Value *> in);
  llvm::Value *mathOp(mlir::Operation *op, llvm::ArrayRef<llvm::Value *> in);
  llvm::Value *functionOf(mlir::Operation *op, llvm::Value *x);
  llvm::Value *divide(llvm::Value *a, llvm::Value *b);
  llvm::Value *clamp(tt::ClampFOp op, llvm::ArrayRef<llvm::Value *> in);
  llvm::Value *fused(llvm::Value *value);
  // Conversions.
  llvm::Value *conversion(mlir::Operation *op, llvm::ArrayRef<llvm::Value *> in);
  llvm::Value *convertFloat(mlir::Type from, mlir::Type to, llvm::Value *value, bool towardZero);
  llvm::Value *toSingle(llvm::Value *value, mlir::Type from);
  llvm::Value *fromSingle(llvm::Value *single, mlir::Type to, bool towardZero);
  llvm::Value *narrowDouble(llvm::Value *value, bool towardZero);
  llvm::Value *roundToOdd(llvm::Value *value);
  llvm::Value *towardZeroBits(llvm::Value *value, llvm::Value *rounded);
  llvm::Value *intToFloat(llvm::Value *value, mlir::Type to, bool isSigned);

  llvm::Value *intrinsic(llvm::Intrinsic::ID id, llvm::ArrayRef<llvm::Value *> in);

  IrBuilder &ir;
  TargetEmitter &target;
  bool canFuse;
};

} // namespace nereid::lowering
