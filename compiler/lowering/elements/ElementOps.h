// Emits elementwise ops as LLVM IR on one element of each operand, or on vectors of elements, for every target.
// SPDX-License-Identifier: MIT
//
// A table maps each op to a function that emits it (Integers.cpp, Floats.cpp, Conversions.cpp). What a target does in
// its own way is a virtual member: the types that hold elements, conversions between floats, and functions for which it
// has instructions. Where the source language leaves a result undefined, no op here may trap or be poison.
#pragma once

#include "compiler/dialect/tt/Dialect.h"
#include "compiler/lowering/OpForms.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Intrinsics.h"

namespace nereid::lowering {

class ElementOps {
public:
  virtual ~ElementOps() = default;

  /// The LLVM type of one element.
  virtual llvm::Type *elementType(mlir::Type element) = 0;
  /// i1 takes a byte in memory.
  llvm::Type *memoryType(mlir::Type element);
  /// A null attribute gives zero, the stand-in for undefined values.
  llvm::Constant *elementConstant(mlir::Attribute value, mlir::Type element);

  /// The op's results; empty where the table lacks the op, or the target the op with these types.
  llvm::SmallVector<llvm::Value *, 2> emitByTable(mlir::Operation *op, llvm::ArrayRef<llvm::Value *> in);

  //--- for the functions of the table ---
  llvm::IRBuilderBase &builder;

  /// The type with `element` in as many lanes as the value has.
  llvm::Type *like(llvm::Value *value, llvm::Type *element);
  llvm::Type *like(llvm::Value *value, mlir::Type element) { return like(value, elementType(element)); }
  llvm::Value *intrinsic(llvm::Intrinsic::ID id, llvm::ArrayRef<llvm::Value *> in);
  /// Lets LLVM fuse the operation with another where the options allow that.
  llvm::Value *fused(llvm::Value *value);
  /// The upper half of the bits of a * b.
  virtual llvm::Value *highProduct(llvm::Value *a, llvm::Value *b, bool isSigned);
  /// The bits of `rounded`, the float nearest to `value`, moved one step towards zero where its magnitude is greater.
  /// Null `bits` are taken from `rounded`.
  llvm::Value *towardZeroBits(llvm::Value *value, llvm::Value *rounded, llvm::Value *bits = nullptr);

  //--- for the table: what the target does in its own way ---
  /// Whether an op on such elements is computed in f32; `isFunction`: a division or an elementary function.
  virtual bool computesInSingle(mlir::Type element, bool isFunction) = 0;
  virtual llvm::Value *toSingle(llvm::Value *value, mlir::Type from) = 0;
  /// Rounds to nearest even.
  virtual llvm::Value *fromSingle(llvm::Value *single, mlir::Type to) = 0;
  virtual llvm::Value *convertFloat(llvm::Value *value, mlir::Type from, mlir::Type to, bool towardZero) = 0;
  virtual llvm::Value *intToFloat(llvm::Value *value, mlir::Type to, bool isSigned) = 0;
  /// The float in one of LLVM's types, to be converted to an integer; null: there is no such conversion.
  virtual llvm::Value *asReal(llvm::Value *value, mlir::Type from) = 0;
  virtual llvm::Value *divide(llvm::Value *a, llvm::Value *b) = 0;
  virtual llvm::Value *remainder(llvm::Value *a, llvm::Value *b) = 0;
  /// `x` limited to [-limit, limit], by one instruction; null: the target has none. Of NaN, NaN where `keepsNan`.
  virtual llvm::Value *clampMagnitude(llvm::Value *x, llvm::Value *limit, bool keepsNan) { return nullptr; }
  /// The greater (smaller) of two, a number before NaN.
  virtual llvm::Value *extremeNumber(llvm::Value *a, llvm::Value *b, bool isMax) = 0;
  /// An elementary function that `emit` has inline code for.
  virtual llvm::Value *mathFunction(mlir::Operation *op, MathEmitter emit, llvm::Value *x) = 0;
  /// A function that only a library has; null: the target has none.
  virtual llvm::Value *libraryFunction(llvm::Intrinsic::ID id, llvm::ArrayRef<llvm::Value *> in) = 0;

protected:
  ElementOps(llvm::IRBuilderBase &builder, bool canFuse) : builder(builder), canFuse(canFuse) {}

private:
  bool canFuse;
};

} // namespace nereid::lowering
