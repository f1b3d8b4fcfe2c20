// Follows needed values backwards through a loop, and builds the loop again with these.
// SPDX-License-Identifier: MIT
#include "compiler/passes/ttg/TrimLoop.h"

#include "compiler/passes/ttg/LoopParts.h"

#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace nereid;

/// The values of a loop's body that its effects and its used results depend on.
static llvm::DenseSet<Value> neededValues(scf::ForOp loop) {
  llvm::DenseSet<Value> needed;
  SmallVector<Value> todo;
  auto need = [&](Operation *op) {
    op->walk([&](Operation *inside) { llvm::append_range(todo, inside->getOperands()); });
  };
  for (Operation &op : loop.getBody()->without_terminator())
    if (!isMemoryEffectFree(&op))
      need(&op);
  for (auto [result, next] : llvm::zip_equal(loop.getResults(), loop.getYieldedValues()))
    if (!result.use_empty())
      todo.push_back(next);
  while (!todo.empty()) {
    Value value = todo.pop_back_val();
    if (!needed.insert(value).second || value.getParentBlock() != loop.getBody())
      continue;
    if (Operation *op = value.getDefiningOp())
      need(op);
    else if (value != loop.getInductionVar())
      todo.push_back(loop.getTiedLoopYieldedValue(cast<BlockArgument>(value))->get());
  }
  return needed;
}

/// Erases the ops whose results are all unneeded, the last one first.
static void eraseUnneeded(Block &body, const llvm::DenseSet<Value> &needed, RewriterBase &rewriter) {
  SmallVector<Operation *> ops;
  for (Operation &op : body)
    if (isMemoryEffectFree(&op) &&
        llvm::none_of(op.getResults(), [&](Value result) { return needed.contains(result); }))
      ops.push_back(&op);
  for (Operation *op : llvm::reverse(ops)) {
    op->dropAllUses();
    rewriter.eraseOp(op);
  }
}

scf::ForOp ttg::trimLoop(scf::ForOp loop, RewriterBase &rewriter) {
  const llvm::DenseSet<Value> needed = neededValues(loop);
  SmallVector<unsigned> neededIndices;
  SmallVector<Value> inits, yields;
  for (auto [index, argument] : llvm::enumerate(loop.getRegionIterArgs()))
    if (needed.contains(argument) || !loop.getResult(index).use_empty()) {
      neededIndices.push_back(index);
      inits.push_back(loop.getInitArgs()[index]);
    }
  rewriter.setInsertionPoint(loop);
  auto trimmed = scf::ForOp::create(rewriter, loop.getLoc(), loop.getLowerBound(), loop.getUpperBound(), loop.getStep(),
                                    inits, nullptr, loop.getUnsignedCmp());
  trimmed->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  eraseTerminator(*trimmed.getBody());
  rewriter.replaceAllUsesWith(loop.getInductionVar(), trimmed.getInductionVar());
  for (auto [position, index] : llvm::enumerate(neededIndices)) {
    rewriter.replaceAllUsesWith(loop.getRegionIterArg(index), trimmed.getRegionIterArg(position));
    rewriter.replaceAllUsesWith(loop.getResult(index), trimmed.getResult(position));
  }
  for (unsigned index : neededIndices)
    yields.push_back(loop.getYieldedValues()[index]);
  rewriter.eraseOp(loop.getBody()->getTerminator());
  eraseUnneeded(*loop.getBody(), needed, rewriter);
  trimmed.getBody()->getOperations().splice(trimmed.getBody()->end(), loop.getBody()->getOperations());
  rewriter.setInsertionPointToEnd(trimmed.getBody());
  scf::YieldOp::create(rewriter, loop.getLoc(), yields);
  rewriter.eraseOp(loop);
  return trimmed;
}
