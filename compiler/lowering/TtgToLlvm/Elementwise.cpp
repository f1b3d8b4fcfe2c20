// Gives types and constants of elements, and dispatches an op to its family's emitter.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/TtgToLlvm/Elementwise.h"

#include "compiler/lowering/ExternForms.h"
#include "compiler/lowering/InlineAsm.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::lowering;

llvm::Type *ElementEmitter::typeOf(Type element) {
  if (auto pointer = dyn_cast<tt::PointerType>(element))
    return ir.getPtrTy(pointer.getAddressSpace());
  if (isa<IndexType>(element))
    return ir.getInt64Ty();
  if (element.isF16())
    return ir.getHalfTy();
  if (element.isBF16())
    return ir.getBFloatTy();
  if (element.isF32())
    return ir.getFloatTy();
  if (element.isF64())
    return ir.getDoubleTy();
  return ir.getIntNTy(element.getIntOrFloatBitWidth());
}

llvm::Type *ElementEmitter::memoryType(Type element) { return element.isInteger(1) ? ir.getInt8Ty() : typeOf(element); }

llvm::Value *ElementEmitter::toMemory(llvm::Value *value) {
  return value->getType()->isIntegerTy(1) ? ir.CreateZExt(value, ir.getInt8Ty()) : value;
}

llvm::Value *ElementEmitter::fromMemory(llvm::Value *value, Type element) {
  return element.isInteger(1) ? ir.CreateTrunc(value, ir.getInt1Ty()) : value;
}

llvm::Constant *ElementEmitter::constant(Attribute value, Type element) {
  llvm::Type *type = typeOf(element);
  if (auto integer = dyn_cast_or_null<IntegerAttr>(value))
    return llvm::ConstantInt::get(type, integer.getValue().sextOrTrunc(type->getIntegerBitWidth()));
  auto real = dyn_cast_or_null<FloatAttr>(value);
  if (!real)
    return llvm::Constant::getNullValue(type);
  if (type->isIntegerTy())
    return llvm::ConstantInt::get(type, real.getValue().bitcastToAPInt());
  return llvm::ConstantFP::get(type, real.getValue());
}

llvm::Value *ElementEmitter::fused(llvm::Value *value) {
  if (auto *instruction = dyn_cast<llvm::Instruction>(value); instruction && canFuse)
    instruction->setHasAllowContract(true);
  return value;
}

llvm::Value *ElementEmitter::intrinsic(llvm::Intrinsic::ID id, ArrayRef<llvm::Value *> in) {
  return ir.CreateIntrinsic(id, {in.front()->getType()}, in);
}

SmallVector<llvm::Value *, 2> ElementEmitter::emit(Operation *op, ArrayRef<llvm::Value *> operands) {
  if (isa<arith::MulUIExtendedOp, arith::MulSIExtendedOp>(op)) {
    const bool isSigned = isa<arith::MulSIExtendedOp>(op);
    return {ir.CreateMul(operands[0], operands[1]), highProduct(operands[0], operands[1], isSigned)};
  }
  if (auto assembly = dyn_cast<tt::ElementwiseInlineAsmOp>(op))
    return inlineAsm(assembly, operands);
  if (auto external = dyn_cast<tt::ExternElementwiseOp>(op))
    return externOp(external, operands);
  if (llvm::Value *result = emitOne(op, operands))
    return {result};
  InFlightDiagnostic error = op->emitError() << "`" << op->getName() << "`";
  if (op->getNumOperands() > 0)
    error << " of " << tt::elementOf(op->getOperand(0).getType());
  error << " is not supported on this target";
  return {};
}

SmallVector<llvm::Value *, 2> ElementEmitter::externOp(tt::ExternElementwiseOp op, ArrayRef<llvm::Value *> in) {
  ExternCall call = {op.getSymbol(), op.getLibpath(), in, typeOf(tt::elementOf(op.getType()))};
  llvm::Value *result = call.libraryPath.empty() ? emitExtern(ir, call.symbol, in, target.mathFeatures()) : nullptr;
  if (!result || result->getType() != call.result)
    result = target.callExtern(ir, call);
  if (!result && call.libraryPath.empty()) {
    call.libraryPath = target.externLibrary(op.getLibname());
    result = call.libraryPath.empty() ? nullptr : target.callExtern(ir, call);
  }
  if (result)
    return {result};
  InFlightDiagnostic error = op.emitError() << "`" << call.symbol << "` is no function of ";
  if (call.libraryPath.empty())
    error << "libdevice with these types; other functions need the path of their library, as `lib_path` or, by its "
             "name, in the option `extern_libs`";
  else
    error << "`" << call.libraryPath << "` with these types, or that is no file of LLVM bitcode";
  return {};
}

