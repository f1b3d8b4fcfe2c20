// Emits elementwise ops by the table, and the parts that its functions and the targets share.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/elements/ElementOps.h"

#include "compiler/lowering/elements/ElementTable.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::lowering;

static const ElementTable &elementTable() {
  static const ElementTable table = [] {
    ElementTable table;
    addIntegerForms(table);
    addFloatForms(table);
    addConversionForms(table);
    return table;
  }();
  return table;
}

llvm::Type *ElementOps::memoryType(Type element) {
  return element.isInteger(1) ? builder.getInt8Ty() : elementType(element);
}

llvm::Constant *ElementOps::elementConstant(Attribute value, Type element) {
  llvm::Type *type = elementType(element);
  if (auto integer = dyn_cast_or_null<IntegerAttr>(value))
    return llvm::ConstantInt::get(type, integer.getValue().sextOrTrunc(type->getIntegerBitWidth()));
  auto real = dyn_cast_or_null<FloatAttr>(value);
  if (!real)
    return llvm::Constant::getNullValue(type);
  if (type->isIntegerTy())
    return llvm::ConstantInt::get(type, real.getValue().bitcastToAPInt());
  return llvm::ConstantFP::get(type, real.getValue());
}

llvm::Type *ElementOps::like(llvm::Value *value, llvm::Type *element) {
  auto *vector = dyn_cast<llvm::FixedVectorType>(value->getType());
  return vector ? llvm::FixedVectorType::get(element, vector->getNumElements()) : element;
}

llvm::Value *ElementOps::intrinsic(llvm::Intrinsic::ID id, ArrayRef<llvm::Value *> in) {
  return builder.CreateIntrinsic(id, {in.front()->getType()}, in);
}

llvm::Value *ElementOps::fused(llvm::Value *value) {
  if (auto *instruction = dyn_cast<llvm::Instruction>(value); instruction && canFuse)
    instruction->setHasAllowContract(true);
  return value;
}

llvm::Value *ElementOps::highProduct(llvm::Value *a, llvm::Value *b, bool isSigned) {
  const unsigned bits = a->getType()->getScalarSizeInBits();
  llvm::Type *wide = like(a, builder.getIntNTy(2 * bits));
  auto extend = [&](llvm::Value *x) { return isSigned ? builder.CreateSExt(x, wide) : builder.CreateZExt(x, wide); };
  return builder.CreateTrunc(builder.CreateLShr(builder.CreateMul(extend(a), extend(b)), bits), a->getType());
}

llvm::Value *ElementOps::towardZeroBits(llvm::Value *value, llvm::Value *rounded, llvm::Value *bits) {
  llvm::Value *back = intrinsic(llvm::Intrinsic::fabs, {builder.CreateFPExt(rounded, value->getType())});
  llvm::Value *isLarger = builder.CreateFCmpOGT(back, intrinsic(llvm::Intrinsic::fabs, {value}));
  if (!bits)
    bits = builder.CreateBitCast(rounded, like(rounded, builder.getIntNTy(rounded->getType()->getScalarSizeInBits())));
  return builder.CreateSub(bits, builder.CreateZExt(isLarger, bits->getType()));
}

SmallVector<llvm::Value *, 2> ElementOps::emitByTable(Operation *op, ArrayRef<llvm::Value *> in) {
  if (isa<arith::MulUIExtendedOp, arith::MulSIExtendedOp>(op))
    return {builder.CreateMul(in[0], in[1]), highProduct(in[0], in[1], isa<arith::MulSIExtendedOp>(op))};
  const ElementForm *form = elementTable().find(op);
  if (!form)
    return {};
  SmallVector<llvm::Value *, 3> operands(in);
  const bool isFunction = form->operands == OperandForm::Function;
  auto isWidened = [&](Type element) {
    return form->operands != OperandForm::Held && isa<FloatType>(element) && computesInSingle(element, isFunction);
  };
  for (auto [value, operand] : llvm::zip_equal(operands, op->getOperands()))
    if (const Type element = tt::elementOf(operand.getType()); isWidened(element))
      value = toSingle(value, element);
  llvm::Value *result = form->emit(*this, op, operands);
  if (!result)
    return {};
  const Type to = tt::elementOf(op->getResult(0).getType());
  return {isWidened(to) ? fromSingle(result, to) : result};
}
