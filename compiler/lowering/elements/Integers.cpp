// Integer ops on elements.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/OpForms.h"
#include "compiler/lowering/elements/ElementTable.h"

#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::lowering;

/// An amount of at least the width shifts all bits out.
static llvm::Value *emitShift(ElementOps &ops, Operation *op, Operands in) {
  llvm::IRBuilderBase &ir = ops.builder;
  llvm::Value *a = in[0], *amount = in[1];
  llvm::Type *type = a->getType();
  const unsigned bits = type->getScalarSizeInBits();
  llvm::Value *inRange = ir.CreateICmpULT(amount, llvm::ConstantInt::get(type, bits));
  if (isa<arith::ShRSIOp>(op))
    return ir.CreateAShr(a, ir.CreateSelect(inRange, amount, llvm::ConstantInt::get(type, bits - 1)));
  llvm::Constant *zero = llvm::Constant::getNullValue(type);
  llvm::Value *safe = ir.CreateSelect(inRange, amount, zero);
  llvm::Value *shifted = isa<arith::ShLIOp>(op) ? ir.CreateShl(a, safe) : ir.CreateLShr(a, safe);
  return ir.CreateSelect(inRange, shifted, zero);
}

/// An intrinsic with a flag that would make a result poison; it is unset.
template <llvm::Intrinsic::ID id> static llvm::Value *emitDefined(ElementOps &ops, Operation *, Operands in) {
  return ops.builder.CreateIntrinsic(id, {in[0]->getType()}, {in[0], ops.builder.getFalse()});
}

template <llvm::Instruction::BinaryOps op> static llvm::Value *emitBinary(ElementOps &ops, Operation *, Operands in) {
  return ops.builder.CreateBinOp(op, in[0], in[1]);
}

static llvm::Value *emitDivisionOp(ElementOps &ops, Operation *op, Operands in) {
  return emitDivision(ops.builder, op, in[0], in[1]);
}

void lowering::addIntegerForms(ElementTable &table) {
  constexpr auto held = OperandForm::Held;
  table.add<arith::AddIOp>(held, emitBinary<llvm::Instruction::Add>);
  table.add<arith::SubIOp>(held, emitBinary<llvm::Instruction::Sub>);
  table.add<arith::MulIOp>(held, emitBinary<llvm::Instruction::Mul>);
  table.add<arith::AndIOp>(held, emitBinary<llvm::Instruction::And>);
  table.add<arith::OrIOp>(held, emitBinary<llvm::Instruction::Or>);
  table.add<arith::XOrIOp>(held, emitBinary<llvm::Instruction::Xor>);
  table.add<arith::CmpIOp>(held, [](ElementOps &ops, Operation *op, Operands in) {
    return ops.builder.CreateICmp(predicateOf(cast<arith::CmpIOp>(op).getPredicate()), in[0], in[1]);
  });
  table.add<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(held, emitDivisionOp);
  table.add<arith::ShLIOp, arith::ShRSIOp, arith::ShRUIOp>(held, emitShift);
  table.add<arith::MaxSIOp>(held, emitIntrinsic<llvm::Intrinsic::smax>);
  table.add<arith::MinSIOp>(held, emitIntrinsic<llvm::Intrinsic::smin>);
  table.add<arith::MaxUIOp>(held, emitIntrinsic<llvm::Intrinsic::umax>);
  table.add<arith::MinUIOp>(held, emitIntrinsic<llvm::Intrinsic::umin>);
  table.add<::mlir::math::CtPopOp>(held, emitIntrinsic<llvm::Intrinsic::ctpop>);
  table.add<::mlir::math::AbsIOp>(held, emitDefined<llvm::Intrinsic::abs>);
  table.add<::mlir::math::CountLeadingZerosOp>(held, emitDefined<llvm::Intrinsic::ctlz>);
  table.add<::mlir::math::CountTrailingZerosOp>(held, emitDefined<llvm::Intrinsic::cttz>);
  table.add<tt::MulhiUIOp>(held, [](ElementOps &ops, Operation *, Operands in) {
    return ops.highProduct(in[0], in[1], /*isSigned=*/false);
  });
}
