// Types and constants of lanes, and ops that are not in the table of all targets.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/emit/LaneEmitter.h"

#include "compiler/dialect/tt/Dialect.h"
#include "compiler/dialect/tt/NeutralElement.h"
#include "compiler/dialect/tt/Report.h"
#include "compiler/target/cpu/plan/Diagnostics.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

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

llvm::Value *LaneEmitter::bitsOf(llvm::Value *scalar) {
  if (scalar->getType()->isPointerTy())
    return ir.CreatePtrToInt(scalar, ir.getInt64Ty());
  return ir.CreateBitCast(scalar, ir.getIntNTy(scalar->getType()->getScalarSizeInBits()));
}

llvm::Constant *LaneEmitter::constant(Attribute value, Type element, unsigned lanes) {
  llvm::Constant *scalar = elementConstant(value, element);
  return lanes > 1 ? llvm::ConstantVector::getSplat(llvm::ElementCount::getFixed(lanes), scalar) : scalar;
}

llvm::Constant *LaneEmitter::identityOf(Operation *combiner) {
  const TypedAttr neutral = combiner ? tt::neutralElement(combiner) : TypedAttr();
  return neutral ? constant(neutral, neutral.getType(), 1) : nullptr;
}

SmallVector<llvm::Value *, 2> LaneEmitter::emit(Operation *op, ArrayRef<llvm::Value *> operands) {
  if (auto assembly = dyn_cast<tt::ElementwiseInlineAsmOp>(op))
    return inlineAsm(assembly, operands);
  if (auto external = dyn_cast<tt::ExternElementwiseOp>(op)) {
    llvm::Value *result = externOp(external, operands);
    return result ? SmallVector<llvm::Value *, 2>{result} : SmallVector<llvm::Value *, 2>();
  }
  if (auto offset = dyn_cast<tt::AddPtrOp>(op))
    return {addPtr(offset, operands)};
  auto results = emitByTable(op, operands);
  if (results.empty())
    tt::report(op->getLoc(), diag::OpUnsupported, op->getName().stripDialect());
  return results;
}

/// A vector of offsets gives a vector of addresses even with a scalar base.
llvm::Value *LaneEmitter::addPtr(tt::AddPtrOp op, ArrayRef<llvm::Value *> in) {
  llvm::Value *offset = ir.CreateSExt(in[1], like(in[1], ir.getInt64Ty()));
  const uint64_t size = bytesOfPointee(op.getResult());
  offset = ir.CreateMul(offset, llvm::ConstantInt::get(offset->getType(), size));
  return ir.CreatePtrAdd(in[0], offset);
}
