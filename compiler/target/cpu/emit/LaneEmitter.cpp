// Types and constants of lanes, and the dispatch to the function that emits each kind of op.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/emit/LaneEmitter.h"

#include "compiler/analysis/NeutralElement.h"
#include "compiler/dialect/tt/Dialect.h"
#include "compiler/dialect/tt/Report.h"
#include "compiler/target/cpu/prepare/Diagnostics.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

llvm::Type *LaneEmitter::memoryType(Type element) {
  if (element.isInteger(1))
    return ir.getInt8Ty();
  return typeOf(element, 1);
}

llvm::Type *LaneEmitter::typeOf(Type element, unsigned lanes) {
  llvm::Type *scalar;
  if (isa<tt::PointerType>(element))
    scalar = ir.getPtrTy();
  else if (isa<IndexType>(element))
    scalar = ir.getInt64Ty();
  else if (element.isF32())
    scalar = ir.getFloatTy();
  else if (element.isF64())
    scalar = ir.getDoubleTy();
  else
    scalar = ir.getIntNTy(element.getIntOrFloatBitWidth());
  return lanes > 1 ? llvm::FixedVectorType::get(scalar, lanes) : scalar;
}

llvm::Constant *LaneEmitter::constant(Attribute value, Type element, unsigned lanes) {
  llvm::Type *type = typeOf(element, 1);
  llvm::Constant *scalar = llvm::Constant::getNullValue(type); // zero stands for poison
  if (auto integer = dyn_cast_or_null<IntegerAttr>(value))
    scalar =
        llvm::ConstantInt::get(type, isa<IndexType>(element) ? integer.getValue().sextOrTrunc(64) : integer.getValue());
  else if (auto real = dyn_cast_or_null<FloatAttr>(value))
    scalar = type->isIntegerTy() ? llvm::ConstantInt::get(type, real.getValue().bitcastToAPInt())
                                 : llvm::ConstantFP::get(type, real.getValue());
  return lanes > 1 ? llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(lanes), scalar) : scalar;
}

llvm::Constant *LaneEmitter::identityOf(Operation *combiner) {
  const TypedAttr neutral = combiner ? analysis::neutralElement(combiner) : TypedAttr();
  return neutral ? constant(neutral, neutral.getType(), 1) : nullptr;
}

llvm::Type *LaneEmitter::like(llvm::Value *value, llvm::Type *element) {
  auto *vector = dyn_cast<llvm::FixedVectorType>(value->getType());
  return vector ? llvm::FixedVectorType::get(element, vector->getNumElements()) : element;
}

llvm::Value *LaneEmitter::fused(llvm::Value *value) {
  if (auto *instruction = dyn_cast<llvm::Instruction>(value); instruction && canFuse)
    instruction->setHasAllowContract(true);
  return value;
}

llvm::Value *LaneEmitter::intrinsic(llvm::Intrinsic::ID id, ArrayRef<llvm::Value *> in) {
  return ir.CreateIntrinsic(id, {in.front()->getType()}, in);
}

SmallVector<llvm::Value *, 2> LaneEmitter::emit(Operation *op, ArrayRef<llvm::Value *> operands) {
  if (isa<arith::MulUIExtendedOp, arith::MulSIExtendedOp>(op)) {
    const bool isSigned = isa<arith::MulSIExtendedOp>(op);
    return {ir.CreateMul(operands[0], operands[1]), highProduct(operands[0], operands[1], isSigned)};
  }
  if (auto assembly = dyn_cast<tt::ElementwiseInlineAsmOp>(op))
    return inlineAsm(assembly, operands);
  auto external = dyn_cast<tt::ExternElementwiseOp>(op);
  llvm::Value *result = external ? externOp(external, operands) : emitOne(op, operands);
  if (result)
    return {result};
  if (external)
    return {};
  tt::report(op->getLoc(), diag::OpUnsupported, op->getName().stripDialect());
  return {};
}

llvm::Value *LaneEmitter::emitOne(Operation *op, ArrayRef<llvm::Value *> in) {
  if (auto select = dyn_cast<arith::SelectOp>(op))
    return ir.CreateSelect(in[0], in[1], in[2]);
  if (isa<arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp, arith::UIToFPOp, arith::FPToSIOp, arith::FPToUIOp,
          arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, arith::BitcastOp, arith::IndexCastOp, arith::IndexCastUIOp>(
          op))
    return conversion(op, in);
  if (isa<tt::TtDialect>(op->getDialect()))
    return tileOp(op, in);
  Type element = tt::elementOf(op->getNumOperands() ? op->getOperand(0).getType() : op->getResult(0).getType());
  if (!isa<FloatType>(element))
    return integerOp(op, in);

  SmallVector<llvm::Value *, 3> wide;
  for (auto [value, operand] : llvm::zip_equal(in, op->getOperands()))
    wide.push_back(widen(value, tt::elementOf(operand.getType())));
  llvm::Value *result = isa<::mlir::math::MathDialect>(op->getDialect()) ? mathOp(op, wide) : floatOp(op, wide);
  Type resultElement = tt::elementOf(op->getResult(0).getType());
  return result && isSmallFloat(resultElement) ? narrow(result, resultElement) : result;
}

llvm::Value *LaneEmitter::tileOp(Operation *op, ArrayRef<llvm::Value *> in) {
  Type element = tt::elementOf(op->getResult(0).getType());
  Type source = tt::elementOf(op->getOperand(0).getType());
  if (isa<tt::PreciseSqrtOp, tt::PreciseDivFOp, tt::ClampFOp>(op)) {
    SmallVector<llvm::Value *, 3> x;
    for (llvm::Value *value : in)
      x.push_back(widen(value, source));
    llvm::Value *result;
    if (auto clamp = dyn_cast<tt::ClampFOp>(op)) {
      const bool keepsNan = clamp.getPropagateNan() == tt::PropagateNan::ALL;
      x[0] = intrinsic(keepsNan ? llvm::Intrinsic::maximum : llvm::Intrinsic::maxnum, {x[0], x[1]});
      result = intrinsic(keepsNan ? llvm::Intrinsic::minimum : llvm::Intrinsic::minnum, {x[0], x[2]});
    } else {
      result = isa<tt::PreciseSqrtOp>(op) ? intrinsic(llvm::Intrinsic::sqrt, {x[0]}) : ir.CreateFDiv(x[0], x[1]);
    }
    return narrow(result, element);
  }
  if (isa<tt::MulhiUIOp>(op))
    return highProduct(in[0], in[1], /*isSigned=*/false);
  if (auto convert = dyn_cast<tt::FpToFpOp>(op))
    return convertFloat(in[0], source, element, convert.getRounding() == tt::RoundingMode::RTZ);
  if (isa<tt::IntToPtrOp>(op))
    return ir.CreateIntToPtr(in[0], like(in[0], ir.getPtrTy()));
  if (isa<tt::PtrToIntOp>(op))
    return ir.CreatePtrToInt(in[0], like(in[0], ir.getInt64Ty()));
  if (isa<tt::BitcastOp>(op))
    return ir.CreateBitCast(in[0], like(in[0], typeOf(element, 1)));
  if (isa<tt::AddPtrOp>(op)) {
    // A vector of offsets gives a vector of addresses even with a scalar base.
    llvm::Value *offset = ir.CreateSExt(in[1], like(in[1], ir.getInt64Ty()));
    const uint64_t size = storageBytes(cast<tt::PointerType>(element).getPointee());
    offset = ir.CreateMul(offset, llvm::ConstantInt::get(offset->getType(), size));
    return ir.CreatePtrAdd(in[0], offset);
  }
  return nullptr;
}
