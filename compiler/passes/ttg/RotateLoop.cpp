// Rotates a loop, so that it exits in its middle and its first stage runs ahead.
//
//   for %i { a(%i); b(%i); c(%i) }   ->   a(0); while { b(%i); %i + 1 exists } do { a(%i + 1); c(%i) }; c(last)
//
// SPDX-License-Identifier: MIT
#include "compiler/passes/ttg/RotateLoop.h"

#include "compiler/passes/ttg/LoopParts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::ttg;

namespace {
class LoopRotator {
public:
  LoopRotator(scf::ForOp loop, const LoopSchedule &schedule, size_t exit, RewriterBase &rewriter)
      : loop(loop), entries(schedule.entries), exit(exit), rewriter(rewriter) {
    assert(llvm::all_of(llvm::ArrayRef(entries).take_front(exit), [](auto &entry) { return entry.stage == 1; }) &&
           "stage 0 runs after the exit");
  }

  RotatedLoop run(llvm::function_ref<void(IRMapping &)> finish);

private:
  void collect();
  void need(Value value);
  scf::IfOp createGuard();
  void buildBefore(Block &block);
  void buildAfter(Block &block);

  scf::ForOp loop;
  const std::vector<LoopSchedule::Entry> &entries;
  const size_t exit;
  RewriterBase &rewriter;
  llvm::SetVector<Value>
      carried; ///< of the body, from iteration to iteration: what it carried, and what stage 0 computes
  llvm::SetVector<Value> forwarded; ///< of the body, over the exit
  IRMapping before;                 ///< the body's values in the region before the exit
};
} // namespace

/// Forwards a value of the body that exists before the exit.
void LoopRotator::need(Value value) {
  const bool isInside = value.getParentBlock() == loop.getBody();
  Operation *op = value.getDefiningOp();
  const auto end = entries.begin() + exit;
  const bool comesLater = op && std::find_if(end, entries.end(), [&](auto &entry) {
                                  return entry.op == op && entry.stage > 0;
                                }) != entries.end();
  if (isInside && !comesLater)
    forwarded.insert(value);
}

void LoopRotator::collect() {
  carried.insert(loop.getInductionVar());
  carried.insert_range(loop.getRegionIterArgs());
  llvm::DenseSet<Operation *> beginning;
  for (auto [op, stage] : entries)
    if (stage == 0)
      beginning.insert(op);
  auto carry = [&](Value value) {
    if (beginning.contains(value.getDefiningOp()))
      carried.insert(value);
  };
  for (auto [op, stage] : entries)
    if (stage > 0)
      forEachOperand(op, carry);
  llvm::for_each(loop.getYieldedValues(), carry);

  need(loop.getInductionVar());
  for (size_t index = exit; index < entries.size(); ++index)
    if (entries[index].stage > 0)
      forEachOperand(entries[index].op, [&](Value value) { need(value); });
  llvm::for_each(loop.getYieldedValues(), [&](Value value) { need(value); });
}

scf::IfOp LoopRotator::createGuard() {
  const Location loc = loop.getLoc();
  rewriter.setInsertionPoint(loop);
  Value isEntered = hasIteration(rewriter, loop);
  auto guard = scf::IfOp::create(rewriter, loc, loop.getResultTypes(), isEntered, /*withElseRegion=*/true);
  for (Block *block : {guard.thenBlock(), guard.elseBlock()})
    eraseTerminator(*block);
  rewriter.setInsertionPointToEnd(guard.elseBlock());
  scf::YieldOp::create(rewriter, loc, loop.getInitArgs());
  rewriter.setInsertionPointToEnd(guard.thenBlock());
  return guard;
}

