// What ops of arith and math are in LLVM IR, on every target.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/math/Fp8.h"
#include "compiler/math/Math.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Intrinsics.h"

namespace nereid::lowering {

llvm::CmpInst::Predicate predicateOf(mlir::arith::CmpIPredicate predicate);
llvm::CmpInst::Predicate predicateOf(mlir::arith::CmpFPredicate predicate);

using MathEmitter = llvm::Value *(*)(llvm::IRBuilderBase &, llvm::Value *, const nereid::math::HostMath &);

/// arith's integer division or remainder, on scalars or vectors. What would trap, a division by zero or of the least
/// number by -1, is one by 1.
llvm::Value *emitDivision(llvm::IRBuilderBase &ir, mlir::Operation *op, llvm::Value *a, llvm::Value *b);

/// A 64-bit integer that f64 holds and that rounds to f32 and narrower floats as the given one does: what f64 has no
/// bits for is rounded to odd. Of narrower integers, which f64 holds, the same.
llvm::Value *roundToDouble(llvm::IRBuilderBase &ir, llvm::Value *integer, bool isSigned);

/// The inline code of an elementary function; null where an op has none.
MathEmitter mathEmitterOf(mlir::Operation *op);

/// How a float type of 8 bits is laid out.
nereid::math::Fp8Format fp8FormatOf(mlir::Type type);

/// The intrinsic that every target has instructions for; none for other ops.
llvm::Intrinsic::ID mathIntrinsicOf(mlir::Operation *op);

} // namespace nereid::lowering
