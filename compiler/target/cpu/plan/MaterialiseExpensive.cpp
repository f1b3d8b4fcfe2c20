// Keeps expensive values that several nests use, so that each element is computed once.
// SPDX-License-Identifier: MIT
//
// Values of few operations are rematerialised, loads are repeated: both cost less than a pass over a buffer. A long
// chain of cheap operations is as expensive as a slow one: an unrolled loop that reduces what it carries would compute
// the whole chain in each nest. Where a value is kept, only the steps that evaluate it are scanned again.
#include "compiler/target/cpu/plan/Chunks.h"
#include "compiler/target/cpu/plan/Expressions.h"
#include "compiler/target/cpu/plan/PlanBuilder.h"

#include "mlir/IR/Matchers.h"

#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

namespace {

/// The steps of one sequence that evaluate a value. The number of a step stays the same where steps are inserted.
struct Uses {
  SmallVector<unsigned, 2> steps; ///< in the order of the sequence, each once
  unsigned loops = 0;             ///< the number of these steps that are loops and do not define the value
};

class Materialiser {
public:
  Materialiser(PlanContext &context, Sequence &sequence) : context(context), sequence(sequence) {}
  void run();

private:
  unsigned newId(unsigned index);
  void scan(unsigned index);
  void forget(unsigned id);
  unsigned depthOf(Value value);
  bool isWorthKeeping(Value value);
  Value lastOfChain(Value value) const;
  bool evaluatesAtOwnIndex(Nest &nest, Value value);
  void keep(Value value);

  PlanContext &context;
  Sequence &sequence;
  std::vector<unsigned> ids;               ///< the number of each step
  std::vector<unsigned> positions;         ///< the index of the step with each number
  std::vector<SmallVector<Value>> visited; ///< by each id: the values that it evaluates, each once, users first
  DenseMap<Value, Uses> uses;
  DenseMap<Value, unsigned> depths;
};

} // namespace

/// A chain of so many operations costs more than a pass over a buffer.
static constexpr unsigned kLongChain = 40;

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
             chunkStep(affineInfo, value, identityMap(shape.size()), dim, fewestLanes).has_value();
  return false;
}

unsigned Materialiser::newId(unsigned index) {
  const auto id = static_cast<unsigned>(positions.size());
  ids.insert(ids.begin() + index, id);
  positions.push_back(index);
  visited.emplace_back();
  for (unsigned later = index + 1; later < ids.size(); ++later)
    positions[ids[later]] = later;
  return id;
}

/// Notes what a step evaluates.
void Materialiser::scan(unsigned index) {
  const Step &step = sequence.steps[index];
  const unsigned id = ids[index];
  const bool isLoop = isa_and_nonnull<LoopLikeOpInterface>(step.op) && step.kind == StepKind::Control;
  llvm::DenseSet<Value> seen;
  forEachNest(step, [&](Nest &nest) {
    ExpressionWalk walk(context.affineInfo, [&](Value value, const IndexMap &map) {
      if (map.empty() || context.plan.bufferOf.contains(value))
        return false;
      Operation *op = value.getDefiningOp();
      if (op && op->getBlock() == sequence.block && seen.insert(value).second)
        visited[id].push_back(value);
      return true;
    });
    walk.nest(nest);
  });
  for (Value value : visited[id]) {
    Uses &entry = uses[value];
    auto later = llvm::find_if(llvm::reverse(entry.steps), [&](unsigned other) { return positions[other] < index; });
    entry.steps.insert(later.base(), id);
    entry.loops += isLoop;
  }
}

void Materialiser::forget(unsigned id) {
  const Step &step = sequence.steps[positions[id]];
  const bool isLoop = isa_and_nonnull<LoopLikeOpInterface>(step.op) && step.kind == StepKind::Control;
  for (Value value : visited[id]) {
    Uses &entry = uses[value];
    llvm::erase(entry.steps, id);
    entry.loops -= isLoop;
  }
  visited[id].clear();
}

