// Emits one elementwise op on scalars or on fixed vectors.
// SPDX-License-Identifier: MIT
//
// Floats of 8 and 16 bits are held as their bits: LLVM lowers conversions of vectors of them to calls. Arithmetic
// widens them to f32 and rounds each result to nearest even.
#pragma once

#include "compiler/lowering/elements/ElementOps.h"
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

/// Rounding to bf16 may leave the builder in another basic block.
class LaneEmitter : public lowering::ElementOps {
public:
  LaneEmitter(llvm::IRBuilder<> &ir, const CpuFeatures &machine, bool canFuse)
      : ElementOps(ir, canFuse), ir(ir), machine(machine), math{machine.hasFma, machine.hasAvx512} {}

  /// The type that holds `lanes` elements; a scalar for one lane.
  llvm::Type *typeOf(mlir::Type element, unsigned lanes);
  /// A scalar as an integer of as many bits.
  llvm::Value *bitsOf(llvm::Value *scalar);
  llvm::Constant *constant(mlir::Attribute value, mlir::Type element, unsigned lanes);
  /// The identity element of a combiner, as a scalar; null where none is known, and for null.
  llvm::Constant *identityOf(mlir::Operation *combiner);

  /// The op's results; empty, after a diagnostic, where the op is not supported.
  llvm::SmallVector<llvm::Value *, 2> emit(mlir::Operation *op, llvm::ArrayRef<llvm::Value *> operands);

  llvm::Value *widen(llvm::Value *bits, mlir::Type element);   ///< bits of small floats to f32; other types unchanged
  llvm::Value *narrow(llvm::Value *value, mlir::Type element); ///< back, rounding to nearest even
  /// Locations of inline assembly, indexed by LLVM's cookie less one.
  std::vector<mlir::Location> asmLocations;

  llvm::Value *convertFloat(llvm::Value *value, mlir::Type from, mlir::Type to, bool towardZero) override;

private:
  llvm::Type *elementType(mlir::Type element) override { return typeOf(element, 1); }
  llvm::Value *addPtr(tt::AddPtrOp op, llvm::ArrayRef<llvm::Value *> in);
  // LanesExtern.cpp
  llvm::Value *externOp(tt::ExternElementwiseOp op, llvm::ArrayRef<llvm::Value *> in);
  llvm::SmallVector<llvm::Value *, 2> inlineAsm(tt::ElementwiseInlineAsmOp op, llvm::ArrayRef<llvm::Value *> in);
  llvm::Value *joinLanes(llvm::ArrayRef<llvm::Value *> elements);
  // LanesFloat.cpp
  bool computesInSingle(mlir::Type element, bool) override { return isSmallFloat(element); }
  llvm::Value *divide(llvm::Value *a, llvm::Value *b) override { return ir.CreateFDiv(a, b); }
  llvm::Value *remainder(llvm::Value *a, llvm::Value *b) override { return ir.CreateFRem(a, b); }
  llvm::Value *extremeNumber(llvm::Value *a, llvm::Value *b, bool isMax) override;
  llvm::Value *mathFunction(mlir::Operation *op, lowering::MathEmitter emit, llvm::Value *x) override;
  llvm::Value *libraryFunction(llvm::Intrinsic::ID id, llvm::ArrayRef<llvm::Value *> in) override;
  // LanesConvert.cpp
  llvm::Value *toSingle(llvm::Value *value, mlir::Type from) override { return widen(value, from); }
  llvm::Value *fromSingle(llvm::Value *single, mlir::Type to) override { return narrow(single, to); }
  llvm::Value *asReal(llvm::Value *value, mlir::Type from) override { return widen(value, from); }
  llvm::Value *intToFloat(llvm::Value *value, mlir::Type to, bool isSigned) override;
  llvm::Value *roundToOdd(llvm::Value *value);
  llvm::Value *roundSingle(llvm::Value *single, mlir::Type to, bool towardZero);
  llvm::Value *roundHalf(llvm::Value *single, bool towardZero);
  llvm::Value *roundBfloat(llvm::Value *single, bool towardZero);
  llvm::Value *roundByInstruction(llvm::ArrayRef<llvm::Value *> parts);
  llvm::Value *unlessDenormal(llvm::ArrayRef<llvm::Value *> parts, llvm::Value *value,
                              llvm::function_ref<llvm::Value *()> otherwise);
  llvm::Value *roundBfloatBits(llvm::Value *single, bool towardZero);

  llvm::IRBuilder<> &ir;
  const CpuFeatures &machine;
  math::HostMath math;
};

} // namespace nereid::cpu
