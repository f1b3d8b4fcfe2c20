// The LLVM values of a kernel's scalars, and of polynomials over them.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/target/cpu/emit/LaneEmitter.h"
#include "compiler/target/cpu/plan/Affine.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include "llvm/IR/IRBuilder.h"

namespace nereid::cpu {

/// Computations are emitted at the insert point.
class ScalarValues {
public:
  ScalarValues(llvm::IRBuilder<> &ir, LaneEmitter &lanes, AffineInfo &affineInfo)
      : ir(ir), lanes(lanes), affineInfo(affineInfo) {}

  /// The LLVM value of an emitted scalar or a constant.
  llvm::Value *of(mlir::Value value);
  void define(mlir::Value value, llvm::Value *emitted) { values[value] = emitted; }
  /// The value of a constant; null where it is none.
  llvm::Value *constantOf(mlir::Value value);

  llvm::Value *poly(const Polynomial &poly, unsigned bits = 64);
  /// The address of an affine tile's first element.
  llvm::Value *firstAddress(const AffineForm &form) { return ir.CreatePtrAdd(of(form.base), poly(form.start)); }
  /// Whether the remainders of these assumptions do not wrap.
  llvm::Value *holds(llvm::ArrayRef<unsigned> assumptions);
  /// The value clamped to [0, limit], computed in as many bits as it needs.
  llvm::Value *clamped(const Polynomial &poly, int64_t limit);
  /// Whether an element of an affine tile overflows its type.
  llvm::Value *wraps(mlir::Value side);
  /// Whether the current iteration of the loop is its last one.
  llvm::Value *isLastIteration(mlir::scf::ForOp loop);

private:
  llvm::Value *variableValue(unsigned variable);

  llvm::IRBuilder<> &ir;
  LaneEmitter &lanes;
  AffineInfo &affineInfo;
  llvm::DenseMap<mlir::Value, llvm::Value *> values;
};

} // namespace nereid::cpu
