// Expands a loop by its schedule: emits a prologue, carries values from stage to stage, predicates ops on the existence
// of their iteration.
// SPDX-License-Identifier: MIT
//
// A value that stage s defines and stage u uses was defined u - s iterations of the new loop ago, and one more where
// the original loop carries it. That many versions of it are carried.
#include "compiler/passes/ttg/LoopSchedule.h"

#include "compiler/passes/ttg/LoopParts.h"

#include "compiler/dialect/ttg/AsyncInterfaces.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::ttg;

std::string LoopSchedule::toString() const {
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (const Entry &entry : entries)
    stream << "stage " << entry.stage << ": " << entry.op->getName() << "\n";
  return text;
}

//--- iterations that do not exist ----------------------------------------------------------

static bool divides(Operation *op) {
  return isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::CeilDivSIOp, arith::CeilDivUIOp,
             arith::FloorDivSIOp>(op);
}

bool ttg::canPredicate(Operation *op) {
  if (auto branch = dyn_cast<scf::IfOp>(op))
    return isMemoryEffectFree(op) && llvm::all_of(branch->getRegions(), [](Region &region) {
             return region.empty() || llvm::all_of(region.front().without_terminator(),
                                                   [](Operation &inside) { return canPredicate(&inside); });
           });
  if (op->getNumRegions() > 0)
    return false;
  if (isa<tt::LoadOp, AsyncCopyGlobalToLocalOp, AsyncCommitGroupOp, AsyncTileLoad, PredicatedOp>(op) || divides(op))
    return true;
  return isPure(op) || (isMemoryEffectFree(op) && isSpeculatable(op));
}

/// `exists` for every element of a tile like `type`.
static Value splatPredicate(OpBuilder &builder, Location loc, Value exists, Type type) {
  Type mask = tt::i1Like(type);
  return isa<RankedTensorType>(mask) ? Value(tt::SplatOp::create(builder, loc, mask, exists)) : exists;
}

static void restrictMask(OpBuilder &builder, MutableOperandRange mask, Location loc, Type type, Value exists) {
  Value all = splatPredicate(builder, loc, exists, type);
  mask.assign(mask.empty() ? all : Value(arith::AndIOp::create(builder, loc, mask[0].get(), all)));
}

/// Gives a division a divisor that is not zero.
static void predicateDivision(OpBuilder &builder, Operation *op, Value exists) {
  if (matchPattern(op->getOperand(1), m_Constant()))
    return;
  // A power of two, as large as any that the divisor may be known to be a multiple of.
  const Location loc = op->getLoc();
  Type type = op->getOperand(1).getType(), element = tt::elementOf(type);
  const unsigned bits = element.isIndex() ? 64 : element.getIntOrFloatBitWidth();
  TypedAttr number = builder.getIntegerAttr(element, APInt::getOneBitSet(bits, bits > 2 ? bits - 2 : 0));
  if (auto tile = dyn_cast<RankedTensorType>(type))
    number = DenseElementsAttr::get(tile, Attribute(number));
  Value harmless = arith::ConstantOp::create(builder, loc, number);
  Value all = splatPredicate(builder, loc, exists, type);
  op->setOperand(1, arith::SelectOp::create(builder, loc, all, op->getOperand(1), harmless));
}

/// Makes `op` and the ops in its regions harmless where their iteration does not exist.
static void predicate(OpBuilder &builder, Operation *op, Value exists) {
  op->walk([&](Operation *inside) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(inside);
    const Location loc = inside->getLoc();
    if (auto load = dyn_cast<tt::LoadOp>(inside))
      restrictMask(builder, load.getMaskMutable(), loc, load.getPtr().getType(), exists);
    else if (auto copy = dyn_cast<AsyncCopyGlobalToLocalOp>(inside))
      restrictMask(builder, copy.getMaskMutable(), loc, copy.getSrc().getType(), exists);
    else if (auto predicated = dyn_cast<PredicatedOp>(inside))
      predicated.getPredMutable().set(arith::AndIOp::create(builder, loc, predicated.getPredMutable().get(), exists));
    else if (divides(inside))
      predicateDivision(builder, inside, exists);
  });
}

//--- versions ------------------------------------------------------------------------------

namespace {
/// The values of a body that a later iteration of the new loop uses.
struct Chain {
  Value value;         ///< an op's result, or a loop-carried value
  unsigned stage = 0;  ///< the defining stage
  unsigned length = 0; ///< number of carried versions
  unsigned first = 0;  ///< index of the latest version among the new loop's carried values
  bool isCarried() const { return isa<BlockArgument>(value); }
};

class Expander {
public:
  Expander(scf::ForOp loop, const LoopSchedule &schedule) : loop(loop), schedule(schedule), last(schedule.lastStage) {
    for (const LoopSchedule::Entry &entry : schedule.entries)
      stages[entry.op] = entry.stage;
  }

