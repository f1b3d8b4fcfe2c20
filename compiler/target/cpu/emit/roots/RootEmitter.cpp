// Evaluates what roots take, and applies the regions of ops (reduce, scan, map_elementwise) to the elements of a chunk.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/emit/roots/RootEmitter.h"

#include "compiler/target/cpu/emit/ControlEmitter.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

FailureOr<SmallVector<llvm::Value *>> RootEmitter::combine(ArrayRef<llvm::Value *> left,
                                                           ArrayRef<llvm::Value *> right) {
  SmallVector<llvm::Value *> args(left);
  args.append(right.begin(), right.end());
  return applyRegion(args);
}

FailureOr<SmallVector<llvm::Value *>> RootEmitter::applyRegion(ArrayRef<llvm::Value *> args) {
  Block &body = root.op->getRegion(0).front();
  for (auto [argument, value] : llvm::zip_equal(body.getArguments(), args))
    context.scalars.define(argument, value);
  auto *vector = dyn_cast<llvm::FixedVectorType>(args.front()->getType());
  if (!vector) { // scalars may have control flow of their own
    llvm::Instruction *anchor = &*ir.GetInsertPoint();
    llvm::BasicBlock *before = anchor->getParent();
    llvm::BasicBlock *after = before->splitBasicBlock(anchor->getIterator(), "combined");
    before->getTerminator()->eraseFromParent();
    ir.SetInsertPoint(before);
    levels.restoreLocation();
    auto results = context.control.emitScalarBlock(body);
    ir.CreateBr(after);
    ir.SetInsertPoint(anchor);
    levels.restoreLocation();
    return results;
  }
  llvm::DenseMap<Value, llvm::Value *> values;
  for (auto [argument, value] : llvm::zip_equal(body.getArguments(), args))
    values[argument] = value;
  auto lookup = [&](Value value) {
    if (llvm::Value *known = values.lookup(value))
      return known;
    return ir.CreateVectorSplat(vector->getNumElements(), context.scalars.of(value));
  };
  for (Operation &op : body.without_terminator()) {
    if (op.hasTrait<OpTrait::ConstantLike>())
      continue;
    SmallVector<llvm::Value *> operands;
    for (Value operand : op.getOperands())
      operands.push_back(lookup(operand));
    auto results = context.lanes.emit(&op, operands);
    if (results.empty())
      return failure();
    for (auto [result, emitted] : llvm::zip_equal(op.getResults(), results))
      values[result] = emitted;
  }
  SmallVector<llvm::Value *> results;
  for (Value operand : body.getTerminator()->getOperands())
    results.push_back(lookup(operand));
  return results;
}

FailureOr<SmallVector<llvm::Value *>> RootEmitter::evaluateOperands(unsigned level) {
  SmallVector<llvm::Value *> values;
  for (Value operand : root.op->getOperands()) {
    Element element = evaluate(operand, level);
    if (!element)
      return failure();
    levels.insertAt(level);
    values.push_back(context.asVector(element));
  }
  levels.insertAt(level);
  return values;
}

void RootEmitter::writeTile(llvm::Value *base, BufferId buffer, Element element, Type tile, unsigned level) {
  ChunkAccess access = context.addresses.ofBuffer(base, buffer, tile, context.addresses.chunkMap());
  Type type = tt::elementOf(tile);
  levels.insertAt(level);
  context.memory.write(access, type, context.asVector(element), nullptr);
}
