// Keeps expensive values that several nests use, so that each element is computed once.
// SPDX-License-Identifier: MIT
//
// Values of few operations are rematerialised, loads are repeated: both cost less than a pass over a buffer.
#include "compiler/target/cpu/plan/Chunks.h"
#include "compiler/target/cpu/plan/Expressions.h"
#include "compiler/target/cpu/plan/PlanBuilder.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

namespace {
/// The steps of one sequence that evaluate a value.
struct Uses {
  SmallVector<unsigned> steps; ///< ascending, each once
  bool isRepeated = false;     ///< inside a loop that does not define it
};
using UseMap = llvm::MapVector<Value, Uses>;
} // namespace

static bool isIndexDivision(Operation *op) {
  return isa<arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp>(op);
}

static bool isExpensive(Operation *op) { return isIndexDivision(op) || isSlowFunction(op); }

/// Whether an index is computed once for a chunk wherever it is part of an address.
static bool isRegular(AffineInfo &affineInfo, Value value) {
  constexpr unsigned fewestLanes = 8;
  ArrayRef<int64_t> shape = tt::shapeOf(value.getType());
  for (size_t dim = shape.size(); dim-- > 0;)
    if (shape[dim] != 1)
      return shape[dim] % fewestLanes == 0 &&
             chunkForm(affineInfo, value, identityMap(shape.size()), dim, fewestLanes).has_value();
  return false;
}

static UseMap scan(PlanContext &context, Sequence &sequence) {
  UseMap uses;
  for (auto [index, step] : llvm::enumerate(sequence.steps)) {
    const bool isLoop = isa_and_nonnull<LoopLikeOpInterface>(step.op) && step.kind == StepKind::Control;
    forEachNest(step, [&, index = index](Nest &nest) {
      ExpressionWalk walk(context.affineInfo, [&](Value value, const IndexMap &map) {
        if (map.empty() || context.plan.bufferOf.contains(value))
          return false;
        Operation *op = value.getDefiningOp();
        if (op && op->getBlock() == sequence.block) {
          Uses &entry = uses[value];
          if (entry.steps.empty() || entry.steps.back() != index)
            entry.steps.push_back(index);
          entry.isRepeated |= isLoop;
        }
        return true;
      });
      for (const Root &root : nest.roots)
        walk.root(root);
    });
  }
  return uses;
}

/// The last value of the elementwise chain from `value` in which each value has one user.
static Value lastOfChain(Value value, const UseMap &uses) {
  while (value.hasOneUse()) {
    Operation *user = *value.user_begin();
    if (!isElementwise(user) || user->getNumResults() != 1 || user->getResult(0).getType() == Type())
      break;
    Value next = user->getResult(0);
    auto mine = uses.find(value), theirs = uses.find(next);
    if (tt::shapeOf(next.getType()) != tt::shapeOf(value.getType()) || theirs == uses.end() ||
        theirs->second.steps != mine->second.steps || isa<tt::PointerType>(tt::elementOf(next.getType())))
      break;
    value = next;
  }
  return value;
}

/// Whether `nest` evaluates `value` at its own index.
static bool evaluatesAtOwnIndex(PlanContext &context, Nest &nest, Value value) {
  bool found = false;
  ExpressionWalk walk(context.affineInfo, [&](Value visited, const IndexMap &map) {
    found |= visited == value;
    return !context.plan.bufferOf.contains(visited);
  });
  for (const Root &root : nest.roots)
    walk.root(root);
  return found && tt::shapeOf(value.getType()) == ArrayRef<int64_t>(nest.shape) && !nest.writesMemory();
}

static void materialise(PlanContext &context, Sequence &sequence, Value value, unsigned firstStep) {
  Step &step = sequence.steps[firstStep];
  if (step.kind == StepKind::Nest && evaluatesAtOwnIndex(context, *step.nest, value)) {
    step.nest->roots.insert(step.nest->roots.begin(), context.materialiseRoot(value, "materialised"));
    return;
  }
  sequence.steps.insert(sequence.steps.begin() + firstStep, context.materialiseStep(value, "materialised"));
}

/// Keeps one value; false where no value is worth it.
static bool materialiseOne(PlanContext &context, Sequence &sequence) {
  const UseMap uses = scan(context, sequence);
  for (const auto &[value, where] : uses) {
    if (!isExpensive(value.getDefiningOp()) || context.affineInfo.dependence(value) == 0)
      continue;
    if (where.steps.size() < 2 && !where.isRepeated)
      continue;
    if (isIndexDivision(value.getDefiningOp()) && isRegular(context.affineInfo, value))
      continue;
    Value last = lastOfChain(value, uses);
    materialise(context, sequence, last, where.steps.front());
    return true;
  }
  return false;
}

void cpu::materialiseExpensive(PlanContext &context, Sequence &sequence) {
  while (materialiseOne(context, sequence)) {
  }
  for (Step &step : sequence.steps)
    for (Sequence &region : step.regions)
      materialiseExpensive(context, region);
}
