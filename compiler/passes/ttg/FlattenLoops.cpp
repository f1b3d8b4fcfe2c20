// Flattens a loop over tiles and the loop inside it, so that loads of the next tile are pipelined into this one's end.
//
//   for %t { P; %r = for %k iter_args(%x = %init) { B }; E }
//     ->  P(first)
//         for %n = 0 to total trip count iter_args(%t, %j = 0, %x = %init, ..) {
//           B(%k = lb + %j * step)
//           if %j is the last { E }
//           if there is a next tile { P(next) } else { what B yields }
//         }
//
// Where the inner loop has no iteration, a loop of the outer iterations without it runs instead. Accumulators that
// start from zero stay out of the branches: a flag tells a dot whether it accumulates, so that only dots access its
// registers.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/tt/Dialect.h"
#include "compiler/dialect/tt/LoopAttributes.h"
#include "compiler/dialect/tt/NeutralElement.h"
#include "compiler/dialect/tt/Report.h"
#include "compiler/passes/ttg/Diagnostics.h"
#include "compiler/passes/ttg/Passes.h"
#include "compiler/passes/ttg/TripCount.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Iterators.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

#include "llvm/ADT/SetVector.h"

namespace nereid::ttg {
#define GEN_PASS_DEF_FLATTENLOOPS
#include "compiler/passes/ttg/Passes.h.inc"
} // namespace nereid::ttg

using namespace mlir;
using namespace nereid;
using namespace nereid::ttg;

namespace {
class Flattener {
public:
  Flattener(scf::ForOp outer, scf::ForOp inner, RewriterBase &rewriter)
      : outer(outer), inner(inner), rewriter(rewriter) {}

  std::string reasonNotFlattenable();
  void apply();

private:
  bool isBefore(Operation *op) { return op->getBlock() == outer.getBody() && op->isBeforeInBlock(inner); }
  bool isAccumulator(unsigned index);
  void findNeeds();
  IRMapping mapTile(Value tile, ValueRange carried);
  void cloneBefore(OpBuilder &builder, IRMapping &mapping);
  SmallVector<Value> tileValues(const IRMapping &mapping);
  SmallVector<Value> createEnd(OpBuilder &builder, Value isLast, Value tile, ValueRange outerCarried,
                               ValueRange results);
  SmallVector<Value> createNext(OpBuilder &builder, Value isNext, Value tile, ValueRange outerCarried,
                                ValueRange otherwise);
  void createBody(OpBuilder &builder, Location loc, Value count, ValueRange carried);
  SmallVector<Value> createFlat(OpBuilder &builder);
  SmallVector<Value> createWithoutInner(OpBuilder &builder);
  Value number(OpBuilder &builder, Type type, int64_t value) {
    return arith::ConstantOp::create(builder, outer.getLoc(), builder.getIntegerAttr(type, value));
  }

  scf::ForOp outer, inner;
  RewriterBase &rewriter;
  Value innerTripCount, totalTripCount; ///< of the inner loop; of both together, in 64 bits
  llvm::SetVector<Value> needed;        ///< values before the inner loop that its body uses
};
} // namespace

//--- preconditions -------------------------------------------------------------------------

static bool isPureAlways(Operation *op) {
  return !op->walk([](Operation *inside) {
              const bool divides = isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(inside);
              const bool isHarmless = divides || inside->hasTrait<OpTrait::IsTerminator>() ||
                                      inside->hasTrait<OpTrait::HasRecursiveMemoryEffects>() ||
                                      isMemoryEffectFree(inside);
              return isHarmless && !isa<scf::WhileOp>(inside) ? WalkResult::advance() : WalkResult::interrupt();
            }).wasInterrupted();
}

std::string Flattener::reasonNotFlattenable() {
  for (Value bound : {inner.getLowerBound(), inner.getUpperBound(), inner.getStep()})
    if (!outer.isDefinedOutsideOfLoop(bound))
      return "the inner one's bounds change with the outer one's iterations";
  for (Operation &op : outer.getBody()->without_terminator())
    if (isBefore(&op) && !isPureAlways(&op))
      return "`" + op.getName().getStringRef().str() + "` before the inner one has an effect or reads memory";
  return "";
}

