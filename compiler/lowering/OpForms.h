// Emits arith and math ops as LLVM IR, the same on every target.
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

/// The inline code of an elementary function.
using MathEmitter = llvm::Value *(*)(llvm::IRBuilderBase &, llvm::Value *, const nereid::math::HostMath &);

/// Emits arith's integer division or remainder on scalars or vectors. Nothing traps: division by zero divides by 1, the
/// least number by -1 is itself.
llvm::Value *emitDivision(llvm::IRBuilderBase &ir, mlir::Operation *op, llvm::Value *a, llvm::Value *b);

/// Rounds a 64-bit integer to odd, so that f64 holds it and it then rounds to f32 and narrower floats as the given
/// integer does. Returns narrower integers, which f64 holds, unchanged.
llvm::Value *roundToDouble(llvm::IRBuilderBase &ir, llvm::Value *integer, bool isSigned);

/// The bit layout of an fp8 type.
nereid::math::Fp8Format fp8FormatOf(mlir::Type type);

} // namespace nereid::lowering