/// The ops up to the exit. Compares with the distance to the bound, which is exact as an unsigned number.
void LoopRotator::buildBefore(Block &block) {
  const Location loc = loop.getLoc();
  rewriter.setInsertionPointToEnd(&block);
  for (auto [value, argument] : llvm::zip_equal(carried, block.getArguments()))
    before.map(value, argument);
  for (size_t index = 0; index < exit; ++index)
    rewriter.clone(*entries[index].op, before);
  Value left = arith::SubIOp::create(rewriter, loc, loop.getUpperBound(), before.lookup(loop.getInductionVar()));
  Value hasNext = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ugt, left, loop.getStep());
  auto values = llvm::map_to_vector(forwarded, [&](Value value) { return before.lookup(value); });
  scf::ConditionOp::create(rewriter, loc, hasNext, values);
}

/// The ops from the exit on, with stage 0 of the next iteration.
void LoopRotator::buildAfter(Block &block) {
  rewriter.setInsertionPointToEnd(&block);
  IRMapping here, next;
  here.map(forwarded.getArrayRef(), block.getArguments());
  Value index = arith::AddIOp::create(rewriter, loop.getLoc(), here.lookup(loop.getInductionVar()), loop.getStep());
  next.map(loop.getInductionVar(), index);
  for (size_t position = exit; position < entries.size(); ++position) {
    auto [op, stage] = entries[position];
    if (stage == 0)
      forEachOperand(op, [&](Value value) { // a carried value of the next iteration is what this one yields
        auto argument = dyn_cast<BlockArgument>(value);
        if (argument && argument.getOwner() == loop.getBody() && argument != loop.getInductionVar())
          next.map(argument, here.lookupOrDefault(loop.getTiedLoopYieldedValue(argument)->get()));
      });
    rewriter.clone(*op, stage == 0 ? next : here);
  }
  SmallVector<Value> yields;
  for (Value value : carried) {
    auto argument = dyn_cast<BlockArgument>(value);
    const bool isCarried = argument && argument != loop.getInductionVar();
    yields.push_back(isCarried ? here.lookupOrDefault(loop.getTiedLoopYieldedValue(argument)->get())
                               : next.lookup(value));
  }
  scf::YieldOp::create(rewriter, loop.getLoc(), yields);
}

RotatedLoop LoopRotator::run(llvm::function_ref<void(IRMapping &)> finish) {
  collect();
  const Location loc = loop.getLoc();
  scf::IfOp guard = createGuard();
  IRMapping first;
  first.map(loop.getInductionVar(), loop.getLowerBound());
  first.map(loop.getRegionIterArgs(), loop.getInitArgs());
  for (auto [op, stage] : entries)
    if (stage == 0)
      rewriter.clone(*op, first);
  auto inits = llvm::map_to_vector(carried, [&](Value value) { return first.lookup(value); });
  auto types = llvm::map_to_vector(forwarded, [](Value value) { return value.getType(); });
  auto rotated = scf::WhileOp::create(
      rewriter, loc, types, inits, [](OpBuilder &, Location, ValueRange) {}, [](OpBuilder &, Location, ValueRange) {});
  rotated->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  buildBefore(*rotated.getBeforeBody());
  buildAfter(*rotated.getAfterBody());

  rewriter.setInsertionPointAfter(rotated);
  IRMapping last;
  last.map(forwarded.getArrayRef(), rotated.getResults());
  for (size_t index = exit; index < entries.size(); ++index)
    if (entries[index].stage > 0)
      rewriter.clone(*entries[index].op, last);
  finish(last);
  auto results = llvm::map_to_vector(loop.getYieldedValues(), [&](Value value) { return last.lookupOrDefault(value); });
  scf::YieldOp::create(rewriter, loc, results);
  rewriter.replaceOp(loop, guard.getResults());
  return {guard, rotated};
}

RotatedLoop ttg::rotateLoop(scf::ForOp loop, const LoopSchedule &schedule, size_t exit, RewriterBase &rewriter,
                            llvm::function_ref<void(IRMapping &)> finish) {
  return LoopRotator(loop, schedule, exit, rewriter).run(finish);
}
