// Decides which operands of dots a thread keeps for the programs that follow, which often multiply the same tiles.
// SPDX-License-Identifier: MIT
//
// The tile of an iteration is a function of a few scalars and of memory. Where the scalars are those of an earlier
// program, so are the elements: no store of this program comes before them, and stores of other programs have no order
// with loads that nothing synchronises. docs/why/cpu-dot.md
#include "compiler/target/cpu/plan/Expressions.h"
#include "compiler/target/cpu/plan/PlanBuilder.h"

#include "compiler/dialect/check/Dialect.h"
#include "compiler/dialect/ttg/Dialect.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

/// Of all kept tiles: half of a second-level cache, which also holds the other operands.
static constexpr int64_t mostBytes = 1 << 19;
/// Of the scalars that a tile depends on: more take longer to compare, and are rarely the same.
static constexpr size_t mostScalars = 8;

namespace {

/// An operand whose tiles can be kept.
struct Candidate {
  Nest *nest;
  BufferId copy; ///< of its root
  SharedOperand shared;
};

class OperandSharer {
public:
  OperandSharer(PlanContext &context, Step &loop) : context(context), loop(loop), body(loop.regions.front()) {}
  void run();

private:
  bool findScalars(const Root &root, SharedOperand &shared);
  std::optional<BufferId> tilesOf(const Root &root);
  void share(Candidate &candidate, int64_t bytes);

  PlanContext &context;
  Step &loop;
  Sequence &body;
};

} // namespace

/// The scalars and loads that the operand's elements are computed from; false where it depends on anything else.
bool OperandSharer::findScalars(const Root &root, SharedOperand &shared) {
  bool isKnown = true;
  ExpressionWalk walk(context.affineInfo, [&](Value value, const IndexMap &) {
    Operation *op = value.getDefiningOp();
    if (isa<RankedTensorType>(value.getType())) {
      auto load = dyn_cast_or_null<tt::LoadOp>(op);
      if (load)
        shared.loads.push_back(load);
      const bool isPure = load ? !load.getIsVolatile() : isComputable(op) && isMemoryEffectFree(op);
      isKnown &= isPure && !isa<tt::GatherOp>(op); // a gather's source was kept in its buffer by an earlier step
      return isKnown;
    }
    const bool isParameter = isa<BlockArgument>(value) && isa<tt::FuncOp>(value.getParentBlock()->getParentOp());
    if (!isParameter && !matchPattern(value, m_Constant()) && !llvm::is_contained(shared.scalars, value))
      shared.scalars.push_back(value);
    return false;
  });
  walk.root(root);
  return isKnown && !shared.loads.empty() && shared.scalars.size() <= mostScalars;
}

/// The buffer that the one dot to use the operand multiplies it from.
std::optional<BufferId> OperandSharer::tilesOf(const Root &root) {
  if (root.kind != RootKind::Assign || !isa<tt::DotOp>(root.op) || root.offset != 0)
    return std::nullopt;
  const BufferId copy = root.buffers.front();
  std::optional<BufferId> tiles;
  unsigned uses = 0;
  for (const Step &step : body.steps) {
    if (!step.dot)
      continue;
    const TileDot &dot = *step.dot;
    for (const TileDot::Operand *operand : {&dot.a, &dot.b})
      if (!operand->value && operand->buffer == copy) {
        ++uses;
        tiles = operand == &dot.b && dot.packed ? *dot.packed : copy;
      }
  }
  return uses == 1 ? tiles : std::nullopt;
}

static int64_t tileBytes(const Buffer &buffer) {
  int64_t elements = 1;
  for (int64_t extent : buffer.shape)
    elements *= extent;
  return elements * storageBytes(buffer.element);
}

/// Keeps as many tiles as fit in so many bytes; their copy becomes a nest of its own.
void OperandSharer::share(Candidate &candidate, int64_t bytes) {
  LoopPlan &plan = context.plan;
  SharedOperand &shared = candidate.shared;
  const int64_t count = bytes / tileBytes(plan.buffers[shared.tiles]);
  if (count < 2)
    return;
  plan.buffers[shared.tiles].tiles = count;
  const auto words = static_cast<int64_t>(SharedOperand::firstScalar + shared.scalars.size());
  shared.keys = context.newBuffer(IntegerType::get(loop.op->getContext(), 64), {count, words}, "keys");
  auto before = llvm::find_if(body.steps, [&](const Step &step) { return step.nest.get() == candidate.nest; });
  std::vector<Root> &roots = candidate.nest->roots;
  auto root = llvm::find_if(roots, [&](const Root &root) { return root.buffers.front() == candidate.copy; });
  if (roots.size() > 1) {
    Step step;
    step.kind = StepKind::Nest;
    step.nest = context.newNest(shapeOfRoot(*root));
    step.nest->roots.push_back(std::move(*root));
    roots.erase(root);
    candidate.nest = step.nest.get();
    body.steps.insert(before, std::move(step));
  }
  candidate.nest->shared = plan.sharedOperands.size();
  plan.sharedOperands.push_back(std::move(shared));
}

void OperandSharer::run() {
  std::vector<Candidate> candidates;
  for (Step &step : body.steps) {
    if (step.kind != StepKind::Nest || step.nest->inPlace || step.nest->peeledLoop || step.nest->writesMemory())
      continue;
    for (const Root &root : step.nest->roots) {
      Candidate candidate{step.nest.get(), 0, {}};
      const std::optional<BufferId> tiles = tilesOf(root);
      if (!tiles || !findScalars(root, candidate.shared))
        continue;
      candidate.copy = root.buffers.front();
      candidate.shared.loop = loop.op;
      candidate.shared.tiles = *tiles;
      candidates.push_back(std::move(candidate));
    }
  }
  for (Candidate &candidate : candidates)
    share(candidate, mostBytes / static_cast<int64_t>(candidates.size()));
}

/// Whether the op may change what later loads of the program read, or order them after stores of other programs.
static bool mayOrderLoads(Operation *op) {
  if (auto load = dyn_cast<tt::LoadOp>(op))
    return load.getIsVolatile();
  return !isa<tt::PrintOp, tt::AssertOp, check::ValuesOp, ttg::BarrierOp>(op) && op->getNumRegions() == 0 &&
         !isMemoryEffectFree(op);
}

/// The last op of the outermost loop around the op.
static Operation *lastOfOutermost(Operation *op) {
  Operation *outermost = op;
  for (Operation *outer = op; !isa<tt::FuncOp>(outer); outer = outer->getParentOp())
    if (isa<LoopLikeOpInterface>(outer))
      outermost = outer;
  while (outermost->getNumRegions())
    outermost = &outermost->getRegions().back().back().back();
  return outermost;
}

void cpu::shareOperands(PlanContext &context, tt::FuncOp kernel) {
  Operation *first = nullptr; // in program order
  kernel.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!mayOrderLoads(op))
      return WalkResult::advance();
    first = op;
    return WalkResult::interrupt();
  });
  for (Step &step : context.plan.body.steps)
    forEachStep(step, [&](Step &inner) {
      if (!isa_and_nonnull<scf::ForOp>(inner.op) || inner.kind != StepKind::Control)
        return;
      if (!first || context.positions.lookup(lastOfOutermost(inner.op)) < context.positions.lookup(first))
        OperandSharer(context, inner).run();
    });
}
