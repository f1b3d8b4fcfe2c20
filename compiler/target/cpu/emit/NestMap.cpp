// Emits roots that process one element after the other: map_elementwise with control flow, histogram.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/emit/NestEmitter.h"

#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

LogicalResult NestEmitter::emitMap(const Root &root, unsigned level) {
  SmallVector<llvm::Value *> args;
  for (Value operand : root.op->getOperands()) {
    Element element = evaluate(operand, identityMap(nest.shape.size()), level);
    if (!element)
      return failure();
    insertAt(level);
    args.push_back(asVector(element));
  }
  insertAt(level);
  auto results = applyRegion(root.op->getRegion(0).front(), args);
  if (failed(results))
    return failure();
  for (auto [index, value] : llvm::enumerate(*results))
    writeElement({value, nest.lanes > 1}, root.op->getResult(index), root.buffers[index], level);
  return success();
}

/// Clears the bins before the loops.
void NestEmitter::beginHistogram(const Root &root) {
  auto result = cast<RankedTensorType>(root.op->getResult(0).getType());
  llvm::Value *bytes = ir.getInt64(result.getNumElements() * storageBytes(result.getElementType()));
  ir.CreateMemSet(function.buffer(root.buffers.front()), ir.getInt8(0), bytes, llvm::Align(64));
}

LogicalResult NestEmitter::emitHistogram(const Root &root, unsigned level) {
  auto histogram = cast<tt::HistogramOp>(root.op);
  const IndexMap map = identityMap(nest.shape.size());
  Element mask{ir.getTrue(), false};
  if (histogram.getMask())
    mask = evaluate(histogram.getMask(), map, level);
  if (auto *truth = dyn_cast_or_null<llvm::ConstantInt>(mask.value); truth && truth->isZero())
    return success();
  Element bin = mask ? evaluate(histogram.getSrc(), map, level) : Element();
  if (!bin)
    return failure();
  insertAt(level);
  llvm::Value *base = function.buffer(root.buffers.front());
  auto count = [&](llvm::Value *index) {
    llvm::Value *address = ir.CreateGEP(ir.getInt32Ty(), base, index);
    ir.CreateStore(ir.CreateAdd(ir.CreateLoad(ir.getInt32Ty(), address), ir.getInt32(1)), address);
  };
  llvm::Value *index = asVector(bin);
  llvm::Type *wide = ir.getInt64Ty();
  if (nest.lanes > 1)
    wide = llvm::FixedVectorType::get(wide, nest.lanes);
  index = ir.CreateSExt(index, wide);
  llvm::Value *isCounted = ir.CreateICmpULT(index, llvm::ConstantInt::get(wide, tt::shapeOf(histogram.getType())[0]));
  isCounted = ir.CreateAnd(isCounted, asVector(mask));
  if (nest.lanes > 1) {
    llvm::AllocaInst *lanes = function.local(wide);
    ir.CreateStore(index, lanes);
    forEachLane(isCounted, [&](llvm::Value *lane) {
      count(ir.CreateLoad(ir.getInt64Ty(), ir.CreateGEP(ir.getInt64Ty(), lanes, lane)));
    });
    return success();
  }
  llvm::Instruction *anchor = &*ir.GetInsertPoint();
  ir.SetInsertPoint(llvm::SplitBlockAndInsertIfThen(isCounted, anchor->getIterator(), /*Unreachable=*/false));
  restoreLocation();
  count(index);
  ir.SetInsertPoint(anchor);
  restoreLocation();
  return success();
}
