// Conversions between number formats and pointers on elements, and select.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/elements/ElementTable.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::lowering;

static Type sourceOf(Operation *op) { return tt::elementOf(op->getOperand(0).getType()); }

static Type resultOf(Operation *op) { return tt::elementOf(op->getResult(0).getType()); }

static llvm::Value *emitFloatConversion(ElementOps &ops, Operation *op, Operands in) {
  auto rounded = dyn_cast<tt::FpToFpOp>(op);
  return ops.convertFloat(in[0], sourceOf(op), resultOf(op), rounded && rounded.getRounding() == tt::RoundingMode::RTZ);
}

/// Values out of range give an arbitrary value, the same at each use.
template <bool isSigned> static llvm::Value *emitFloatToInt(ElementOps &ops, Operation *op, Operands in) {
  llvm::Value *real = ops.asReal(in[0], sourceOf(op));
  if (!real)
    return nullptr;
  llvm::Type *type = ops.like(real, resultOf(op));
  return ops.builder.CreateFreeze(isSigned ? ops.builder.CreateFPToSI(real, type)
                                           : ops.builder.CreateFPToUI(real, type));
}

template <bool isSigned> static llvm::Value *emitIntToFloat(ElementOps &ops, Operation *op, Operands in) {
  return ops.intToFloat(in[0], resultOf(op), isSigned);
}

template <bool isSigned> static llvm::Value *emitResize(ElementOps &ops, Operation *op, Operands in) {
  llvm::Type *type = ops.like(in[0], resultOf(op));
  return isSigned ? ops.builder.CreateSExtOrTrunc(in[0], type) : ops.builder.CreateZExtOrTrunc(in[0], type);
}

void lowering::addConversionForms(ElementTable &table) {
  constexpr auto held = OperandForm::Held;
  table.add<arith::SelectOp>(
      held, [](ElementOps &ops, Operation *, Operands in) { return ops.builder.CreateSelect(in[0], in[1], in[2]); });
  table.add<arith::ExtFOp, arith::TruncFOp, tt::FpToFpOp>(held, emitFloatConversion);
  table.add<arith::SIToFPOp>(held, emitIntToFloat<true>);
  table.add<arith::UIToFPOp>(held, emitIntToFloat<false>);
  table.add<arith::FPToSIOp>(held, emitFloatToInt<true>);
  table.add<arith::FPToUIOp>(held, emitFloatToInt<false>);
  table.add<arith::ExtSIOp, arith::TruncIOp, arith::IndexCastOp>(held, emitResize<true>);
  table.add<arith::ExtUIOp, arith::IndexCastUIOp>(held, emitResize<false>);
  table.add<arith::BitcastOp, tt::BitcastOp>(held, [](ElementOps &ops, Operation *op, Operands in) {
    return ops.builder.CreateBitCast(in[0], ops.like(in[0], resultOf(op)));
  });
  table.add<tt::IntToPtrOp>(held, [](ElementOps &ops, Operation *op, Operands in) {
    return ops.builder.CreateIntToPtr(in[0], ops.like(in[0], resultOf(op)));
  });
  table.add<tt::PtrToIntOp>(held, [](ElementOps &ops, Operation *, Operands in) {
    return ops.builder.CreatePtrToInt(in[0], ops.like(in[0], ops.builder.getInt64Ty()));
  });
}