SmallVector<llvm::Value *, 2> ElementEmitter::inlineAsm(tt::ElementwiseInlineAsmOp op, ArrayRef<llvm::Value *> in) {
  // The one element fills all packed positions.
  SmallVector<Elements, 4> operands;
  for (llvm::Value *value : in)
    operands.push_back(Elements(op.getPackedElement(), value));
  SmallVector<llvm::Value *, 2> results;
  for (const Elements &result : emitInlineAsm(ir, op, operands, [&](Type type) { return typeOf(type); }, /*cookie=*/0))
    results.push_back(result.front());
  return results;
}

llvm::Value *ElementEmitter::emitOne(Operation *op, ArrayRef<llvm::Value *> in) {
  if (isa<arith::SelectOp>(op))
    return ir.CreateSelect(in[0], in[1], in[2]);
  if (isa<arith::ExtFOp, arith::TruncFOp, arith::SIToFPOp, arith::UIToFPOp, arith::FPToSIOp, arith::FPToUIOp,
          arith::ExtSIOp, arith::ExtUIOp, arith::TruncIOp, arith::BitcastOp, arith::IndexCastOp, arith::IndexCastUIOp>(
          op))
    return conversion(op, in);
  if (op->getNumOperands() == 0)
    return nullptr;
  if (isa<tt::TtDialect>(op->getDialect()))
    return tileOp(op, in);
  const Type element = tt::elementOf(op->getOperand(0).getType());
  if (!isa<FloatType>(element))
    return integerOp(op, in);
  if (in[0]->getType()->isIntegerTy())
    return fp8Op(op, in);
  return isa<::mlir::math::MathDialect>(op->getDialect()) ? mathOp(op, in) : floatOp(op, in);
}

/// fp8 arithmetic is done in f32.
llvm::Value *ElementEmitter::fp8Op(Operation *op, ArrayRef<llvm::Value *> in) {
  const Type element = tt::elementOf(op->getOperand(0).getType());
  SmallVector<llvm::Value *, 3> wide;
  for (llvm::Value *value : in)
    wide.push_back(toSingle(value, element));
  llvm::Value *result = isa<::mlir::math::MathDialect>(op->getDialect()) ? mathOp(op, wide) : floatOp(op, wide);
  const Type to = tt::elementOf(op->getResult(0).getType());
  return result && to == element ? fromSingle(result, to, /*towardZero=*/false) : result;
}

llvm::Value *ElementEmitter::tileOp(Operation *op, ArrayRef<llvm::Value *> in) {
  const Type element = tt::elementOf(op->getResult(0).getType());
  if (auto limits = dyn_cast<tt::ClampFOp>(op))
    return clamp(limits, in);
  if (isa<tt::PreciseSqrtOp>(op))
    return intrinsic(llvm::Intrinsic::sqrt, in);
  if (isa<tt::PreciseDivFOp>(op))
    return ir.CreateFDiv(in[0], in[1]);
  if (isa<tt::MulhiUIOp>(op))
    return highProduct(in[0], in[1], /*isSigned=*/false);
  if (auto convert = dyn_cast<tt::FpToFpOp>(op))
    return convertFloat(tt::elementOf(convert.getSrc().getType()), tt::elementOf(convert.getType()), in[0],
                        convert.getRounding() == tt::RoundingMode::RTZ);
  if (isa<tt::IntToPtrOp>(op))
    return ir.CreateIntToPtr(in[0], typeOf(element));
  if (isa<tt::PtrToIntOp>(op))
    return ir.CreatePtrToInt(in[0], ir.getInt64Ty());
  if (isa<tt::BitcastOp>(op))
    return ir.CreateBitCast(in[0], typeOf(element));
  return nullptr;
}
