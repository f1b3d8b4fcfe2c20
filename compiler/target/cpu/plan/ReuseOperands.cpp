// Decides which operands of dots a thread keeps for the programs that follow, which often multiply the same tiles.
// SPDX-License-Identifier: MIT
//
// The tile of an iteration is a function of a few scalars and of memory. Where the scalars are those of an earlier
// program, so are the elements: no store of this program comes before them, and stores of other programs have no order
// with loads that nothing synchronises. docs/why/cpu-dot.md
#include "compiler/target/cpu/plan/Expressions.h"
#include "compiler/target/cpu/plan/PlanBuilder.h"

#include "compiler/dialect/check/Dialect.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

/// The size of all kept tiles of a kernel: about a core's share of the last-level cache. Tiles to which no program
/// comes back are not written.
static constexpr int64_t mostBytes = 1 << 22;
/// The number of kept tiles of an operand.
static constexpr int64_t mostTiles = 256;
/// The number of scalars that a tile may depend on: more take longer to compare, and are rarely the same.
static constexpr size_t mostScalars = 8;

namespace {

/// An operand whose tiles can be kept.
struct Candidate {
  Sequence *body;
  Nest *nest;
  BufferId copy; ///< of its root
  KeptOperand operand;
};

/// Finds the operands that a loop copies and whose elements depend on known scalars.
class CandidateFinder {
public:
  CandidateFinder(PlanContext &context, Step &loop) : context(context), loop(loop), body(loop.regions.front()) {}
  void addTo(std::vector<Candidate> &candidates);

private:
  bool findScalars(const Root &root, KeptOperand &operand);
  bool findScalarsOf(Value tile, KeptOperand &operand);
  std::optional<BufferId> tilesOf(const Root &root);

  PlanContext &context;
  Step &loop;
  Sequence &body;
};

} // namespace

/// Whether a tile of the operand's expression is computed from scalars and memory alone, at any time.
bool CandidateFinder::findScalarsOf(Value tile, KeptOperand &operand) {
  Operation *op = tile.getDefiningOp();
  const bool isInside = op && loop.op->isAncestor(op);
  if (!isComputable(op) || indexedOperand(op) || (isInside && context.plan.bufferOf.contains(tile)))
    return false;
  auto load = dyn_cast<tt::LoadOp>(op);
  if (!load)
    return isMemoryEffectFree(op);
  if (isInside)
    operand.loads.push_back(load);
  return !load.getIsVolatile();
}

/// The scalars and loads that the operand's elements are computed from; false where it depends on anything else.
bool CandidateFinder::findScalars(const Root &root, KeptOperand &operand) {
  bool isKnown = true;
  ExpressionWalk walk(context.affineInfo, [&](Value value, const IndexMap &) {
    if (isa<RankedTensorType>(value.getType()))
      return isKnown &= findScalarsOf(value, operand);
    isKnown &= !value.getType().isIntOrFloat() || value.getType().getIntOrFloatBitWidth() <= 64;
    const bool isParameter = isa<BlockArgument>(value) && isa<tt::FuncOp>(value.getParentBlock()->getParentOp());
    if (!isParameter && !matchPattern(value, m_Constant()) && !llvm::is_contained(operand.scalars, value))
      operand.scalars.push_back(value);
    return false;
  });
  walk.root(root);
  return isKnown && !operand.loads.empty() && operand.scalars.size() <= mostScalars;
}

/// The buffer that the one dot to use the operand multiplies it from.
std::optional<BufferId> CandidateFinder::tilesOf(const Root &root) {
  if (root.kind != RootKind::Assign || !isa<tt::DotOp>(root.op) || root.offset != 0)
    return std::nullopt;
  const BufferId copy = root.buffers.front();
  std::optional<BufferId> tiles;
  unsigned uses = 0;
  for (const Step &step : body.steps)
    forEachStep(step, [&](const Step &inner) {
      if (!inner.dot)
        return;
      const TileDot &dot = *inner.dot;
      for (const TileDot::Operand *operand : {&dot.a, &dot.b})
        if (!operand->value && operand->buffer == copy) {
          ++uses;
          if (operand == &dot.a || !dot.packed)
            tiles = copy;
          else if (&inner == &step) // packed in every iteration
            tiles = *dot.packed;
        }
    });
  return uses == 1 ? tiles : std::nullopt;
}

