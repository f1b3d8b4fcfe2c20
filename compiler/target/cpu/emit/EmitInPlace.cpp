// Makes a dot read its left operand from memory in place, and copies the operand only where a part of it is masked or
// wraps.
// SPDX-License-Identifier: MIT
//
// A dot reads that operand element by element, so its rows may have any stride. The copy is skipped where its masks
// hold everywhere and its remainders do not wrap, which is tested before it. No store comes between the copy and the
// dot.
#include "compiler/target/cpu/emit/KernelEmitter.h"
#include "compiler/target/cpu/plan/Masks.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

/// Whether every element of the tile is read from memory; null where that cannot be tested before the nest.
llvm::Value *KernelEmitter::isWhole(const Nest &nest) {
  auto load = cast<tt::LoadOp>(nest.inPlace);
  if (nest.roots.size() != 1 || plan.bufferOf.contains(load.getResult()) || redirectOf(load))
    return nullptr;
  llvm::Value *whole = holds(nest.assumptions);
  if (!load.getMask())
    return whole;
  ArrayRef<int64_t> shape = tt::shapeOf(load.getType());
  for (Conjunct &part : conjuncts(affineInfo, load.getMask(), identityMap(shape.size()))) {
    if (!part.prefix)
      return nullptr;
    const int64_t extent = shape[part.prefix->dim];
    whole = ir.CreateAnd(whole, ir.CreateICmpEQ(clamped(part.prefix->bound, extent), ir.getInt64(extent)));
  }
  return whole;
}

LogicalResult KernelEmitter::emitUnlessInPlace(Nest &nest, llvm::Value *anyWraps) {
  setLocation(nest.inPlace->getLoc());
  llvm::Value *whole = isWhole(nest);
  if (!whole)
    return emitExactOrNot(nest, anyWraps);
  if (anyWraps)
    whole = ir.CreateAnd(whole, ir.CreateNot(anyWraps));
  auto load = cast<tt::LoadOp>(nest.inPlace);
  const AffineForm form = *affineInfo.assumed(load.getPtr());
  const BufferId copy = nest.roots.front().buffers.front();
  const int64_t size = storageBytes(tt::elementOf(load.getType())), rowBytes = tt::shapeOf(load.getType())[1] * size;
  Redirect source;
  llvm::Value *memory = ir.CreatePtrAdd(scalar(form.pointer), poly(form.base));
  source.base = ir.CreateSelect(whole, memory, buffer(copy));
  source.strides = {ir.CreateSelect(whole, poly(form.strides[0]), ir.getInt64(rowBytes)), ir.getInt64(size)};
  operandSources[copy] = std::move(source);
  llvm::BasicBlock *missing = newBlock("operand"), *after = newBlock("operand.end");
  ir.CreateCondBr(whole, after, missing);
  ir.SetInsertPoint(missing);
  if (failed(emitExactOrNot(nest, anyWraps)))
    return failure();
  ir.CreateBr(after);
  ir.SetInsertPoint(after);
  return success();
}