//--- carried values ------------------------------------------------------------------------

/// Whether it is a dot's accumulator that starts from zero for each tile.
bool Flattener::isAccumulator(unsigned index) {
  Value init = inner.getInitArgs()[index];
  BlockArgument accumulator = inner.getRegionIterArg(index);
  if (!tt::isPositiveZero(init) || !isa<RankedTensorType>(init.getType()) || !accumulator.hasOneUse())
    return false;
  auto dot = dyn_cast<tt::DotOp>(*accumulator.user_begin());
  return dot && dot.getC() == accumulator && dot->getBlock() == inner.getBody();
}

/// Finds values before the inner loop that its body uses.
void Flattener::findNeeds() {
  inner.getBody()->walk([&](Operation *op) {
    for (Value operand : op->getOperands())
      if (Operation *source = operand.getDefiningOp(); source && isBefore(source))
        needed.insert(operand);
  });
}

/// The outer loop's values for a tile.
IRMapping Flattener::mapTile(Value tile, ValueRange carried) {
  IRMapping mapping;
  mapping.map(outer.getInductionVar(), tile);
  mapping.map(outer.getRegionIterArgs(), carried);
  return mapping;
}

void Flattener::cloneBefore(OpBuilder &builder, IRMapping &mapping) {
  for (Operation &op : *outer.getBody()) {
    if (&op == inner)
      break;
    builder.clone(op, mapping);
  }
}

/// The initial values of a tile: the inner loop's inits except accumulators, and values that its body uses.
SmallVector<Value> Flattener::tileValues(const IRMapping &mapping) {
  SmallVector<Value> values;
  for (auto [index, init] : llvm::enumerate(inner.getInitArgs()))
    if (!isAccumulator(index))
      values.push_back(mapping.lookupOrDefault(init));
  for (Value value : needed)
    values.push_back(mapping.lookupOrDefault(value));
  return values;
}

//--- the flattened loop --------------------------------------------------------------------

/// Emits the code after the inner loop, for its last iteration. Returns the outer loop's next values, then the
/// accumulators, which are results of the branch so that it may wait for them.
SmallVector<Value> Flattener::createEnd(OpBuilder &builder, Value isLast, Value tile, ValueRange outerCarried,
                                        ValueRange results) {
  SmallVector<Value> same(outerCarried);
  for (auto [index, result] : llvm::enumerate(results))
    if (isAccumulator(index))
      same.push_back(result);
  auto end = [&](OpBuilder &inside, Location loc) {
    IRMapping mapping = mapTile(tile, outerCarried);
    cloneBefore(inside, mapping); // unused ops are erased later
    mapping.map(inner.getResults(), results);
    for (Operation *op = inner->getNextNode(); !op->hasTrait<OpTrait::IsTerminator>(); op = op->getNextNode())
      inside.clone(*op, mapping);
    SmallVector<Value> yields;
    for (Value yielded : outer.getYieldedValues())
      yields.push_back(mapping.lookupOrDefault(yielded));
    llvm::append_range(yields, ArrayRef(same).drop_front(outerCarried.size()));
    scf::YieldOp::create(inside, loc, yields);
  };
  auto otherwise = [&](OpBuilder &inside, Location loc) { scf::YieldOp::create(inside, loc, same); };
  return scf::IfOp::create(builder, outer.getLoc(), isLast, end, otherwise).getResults();
}

/// The values of the next iteration: the initial values of the next tile, or those that this iteration yields.
SmallVector<Value> Flattener::createNext(OpBuilder &builder, Value isNext, Value tile, ValueRange outerCarried,
                                         ValueRange otherwise) {
  if (otherwise.empty())
    return {};
  auto next = [&](OpBuilder &inside, Location loc) {
    IRMapping mapping = mapTile(tile, outerCarried);
    cloneBefore(inside, mapping);
    scf::YieldOp::create(inside, loc, tileValues(mapping));
  };
  auto same = [&](OpBuilder &inside, Location loc) { scf::YieldOp::create(inside, loc, otherwise); };
  return scf::IfOp::create(builder, inner.getLoc(), isNext, next, same).getResults();
}

