// Float arithmetic and elementary functions on elements.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/OpForms.h"
#include "compiler/lowering/elements/ElementTable.h"
#include "compiler/math/Math.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::lowering;

template <MathEmitter emit> static llvm::Value *emitFunction(ElementOps &ops, Operation *op, Operands in) {
  return ops.mathFunction(op, emit, in[0]);
}

template <llvm::Intrinsic::ID id> static llvm::Value *emitLibraryFunction(ElementOps &ops, Operation *, Operands in) {
  return ops.libraryFunction(id, in);
}

/// Whether the constants are -limit and limit, of a limit that is not negative.
static bool areOpposite(llvm::Value *low, llvm::Value *high) {
  auto *least = dyn_cast<llvm::ConstantFP>(low), *greatest = dyn_cast<llvm::ConstantFP>(high);
  return least && greatest && !greatest->getValueAPF().isNegative() &&
         least->getValueAPF().bitwiseIsEqual(llvm::neg(greatest->getValueAPF()));
}

static llvm::Value *emitClamp(ElementOps &ops, Operation *op, Operands in) {
  const bool keepsNan = cast<tt::ClampFOp>(op).getPropagateNan() == tt::PropagateNan::ALL;
  if (llvm::Value *clamped = areOpposite(in[1], in[2]) ? ops.clampMagnitude(in[0], in[2], keepsNan) : nullptr)
    return clamped;
  llvm::Value *low = ops.intrinsic(keepsNan ? llvm::Intrinsic::maximum : llvm::Intrinsic::maxnum, {in[0], in[1]});
  return ops.intrinsic(keepsNan ? llvm::Intrinsic::minimum : llvm::Intrinsic::minnum, {low, in[2]});
}

static void addArithmetic(ElementTable &table) {
  constexpr auto floats = OperandForm::Float, functions = OperandForm::Function;
  table.add<arith::AddFOp>(floats, [](ElementOps &ops, Operation *, Operands in) {
    return ops.fused(ops.builder.CreateFAdd(in[0], in[1]));
  });
  table.add<arith::SubFOp>(floats, [](ElementOps &ops, Operation *, Operands in) {
    return ops.fused(ops.builder.CreateFSub(in[0], in[1]));
  });
  table.add<arith::MulFOp>(floats, [](ElementOps &ops, Operation *, Operands in) {
    return ops.fused(ops.builder.CreateFMul(in[0], in[1]));
  });
  table.add<arith::NegFOp>(floats,
                           [](ElementOps &ops, Operation *, Operands in) { return ops.builder.CreateFNeg(in[0]); });
  table.add<arith::CmpFOp>(floats, [](ElementOps &ops, Operation *op, Operands in) {
    return ops.builder.CreateFCmp(predicateOf(cast<arith::CmpFOp>(op).getPredicate()), in[0], in[1]);
  });
  table.add<arith::MaxNumFOp>(floats, [](ElementOps &ops, Operation *, Operands in) {
    return ops.extremeNumber(in[0], in[1], /*isMax=*/true);
  });
  table.add<arith::MinNumFOp>(floats, [](ElementOps &ops, Operation *, Operands in) {
    return ops.extremeNumber(in[0], in[1], /*isMax=*/false);
  });
  table.add<arith::MaximumFOp>(floats, emitIntrinsic<llvm::Intrinsic::maximum>);
  table.add<arith::MinimumFOp>(floats, emitIntrinsic<llvm::Intrinsic::minimum>);
  table.add<tt::ClampFOp>(floats, emitClamp);
  table.add<tt::PreciseSqrtOp>(floats, emitIntrinsic<llvm::Intrinsic::sqrt>);
  table.add<tt::PreciseDivFOp>(
      floats, [](ElementOps &ops, Operation *, Operands in) { return ops.builder.CreateFDiv(in[0], in[1]); });
  table.add<arith::DivFOp>(functions,
                           [](ElementOps &ops, Operation *, Operands in) { return ops.divide(in[0], in[1]); });
  table.add<arith::RemFOp>(functions,
                           [](ElementOps &ops, Operation *, Operands in) { return ops.remainder(in[0], in[1]); });
}

/// Functions for which every target has instructions.
static void addInstructions(ElementTable &table) {
  constexpr auto floats = OperandForm::Float;
  table.add<::mlir::math::AbsFOp>(floats, emitIntrinsic<llvm::Intrinsic::fabs>);
  table.add<::mlir::math::FloorOp>(floats, emitIntrinsic<llvm::Intrinsic::floor>);
  table.add<::mlir::math::CeilOp>(floats, emitIntrinsic<llvm::Intrinsic::ceil>);
  table.add<::mlir::math::TruncOp>(floats, emitIntrinsic<llvm::Intrinsic::trunc>);
  table.add<::mlir::math::RoundOp>(floats, emitIntrinsic<llvm::Intrinsic::round>);
  table.add<::mlir::math::RoundEvenOp>(floats, emitIntrinsic<llvm::Intrinsic::roundeven>);
  table.add<::mlir::math::CopySignOp>(floats, emitIntrinsic<llvm::Intrinsic::copysign>);
  table.add<::mlir::math::FmaOp>(floats, emitIntrinsic<llvm::Intrinsic::fma>);
}

void lowering::addFloatForms(ElementTable &table) {
  constexpr auto functions = OperandForm::Function;
  addArithmetic(table);
  addInstructions(table);
  table.add<::mlir::math::ExpOp>(functions, emitFunction<nereid::math::emitExp>);
  table.add<::mlir::math::Exp2Op>(functions, emitFunction<nereid::math::emitExp2>);
  table.add<::mlir::math::ExpM1Op>(functions, emitFunction<nereid::math::emitExpm1>);
  table.add<::mlir::math::LogOp>(functions, emitFunction<nereid::math::emitLog>);
  table.add<::mlir::math::Log2Op>(functions, emitFunction<nereid::math::emitLog2>);
  table.add<::mlir::math::Log1pOp>(functions, emitFunction<nereid::math::emitLog1p>);
  table.add<::mlir::math::SinOp>(functions, emitFunction<nereid::math::emitSin>);
  table.add<::mlir::math::CosOp>(functions, emitFunction<nereid::math::emitCos>);
  table.add<::mlir::math::ErfOp>(functions, emitFunction<nereid::math::emitErf>);
  table.add<::mlir::math::TanhOp>(functions, emitFunction<nereid::math::emitTanh>);
  table.add<::mlir::math::SqrtOp>(functions, emitFunction<nereid::math::emitSqrt>);
  table.add<::mlir::math::RsqrtOp>(functions, emitFunction<nereid::math::emitRsqrt>);
  table.add<::mlir::math::PowFOp>(functions, emitLibraryFunction<llvm::Intrinsic::pow>);
  table.add<::mlir::math::Log10Op>(functions, emitLibraryFunction<llvm::Intrinsic::log10>);
  table.add<::mlir::math::TanOp>(functions, emitLibraryFunction<llvm::Intrinsic::tan>);
}