void CandidateFinder::addTo(std::vector<Candidate> &candidates) {
  for (Step &step : body.steps) {
    if (step.kind != StepKind::Nest || step.nest->inPlace || step.nest->peeledLoop || step.nest->writesMemory())
      continue;
    for (const Root &root : step.nest->roots) {
      KeptOperand operand;
      const std::optional<BufferId> tiles = tilesOf(root);
      if (!tiles || !findScalars(root, operand))
        continue;
      operand.loop = loop.op;
      operand.tiles = *tiles;
      candidates.push_back({&body, step.nest.get(), root.buffers.front(), std::move(operand)});
    }
  }
}

/// How many tiles to keep in so many bytes; zero where an iteration would never find its own.
static int64_t tileCount(PlanContext &context, const KeptOperand &operand, int64_t bytes) {
  const Buffer &tile = context.plan.buffers[operand.tiles];
  const std::optional<APInt> trips = cast<scf::ForOp>(operand.loop).getStaticTripCount();
  const int64_t ofSet = trips && trips->ule(mostTiles) ? trips->getZExtValue() : mostTiles;
  const int64_t count =
      std::min<int64_t>({bytes / static_cast<int64_t>(tile.bytesOfTile()), mostTiles, ofSet * KeptOperand::mostSets});
  return count > 1 || ofSet == 1 ? count : 0;
}

/// Moves the copy to a nest of its own, before the one that it was part of.
static void keep(PlanContext &context, Candidate &candidate, int64_t bytes) {
  LoopPlan &plan = context.plan;
  KeptOperand &operand = candidate.operand;
  const int64_t count = tileCount(context, operand, bytes);
  if (count == 0)
    return;
  plan.buffers[operand.tiles].tiles = count;
  operand.keys = context.newBuffer(IntegerType::get(operand.loop->getContext(), 64),
                                   {KeptOperand::keyCount(count), operand.wordsOfKey()}, "keys");
  std::vector<Step> &steps = candidate.body->steps;
  size_t index =
      llvm::find_if(steps, [&](const Step &step) { return step.nest.get() == candidate.nest; }) - steps.begin();
  std::vector<Root> &roots = candidate.nest->roots;
  auto root = llvm::find_if(
      roots, [&](const Root &root) { return root.kind == RootKind::Assign && root.buffers.front() == candidate.copy; });
  context.nestOfOnly(root, steps, index).keptOperand = plan.keptOperands.size();
  plan.keptOperands.push_back(std::move(operand));
}

/// Whether the op may change what later loads of the program read, or order them after stores of other programs.
static bool mayOrderLoads(Operation *op) {
  if (auto load = dyn_cast<tt::LoadOp>(op))
    return load.getIsVolatile();
  return !isa<tt::PrintOp, tt::AssertOp, check::ValuesOp>(op) && !isHintOrBarrier(op) && op->getNumRegions() == 0 &&
         !isMemoryEffectFree(op);
}

static Operation *outermostLoop(Operation *loop) {
  while (Operation *outer = loop->getParentOfType<LoopLikeOpInterface>())
    loop = outer;
  return loop;
}

void cpu::reuseOperands(PlanContext &context, tt::FuncOp kernel) {
  Operation *first = nullptr; // in program order
  kernel.getBody().walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!mayOrderLoads(op))
      return WalkResult::advance();
    first = op;
    return WalkResult::interrupt();
  });
  std::vector<Candidate> candidates;
  for (Step &step : context.plan.body.steps)
    forEachStep(step, [&](Step &inner) {
      if (!isa_and_nonnull<scf::ForOp>(inner.op) || inner.kind != StepKind::Control)
        return;
      Operation *outermost = outermostLoop(inner.op);
      const bool endsBefore = !first || (context.positions.lookup(outermost) < context.positions.lookup(first) &&
                                         !outermost->isAncestor(first));
      if (endsBefore)
        CandidateFinder(context, inner).addTo(candidates);
    });
  for (Candidate &candidate : candidates)
    keep(context, candidate, mostBytes / static_cast<int64_t>(candidates.size()));
}
