// Applies the regions of ops (reduce, scan, map_elementwise) to the elements of a chunk.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/emit/NestEmitter.h"

#include "compiler/target/cpu/emit/ControlEmitter.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

FailureOr<SmallVector<llvm::Value *>> NestEmitter::combine(const Root &root, ArrayRef<llvm::Value *> left,
                                                           ArrayRef<llvm::Value *> right) {
  SmallVector<llvm::Value *> args(left);
  args.append(right.begin(), right.end());
  return applyRegion(root.op->getRegion(0).front(), args);
}

FailureOr<SmallVector<llvm::Value *>> NestEmitter::applyRegion(Block &body, ArrayRef<llvm::Value *> args) {
  for (auto [argument, value] : llvm::zip_equal(body.getArguments(), args))
    context.scalars.define(argument, value);
  auto *vector = dyn_cast<llvm::FixedVectorType>(args.front()->getType());
  if (!vector) { // scalars may have control flow of their own
    llvm::Instruction *anchor = &*ir.GetInsertPoint();
    llvm::BasicBlock *before = anchor->getParent();
    llvm::BasicBlock *after = before->splitBasicBlock(anchor->getIterator(), "combined");
    before->getTerminator()->eraseFromParent();
    ir.SetInsertPoint(before);
    restoreLocation();
    auto results = context.control.emitScalarBlock(body);
    ir.CreateBr(after);
    ir.SetInsertPoint(anchor);
    restoreLocation();
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

FailureOr<SmallVector<llvm::Value *>> NestEmitter::vectorsOf(Operation *op, unsigned level) {
  SmallVector<llvm::Value *> values;
  for (Value operand : op->getOperands()) {
    Element element = evaluate(operand, identityMap(nest.shape.size()), level);
    if (!element)
      return failure();
    insertAt(level);
    values.push_back(asVector(element));
  }
  insertAt(level);
  return values;
}