/// Carried values: the tile's index, the iteration in it, the outer loop's values, accumulators, the tile's values.
void Flattener::createBody(OpBuilder &builder, Location loc, Value count, ValueRange carried) {
  Value tile = carried[0], iteration = carried[1];
  const unsigned numOuter = outer.getNumRegionIterArgs();
  const ValueRange outerCarried = carried.slice(2, numOuter);
  ValueRange rest = carried.drop_front(2 + numOuter);
  Type type = iteration.getType();
  Value zero = number(builder, type, 0), one = number(builder, type, 1);
  Value isFirst = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, iteration, zero);
  Value nextIteration = arith::AddIOp::create(builder, loc, iteration, one);
  Value isLast = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, nextIteration, innerTripCount);
  Value after = arith::AddIOp::create(builder, loc, count, number(builder, count.getType(), 1));
  Value goesOn = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, after, totalTripCount);
  Value isNext = arith::AndIOp::create(builder, loc, isLast, goesOn);

  IRMapping mapping = mapTile(tile, outerCarried);
  Value gone = arith::MulIOp::create(builder, loc, iteration, inner.getStep());
  mapping.map(inner.getInductionVar(), arith::AddIOp::create(builder, loc, inner.getLowerBound(), gone).getResult());
  for (auto [index, argument] : llvm::enumerate(inner.getRegionIterArgs())) {
    Value value = rest.front();
    rest = rest.drop_front();
    if (isAccumulator(index)) {
      Value none = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(value.getType()));
      value = arith::SelectOp::create(builder, loc, isFirst, none, value);
    }
    mapping.map(argument, value);
  }
  for (auto [value, now] : llvm::zip_equal(needed, rest))
    mapping.map(value, now);
  for (Operation &op : inner.getBody()->without_terminator())
    builder.clone(op, mapping);

  SmallVector<Value> results, otherwise;
  for (auto [index, yielded] : llvm::enumerate(inner.getYieldedValues())) {
    results.push_back(mapping.lookupOrDefault(yielded));
    if (!isAccumulator(index))
      otherwise.push_back(results.back());
  }
  llvm::append_range(otherwise, rest);
  const SmallVector<Value> ends = createEnd(builder, isLast, tile, outerCarried, results);
  const ArrayRef<Value> outerNext = ArrayRef(ends).take_front(numOuter);
  Value nextTile = arith::AddIOp::create(builder, loc, tile, outer.getStep());
  const SmallVector<Value> begins = createNext(builder, isNext, nextTile, outerNext, otherwise);

  SmallVector<Value> yields = {arith::SelectOp::create(builder, loc, isLast, nextTile, tile),
                               arith::SelectOp::create(builder, loc, isLast, zero, nextIteration)};
  llvm::append_range(yields, outerNext);
  auto sum = ends.begin() + numOuter, next = begins.begin();
  for (unsigned index = 0; index < results.size(); ++index)
    yields.push_back(isAccumulator(index) ? *sum++ : *next++);
  yields.append(next, begins.end());
  scf::YieldOp::create(builder, loc, yields);
}

SmallVector<Value> Flattener::createFlat(OpBuilder &builder) {
  const Location loc = inner.getLoc();
  IRMapping mapping = mapTile(outer.getLowerBound(), outer.getInitArgs());
  cloneBefore(builder, mapping);
  SmallVector<Value> inits = {outer.getLowerBound(), number(builder, innerTripCount.getType(), 0)};
  llvm::append_range(inits, outer.getInitArgs());
  for (Value init : inner.getInitArgs())
    inits.push_back(mapping.lookupOrDefault(init));
  for (Value value : needed)
    inits.push_back(mapping.lookupOrDefault(value));
  auto body = [&](OpBuilder &inside, Location at, Value count, ValueRange carried) {
    createBody(inside, at, count, carried);
  };
  Type wide = totalTripCount.getType();
  auto flat =
      scf::ForOp::create(builder, loc, number(builder, wide, 0), totalTripCount, number(builder, wide, 1), inits, body,
                         /*unsignedCmp=*/true);
  flat->setDiscardableAttrs(inner->getDiscardableAttrDictionary());
  if (!flat->hasAttr(tt::kNumStages))
    if (Attribute stages = outer->getAttr(tt::kNumStages))
      flat->setAttr(tt::kNumStages, stages);
  return ValueRange(flat.getResults()).slice(2, outer.getNumRegionIterArgs());
}