  std::string collect();
  scf::ForOp apply(RewriterBase &rewriter);

private:
  /// The op that defines a value, its stage, and whether it is of the previous iteration.
  struct Origin {
    Value definition;
    unsigned stage = 0;
    bool isBefore = false;
  };
  std::optional<Origin> originOf(Value value) const;
  Value yielded(Value argument) const { return loop.getTiedLoopYieldedValue(cast<BlockArgument>(argument))->get(); }
  bool isInside(Value value) const { return value.getParentBlock() == loop.getBody(); }
  bool isUnchanged(Value value) const {
    return isa<BlockArgument>(value) && value != loop.getInductionVar() && yielded(value) == value;
  }
  std::string need(Value value, unsigned stage);
  void carry(Value value, unsigned stage, unsigned versions);

  void makeIterations(OpBuilder &builder);
  Value versionOf(Value value, int iteration) const;
  void emitPrologueIteration(OpBuilder &builder, unsigned prologueIteration);
  void emitBody(OpBuilder &builder, scf::ForOp expanded);
  Value valueInBody(Value value, unsigned stage, ValueRange carried) const;
  Operation *cloneFor(OpBuilder &builder, Operation *op, llvm::function_ref<Value(Value)> lookup);

  mutable scf::ForOp loop; // MLIR's handles have few const methods
  const LoopSchedule &schedule;
  const unsigned last;
  llvm::DenseMap<Operation *, unsigned> stages;
  llvm::MapVector<Value, Chain> chains;
  llvm::DenseMap<std::pair<Value, int>, Value> versions; ///< of results, by iteration, in the prologue
  SmallVector<Value> indices, exists;                    ///< of the first iterations, or of those ahead
  llvm::DenseMap<Value, Value> current;                  ///< results in the new body
};
} // namespace

/// The origin of a value; nothing for values from outside the loop and for the induction variable.
std::optional<Expander::Origin> Expander::originOf(Value value) const {
  if (!isInside(value) || value == loop.getInductionVar() || isUnchanged(value))
    return std::nullopt;
  const bool isBefore = isa<BlockArgument>(value);
  Value definition = isBefore ? yielded(value) : value;
  return Origin{definition, stages.lookup(definition.getDefiningOp()), isBefore};
}

void Expander::carry(Value value, unsigned stage, unsigned count) {
  Chain &chain = chains[value];
  chain.value = value;
  chain.stage = stage;
  chain.length = std::max(chain.length, count);
}

/// Records that `stage` uses `value`.
std::string Expander::need(Value value, unsigned stage) {
  const auto origin = originOf(value);
  if (!origin)
    return "";
  const int lag = int(stage) - int(origin->stage) + origin->isBefore;
  if (lag < 0)
    return "a value is used in an earlier stage than it is computed in";
  if (lag > 0)
    carry(value, origin->stage, lag);
  return "";
}

std::string Expander::collect() {
  for (BlockArgument argument : loop.getRegionIterArgs()) {
    Operation *definition = yielded(argument).getDefiningOp();
    if (!isUnchanged(argument) && (!definition || definition->getBlock() != loop.getBody()))
      return "a value that the loop carries is not computed in it";
  }
  std::string reason;
  for (const LoopSchedule::Entry &entry : schedule.entries) {
    if (entry.stage < last && !canPredicate(entry.op))
      return "`" + entry.op->getName().getStringRef().str() + "` cannot run ahead";
    forEachOperand(entry.op, [&](Value operand) {
      if (std::string unmet = need(operand, entry.stage); !unmet.empty())
        reason = unmet;
    });
  }
  for (auto [argument, result] : llvm::zip_equal(loop.getRegionIterArgs(), loop.getResults()))
    if (auto origin = originOf(argument); origin && !result.use_empty())
      carry(argument, origin->stage, last - origin->stage + 1);
  unsigned next = 0;
  for (auto &[value, chain] : chains) {
    chain.first = next;
    next += chain.length;
  }
  return reason;
}

//--- prologue ------------------------------------------------------------------------------

/// Induction variables and existence of iterations 0 .. last - 1, from the lower bound on; in the body, of those 1 ..
/// last ahead. Compares with the distance to the bound, which is exact as an unsigned number, where a sum may overflow.
void Expander::makeIterations(OpBuilder &builder) {
  const Location loc = loop.getLoc();
  const bool isBody = !indices.empty();
  Value index = isBody ? indices.front() : loop.getLowerBound(), step = loop.getStep();
  Value left = arith::SubIOp::create(builder, loc, loop.getUpperBound(), index);
  Value here = isBody ? Value() : hasIteration(builder, loop);
  indices = {index};
  exists = {here};
  for (unsigned ahead = 1; ahead <= last; ++ahead) {
    Value isNext = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ugt, left, step);
    here = here ? Value(arith::AndIOp::create(builder, loc, here, isNext)) : isNext;
    index = arith::AddIOp::create(builder, loc, index, step);
    left = arith::SubIOp::create(builder, loc, left, step);
    indices.push_back(index);
    exists.push_back(here);
  }
}

