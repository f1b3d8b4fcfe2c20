// Emits one elementwise op on one element of each operand, on a GPU.
// SPDX-License-Identifier: MIT
//
// f16 and bf16 have LLVM's types; fp8 is held as i8.
#pragma once

#include "compiler/lowering/TtgToLlvm/TargetEmitter.h"
#include "compiler/lowering/elements/ElementOps.h"

namespace nereid::lowering {

class ElementEmitter : public ElementOps {
public:
  ElementEmitter(IrBuilder &ir, TargetEmitter &target, bool canFuse)
      : ElementOps(ir, canFuse), ir(ir), target(target) {}

  llvm::Type *typeOf(mlir::Type element);
  llvm::Value *toMemory(llvm::Value *value);
  llvm::Value *fromMemory(llvm::Value *value, mlir::Type element);
  llvm::Constant *constant(mlir::Attribute value, mlir::Type element) { return elementConstant(value, element); }

  /// The op's results; empty, after a diagnostic, where the op has no emitter here.
  llvm::SmallVector<llvm::Value *, 2> emit(mlir::Operation *op, llvm::ArrayRef<llvm::Value *> operands);

  /// Converts a number to another type of its family; integers are signed, floats round to nearest.
  llvm::Value *convert(llvm::Value *value, mlir::Type from, mlir::Type to);

  llvm::Value *highProduct(llvm::Value *a, llvm::Value *b, bool isSigned) override;

private:
  llvm::Type *elementType(mlir::Type element) override { return typeOf(element); }
  llvm::SmallVector<llvm::Value *, 2> externOp(tt::ExternElementwiseOp op, llvm::ArrayRef<llvm::Value *> in);
  llvm::SmallVector<llvm::Value *, 2> inlineAsm(tt::ElementwiseInlineAsmOp op, llvm::ArrayRef<llvm::Value *> in);
  // Math.cpp: floats.
  bool computesInSingle(mlir::Type element, bool isFunction) override;
  llvm::Value *divide(llvm::Value *a, llvm::Value *b) override;
  llvm::Value *remainder(llvm::Value *a, llvm::Value *b) override;
  llvm::Value *clampMagnitude(llvm::Value *x, llvm::Value *limit, bool keepsNan) override {
    return target.clampMagnitude(ir, x, limit, keepsNan);
  }
  llvm::Value *extremeNumber(llvm::Value *a, llvm::Value *b, bool isMax) override;
  llvm::Value *mathFunction(mlir::Operation *op, MathEmitter emit, llvm::Value *x) override;
  llvm::Value *libraryFunction(llvm::Intrinsic::ID, llvm::ArrayRef<llvm::Value *>) override { return nullptr; }
  // NumericConversion.cpp: conversions.
  llvm::Value *convertFloat(llvm::Value *value, mlir::Type from, mlir::Type to, bool towardZero) override;
  llvm::Value *toSingle(llvm::Value *value, mlir::Type from) override;
  llvm::Value *fromSingle(llvm::Value *single, mlir::Type to) override { return roundSingle(single, to, false); }
  llvm::Value *roundSingle(llvm::Value *single, mlir::Type to, bool towardZero);
  llvm::Value *narrowDouble(llvm::Value *value, bool towardZero);
  llvm::Value *roundToOdd(llvm::Value *value);
  llvm::Value *intToFloat(llvm::Value *value, mlir::Type to, bool isSigned) override;
  llvm::Value *asReal(llvm::Value *value, mlir::Type from) override;

  IrBuilder &ir;
  TargetEmitter &target;
};

} // namespace nereid::lowering