/// The outer loop for an inner one without iterations; only its initial values where that cannot happen.
SmallVector<Value> Flattener::createWithoutInner(OpBuilder &builder) {
  if (matchPattern(innerTripCount, m_NonZero()))
    return outer.getInitArgs();
  IRMapping mapping;
  auto copy = cast<scf::ForOp>(builder.clone(*outer, mapping));
  auto within = cast<scf::ForOp>(mapping.lookup(inner.getOperation()));
  within.replaceAllUsesWith(within.getInitArgs());
  within.erase();
  return copy.getResults();
}

void Flattener::apply() {
  const Location loc = outer.getLoc();
  findNeeds();
  rewriter.setInsertionPoint(outer);
  auto widened = [&](Value value) {
    Type wide = rewriter.getI64Type();
    return value.getType() == wide ? value : rewriter.createOrFold<arith::ExtUIOp>(loc, wide, value);
  };
  innerTripCount = tripCountOf(rewriter, inner);
  totalTripCount =
      rewriter.createOrFold<arith::MulIOp>(loc, widened(tripCountOf(rewriter, outer)), widened(innerTripCount));
  Value runs = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ne, totalTripCount,
                                     number(rewriter, totalTripCount.getType(), 0));
  auto branch = scf::IfOp::create(
      rewriter, loc, runs,
      [&](OpBuilder &builder, Location at) { scf::YieldOp::create(builder, at, createFlat(builder)); },
      [&](OpBuilder &builder, Location at) { scf::YieldOp::create(builder, at, createWithoutInner(builder)); });
  rewriter.replaceOp(outer, branch.getResults());
}

//--- loops to flatten ----------------------------------------------------------------------

static void eraseUnused(tt::FuncOp function) {
  function.walk<WalkOrder::PostOrder, ReverseIterator>([](Operation *op) {
    if (isOpTriviallyDead(op))
      op->erase();
  });
}

namespace {
struct FlattenLoops : ttg::impl::FlattenLoopsBase<FlattenLoops> {
  using FlattenLoopsBase::FlattenLoopsBase;

  std::string flatten(scf::ForOp outer, RewriterBase &rewriter) {
    auto loops = llvm::to_vector(outer.getBody()->getOps<scf::ForOp>());
    if (loops.size() != 1)
      return loops.empty() ? "there is no loop directly in it" : "there are several loops in it";
    if (!isa<IntegerType>(outer.getInductionVar().getType()) || !isa<IntegerType>(loops[0].getInductionVar().getType()))
      return "an index is no integer";
    moveLoopInvariantCode(cast<LoopLikeOpInterface>(outer.getOperation()));
    Flattener flattener(outer, loops[0], rewriter);
    std::string reason = flattener.reasonNotFlattenable();
    if (reason.empty())
      flattener.apply();
    return reason;
  }

  void runOnOperation() final {
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) { // from the innermost loop outwards
      if (loop->hasAttr(tt::kFlatten))
        loops.push_back(loop);
    });
    IRRewriter rewriter(&getContext());
    for (scf::ForOp loop : loops) {
      loop->removeAttr(tt::kFlatten);
      if (const std::string reason = flatten(loop, rewriter); reason.empty())
        ++numFlattened;
      else
        tt::report(loop.getLoc(), diag::LoopNotFlattened, reason);
    }
    if (!loops.empty())
      eraseUnused(getOperation());
  }
};
} // namespace