/// The version of `value` in an iteration of the prologue.
Value Expander::versionOf(Value value, int iteration) const {
  if (value == loop.getInductionVar())
    return indices[iteration];
  if (!isInside(value))
    return value;
  if (!isa<BlockArgument>(value))
    return versions.lookup({value, iteration});
  if (iteration == 0 || isUnchanged(value))
    return loop.getTiedLoopInit(cast<BlockArgument>(value))->get();
  return versions.lookup({yielded(value), iteration - 1});
}

Operation *Expander::cloneFor(OpBuilder &builder, Operation *op, llvm::function_ref<Value(Value)> lookup) {
  IRMapping mapping;
  forEachOperand(op, [&](Value operand) {
    if (isInside(operand) && !mapping.contains(operand))
      mapping.map(operand, lookup(operand));
  });
  return builder.clone(*op, mapping);
}

void Expander::emitPrologueIteration(OpBuilder &builder, unsigned prologueIteration) {
  for (auto [op, stage] : schedule.entries) {
    if (stage > prologueIteration)
      continue;
    const unsigned iteration = prologueIteration - stage;
    Operation *copy = cloneFor(builder, op, [&](Value value) { return versionOf(value, iteration); });
    predicate(builder, copy, exists[iteration]);
    for (auto [result, copied] : llvm::zip_equal(op->getResults(), copy->getResults()))
      versions[{result, iteration}] = copied;
  }
}

//--- the loop ------------------------------------------------------------------------------

Value Expander::valueInBody(Value value, unsigned stage, ValueRange carried) const {
  if (value == loop.getInductionVar())
    return indices[last - stage];
  const auto origin = originOf(value);
  if (!origin)
    return isUnchanged(value) ? loop.getTiedLoopInit(cast<BlockArgument>(value))->get() : value;
  const unsigned lag = stage - origin->stage + origin->isBefore;
  return lag == 0 ? current.lookup(origin->definition) : carried[chains.lookup(value).first + lag - 1];
}

void Expander::emitBody(OpBuilder &builder, scf::ForOp expanded) {
  indices = {expanded.getInductionVar()};
  makeIterations(builder);
  const ValueRange carried = expanded.getRegionIterArgs();
  for (auto [op, stage] : schedule.entries) {
    const unsigned at = stage;
    Operation *copy = cloneFor(builder, op, [&](Value value) { return valueInBody(value, at, carried); });
    // An invariant divisor was already used by an iteration that exists.
    if (stage < last && !(divides(op) && !isInside(op->getOperand(1))))
      predicate(builder, copy, exists[last - stage]);
    for (auto [result, value] : llvm::zip_equal(op->getResults(), copy->getResults()))
      current[result] = value;
  }
  SmallVector<Value> next;
  for (auto &[value, chain] : chains)
    for (unsigned version = 0; version < chain.length; ++version)
      next.push_back(version > 0 ? carried[chain.first + version - 1]
                                 : current.lookup(chain.isCarried() ? yielded(value) : value));
  scf::YieldOp::create(builder, loop.getLoc(), next);
}

scf::ForOp Expander::apply(RewriterBase &rewriter) {
  rewriter.setInsertionPoint(loop);
  makeIterations(rewriter);
  for (unsigned prologueIteration = 0; prologueIteration < last; ++prologueIteration)
    emitPrologueIteration(rewriter, prologueIteration);
  SmallVector<Value> inits;
  for (auto &[value, chain] : chains)
    for (unsigned version = 1; version <= chain.length; ++version)
      inits.push_back(versionOf(value, int(last) - int(chain.stage) - int(version) + chain.isCarried()));
  auto expanded = scf::ForOp::create(rewriter, loop.getLoc(), loop.getLowerBound(), loop.getUpperBound(),
                                     loop.getStep(), inits, nullptr, loop.getUnsignedCmp());
  expanded->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  eraseTerminator(*expanded.getBody());
  rewriter.setInsertionPointToEnd(expanded.getBody());
  emitBody(rewriter, expanded);
  for (auto [argument, result, init] :
       llvm::zip_equal(loop.getRegionIterArgs(), loop.getResults(), loop.getInitArgs())) {
    const auto origin = originOf(argument);
    if (!result.use_empty())
      result.replaceAllUsesWith(origin ? expanded.getResult(chains[argument].first + last - origin->stage) : init);
  }
  rewriter.eraseOp(loop);
  return expanded;
}

std::string ttg::reasonNotExpandable(scf::ForOp loop, const LoopSchedule &schedule) {
  return Expander(loop, schedule).collect();
}

scf::ForOp ttg::expandLoop(scf::ForOp loop, const LoopSchedule &schedule, RewriterBase &rewriter) {
  Expander expander(loop, schedule);
  const std::string reason = expander.collect();
  assert(reason.empty() && "a loop that is expanded was looked at before");
  (void)reason;
  return expander.apply(rewriter);
}