/// Operations of the longest chain from a tile in a buffer, a load or a scalar to the value, up to kLongChain.
unsigned Materialiser::depthOf(Value value) {
  SmallVector<Value> waiting = {value};
  while (!waiting.empty()) { // an explicit stack: chains may be tens of thousands of ops long
    Value next = waiting.back();
    Operation *op = next.getDefiningOp();
    if (depths.contains(next)) {
      waiting.pop_back();
      continue;
    }
    unsigned depth = 0;
    bool isReady = true;
    if (op && op->getBlock() == sequence.block && isElementwise(op) && !context.plan.bufferOf.contains(next)) {
      for (Value operand : op->getOperands())
        if (auto known = depths.find(operand); known != depths.end()) {
          depth = std::max(depth, known->second);
        } else {
          waiting.push_back(operand);
          isReady = false;
        }
      ++depth;
    }
    if (!isReady)
      continue;
    depths[next] = std::min(depth, kLongChain);
    waiting.pop_back();
  }
  return depths.lookup(value);
}

bool Materialiser::isWorthKeeping(Value value) {
  const Uses &where = uses.find(value)->second;
  Operation *op = value.getDefiningOp();
  if (context.plan.bufferOf.contains(value) || (where.steps.size() < 2 && !where.loops))
    return false;
  if (context.affineInfo.dependence(value) == 0)
    return false;
  if (!isExpensive(op))
    return isElementwise(op) && !isa<tt::PointerType>(tt::elementOf(value.getType())) && depthOf(value) == kLongChain;
  // A division by a number that the program is given costs more than to read its result in every iteration of a loop.
  const bool isByConstant = isIndexDivision(op) && matchPattern(op->getOperand(1), m_Constant());
  return !isByConstant || !isRegular(context.affineInfo, value);
}

/// The last value of the elementwise chain from `value` in which each value has one user.
Value Materialiser::lastOfChain(Value value) const {
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
bool Materialiser::evaluatesAtOwnIndex(Nest &nest, Value value) {
  bool isEvaluated = false;
  ExpressionWalk walk(context.affineInfo, [&](Value part, const IndexMap &) {
    isEvaluated |= part == value;
    return !context.plan.bufferOf.contains(part);
  });
  walk.nest(nest);
  return isEvaluated && tt::shapeOf(value.getType()) == ArrayRef<int64_t>(nest.shape) && !nest.writesMemory();
}

/// Keeps the value from its first step on, and notes what its steps still evaluate.
void Materialiser::keep(Value value) {
  const SmallVector<unsigned, 2> users = uses.find(value)->second.steps;
  for (unsigned id : users)
    forget(id);
  const unsigned index = positions[users.front()];
  Step &step = sequence.steps[index];
  if (step.kind == StepKind::Nest && evaluatesAtOwnIndex(*step.nest, value)) {
    step.nest->roots.insert(step.nest->roots.begin(), context.materialiseRoot(value, "materialised"));
  } else {
    sequence.steps.insert(sequence.steps.begin() + index, context.materialiseStep(value, "materialised"));
    newId(index);
    scan(index);
  }
  depths.clear();
  for (unsigned id : users)
    scan(positions[id]);
}

void Materialiser::run() {
  for (unsigned index = 0; index < sequence.steps.size(); ++index)
    newId(index);
  for (unsigned index = 0; index < sequence.steps.size(); ++index)
    scan(index);
  // Values of earlier steps are kept first: keeping a value changes nothing for the steps before its first one.
  for (unsigned index = 0; index < ids.size();) {
    const auto &values = visited[ids[index]];
    auto found = llvm::find_if(values, [&](Value value) {
      return uses.find(value)->second.steps.front() == ids[index] && isWorthKeeping(value);
    });
    if (found == values.end())
      ++index;
    else
      keep(lastOfChain(*found));
  }
}

void cpu::materialiseExpensive(PlanContext &context, Sequence &sequence) {
  Materialiser(context, sequence).run();
  for (Step &step : sequence.steps)
    for (Sequence &region : step.regions)
      materialiseExpensive(context, region);
}
