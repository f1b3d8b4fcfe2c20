// Emits one elementwise op on scalars or on fixed vectors.
// SPDX-License-Identifier: MIT
//
// Floats of 8 and 16 bits are held as their bits: LLVM lowers conversions of vectors of them to calls. Arithmetic
// widens them to f32 and rounds each result to nearest even.
#pragma once

#include "compiler/math/Math.h"
#include "compiler/target/cpu/plan/LoopPlan.h"

#include "compiler/dialect/tt/Dialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include "llvm/IR/IRBuilder.h"

namespace nereid::cpu {

/// Whether elements of this type are held as their bits and computed with in f32.
inline bool isSmallFloat(mlir::Type type) {
  return mlir::isa<mlir::FloatType>(type) && type.getIntOrFloatBitWidth() <= 16;
}

class LaneEmitter {
public:
  LaneEmitter(llvm::IRBuilder<> &ir, const CpuFeatures &machine, bool canFuse)
      : ir(ir), machine(machine), math{machine.hasFma, machine.hasAvx512}, canFuse(canFuse) {}

  /// The type that holds `lanes` elements; a scalar for one lane.
  llvm::Type *typeOf(mlir::Type element, unsigned lanes);
  /// The type of one element in memory: i1 is a byte.
  llvm::Type *memoryType(mlir::Type element);
  llvm::Constant *constant(mlir::Attribute value, mlir::Type element, unsigned lanes);
  /// The identity element of a combiner, as a scalar; null where none is known, and for null.
  llvm::Constant *identityOf(mlir::Operation *combiner);

  /// The op's results; empty, after a diagnostic, where the op is not supported.
  llvm::SmallVector<llvm::Value *, 2> emit(mlir::Operation *op, llvm::ArrayRef<llvm::Value *> operands);

  llvm::Value *widen(llvm::Value *bits, mlir::Type element);   ///< bits of small floats to f32; other types unchanged
  llvm::Value *narrow(llvm::Value *value, mlir::Type element); ///< back, rounding to nearest even
  /// Locations of inline assembly, indexed by LLVM's cookie less one.
  std::vector<mlir::Location> asmLocations;

  llvm::Value *convertFloat(llvm::Value *value, mlir::Type from, mlir::Type to, bool towardZero);

private:
  llvm::Value *emitOne(mlir::Operation *op, llvm::ArrayRef<llvm::Value *> in);
  llvm::Value *floatOp(mlir::Operation *op, llvm::ArrayRef<llvm::Value *> in);
  llvm::Value *mathOp(mlir::Operation *op, llvm::ArrayRef<llvm::Value *> in);
  llvm::Value *integerOp(mlir::Operation *op, llvm::ArrayRef<llvm::Value *> in);
  llvm::Value *conversion(mlir::Operation *op, llvm::ArrayRef<llvm::Value *> in);
  llvm::Value *tileOp(mlir::Operation *op, llvm::ArrayRef<llvm::Value *> in);
  llvm::Value *externOp(tt::ExternElementwiseOp op, llvm::ArrayRef<llvm::Value *> in);
  llvm::SmallVector<llvm::Value *, 2> inlineAsm(tt::ElementwiseInlineAsmOp op, llvm::ArrayRef<llvm::Value *> in);
  llvm::Value *joinLanes(llvm::ArrayRef<llvm::Value *> elements);
  llvm::Value *shift(mlir::Operation *op, llvm::Value *a, llvm::Value *amount);
  llvm::Value *intToFloat(llvm::Value *value, mlir::Type to, bool isSigned);
  llvm::Value *floatToInt(llvm::Value *value, mlir::Type to, bool isSigned);
  llvm::Value *highProduct(llvm::Value *a, llvm::Value *b, bool isSigned);
  llvm::Value *fused(llvm::Value *value);
  llvm::Value *extremeNumber(llvm::Value *a, llvm::Value *b, bool isMax);
  llvm::Value *truncateDouble(llvm::Value *value);
  llvm::Value *roundSingle(llvm::Value *single, mlir::Type to, bool towardZero);
  llvm::Value *roundHalf(llvm::Value *single, bool towardZero);
  llvm::Value *roundBfloat(llvm::Value *single, bool towardZero);
  llvm::Type *like(llvm::Value *value, llvm::Type *element);
  llvm::Value *intrinsic(llvm::Intrinsic::ID id, llvm::ArrayRef<llvm::Value *> in);

  llvm::IRBuilder<> &ir;
  const CpuFeatures &machine;
  math::HostMath math;
  bool canFuse;
};

} // namespace nereid::cpu
