// Decides which tiles of a loop with `num_stages` are prefetched for the next iteration, and in which nest or dot.
// SPDX-License-Identifier: MIT
//
// A GPU keeps the loads of later iterations in flight while it computes. Here a dot prefetches the next iteration's
// tiles of what was read since the previous dot, a few cache lines for each register block. Where no dot follows, the
// last nest that reads a tile prefetches the next one: the first nests of an iteration wait for memory, the last ones
// compute. In the last iteration a dot prefetches the tile that is stored after the loop: lines that are not in a cache
// when they are written took 7 % of the time of a matmul of 1024. A load is prefetched only where its address moves by
// the same distance at each iteration, known before the loop. Tiles of short rows that lie apart are prefetched in
// every loop: the prefetchers of the processor follow adjacent lines.
//
// Outside of loops the same is done for the next program: for tiles of rows that lie apart, and for small ones that two
// nests read, of which the first would wait for memory and the last for the processor.
#include "compiler/dialect/tt/LoopAttributes.h"
#include "compiler/index/Growth.h"
#include "compiler/target/cpu/plan/PlanBuilder.h"
#include "compiler/target/cpu/prepare/HoistScalars.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

namespace {
/// The nests that read a load.
struct Readers {
  const Nest *last = nullptr;
  bool areSeveral = false;

  void add(const Nest *nest) {
    areSeveral |= last && last != nest;
    last = nest;
  }
};
} // namespace

/// The reading nests of each load, among those directly in the sequence.
static llvm::MapVector<Operation *, Readers> readersOf(const LoopPlan &plan, AffineInfo &affineInfo,
                                                       const Sequence &sequence) {
  llvm::MapVector<Operation *, Readers> readers;
  for (const Step &inner : sequence.steps) {
    if (inner.kind != StepKind::Nest)
      continue;
    for (Operation *load : loadsOf(plan, affineInfo, *inner.nest))
      readers[load].add(inner.nest.get());
  }
  return readers;
}

/// The dot after the nest in the loop's body; null for tiles whose rows are not contiguous.
static Operation *dotAfter(const Sequence &body, const Nest *nest, const AffineForm &form, int64_t size) {
  if (form.steps.size() != 2 ||
      llvm::none_of(form.steps, [&](const Polynomial &stride) { return stride.constant() == size; }))
    return nullptr;
  bool isAfter = false;
  for (const Step &step : body.steps) {
    isAfter |= step.nest.get() == nest;
    if (isAfter && step.dot) // an AMX dot is too short to hide prefetches
      return step.dot->form.usesTiles ? nullptr : step.op;
  }
  return nullptr;
}

/// How many iterations' loads may be in flight: the loop's own `num_stages`, else the launch's for loops with dots.
static int64_t stagesOf(const Step &step, int64_t stagesOfDots) {
  if (auto stages = step.op->getAttrOfType<IntegerAttr>(tt::kNumStages))
    return stages.getInt();
  const bool hasDot = llvm::any_of(step.regions.front().steps, [](const Step &inner) { return inner.dot != nullptr; });
  return hasDot ? stagesOfDots : 1;
}

/// The first store after the loop of a tile with contiguous rows whose address is known before the loop.
static tt::StoreOp storeAfter(scf::ForOp loop, AffineInfo &affineInfo) {
  auto isKnown = [&](Value value) { return isDefinedBefore(value, loop); };
  auto isKnownSum = [&](const Polynomial &sum) { return affineInfo.allScalars(sum, isKnown); };
  for (Operation *op = loop->getNextNode(); op; op = op->getNextNode()) {
    auto store = dyn_cast<tt::StoreOp>(op);
    const AffineForm *form = store ? affineInfo.affine(store.getPtr()) : nullptr;
    if (!form || form->steps.size() != 2 || !form->base || !isKnown(form->base) || !isKnownSum(form->start) ||
        !llvm::all_of(form->steps, isKnownSum))
      continue;
    if (isContiguous(*form, 0, store.getPtr()) || isContiguous(*form, 1, store.getPtr()))
      return store;
  }
  return {};
}

/// Whether the tile's rows are short and lie apart: a prefetcher of the processor, which follows adjacent lines, does
/// not see the next ones.
static bool hasScatteredRows(const AffineForm &form, Value pointer) {
  constexpr int64_t longestRow = 1024; // bytes: what follows a longer one is fetched without being asked for
  const int64_t size = bytesOfPointee(pointer);
  int64_t rowBytes = 0;
  for (auto [dim, extent] : llvm::enumerate(tt::shapeOf(pointer.getType())))
    if (extent != 1 && isContiguous(form, dim, pointer))
      rowBytes = extent * size;
  return rowBytes > 0 && rowBytes <= longestRow && llvm::any_of(form.steps, [&](const Polynomial &stride) {
           const std::optional<int64_t> bytes = stride.constant();
           return !bytes || std::abs(*bytes) > rowBytes;
         });
}

static Prefetches prefetchesOf(PlanContext &context, const Step &step) {
  auto loop = cast<scf::ForOp>(step.op);
  AffineInfo &affineInfo = context.affineInfo;
  const Sequence &body = step.regions.front();
  const bool isPipelined = stagesOf(step, context.stagesOfDots) >= 2;
  index::Growth growth(affineInfo, loop);
  Prefetches prefetches;
  for (auto [load, readers] : readersOf(context.plan, affineInfo, body)) {
    Value pointer = cast<tt::LoadOp>(load).getPtr();
    const AffineForm *affine = affineInfo.assumed(pointer);
    if (!affine || !loop->isAncestor(load) || (!isPipelined && !hasScatteredRows(*affine, pointer)))
      continue;
    const AffineForm form = *affine;
    std::optional<Polynomial> distance = growth.of(form);
    if (!distance || distance->isZero())
      continue;
    Operation *dot = dotAfter(body, readers.last, form, bytesOfPointee(pointer));
    prefetches.tiles.push_back({load, std::move(*distance), readers.last->id, dot});
  }
  if (llvm::any_of(prefetches.tiles, [](const Prefetch &tile) { return tile.dot != nullptr; }))
    prefetches.storeAfter = storeAfter(loop, affineInfo);
  return prefetches;
}

/// The tiles that programs access outside of loops, with the nests that access them.
static SmallVector<std::pair<tt::MemoryAccessOpInterface, Readers>> ownAccesses(const LoopPlan &plan,
                                                                                AffineInfo &affineInfo) {
  SmallVector<std::pair<tt::MemoryAccessOpInterface, Readers>> accesses;
  for (auto [load, readers] : readersOf(plan, affineInfo, plan.body))
    accesses.emplace_back(cast<tt::MemoryAccessOpInterface>(load), readers);
  for (const Step &step : plan.body.steps)
    if (step.kind == StepKind::Nest)
      for (const Root &root : step.nest->roots)
        if (isa_and_nonnull<tt::StoreOp>(root.op) && root.isWrite())
          accesses.emplace_back(root.access(), Readers{step.nest.get()});
  llvm::erase_if(accesses, [&](auto &access) { return access.first->getBlock() != plan.body.block; });
  return accesses;
}

/// Whether the tile ends before the prefetchers of the processor, which begin anew in each page, are well ahead.
static bool isSmall(Value pointer) {
  constexpr int64_t mostBytes = 8 * 1024;
  return llvm::product_of(tt::shapeOf(pointer.getType())) * bytesOfPointee(pointer) <= mostBytes;
}

static Prefetches prefetchesOfPrograms(PlanContext &context, tt::FuncOp kernel) {
  AffineInfo &affineInfo = context.affineInfo;
  index::Growth growth(affineInfo, kernel);
  auto isKnown = [](Value scalar) { return isa<BlockArgument>(scalar); };
  Prefetches prefetches;
  for (auto [access, readers] : ownAccesses(context.plan, affineInfo)) {
    Value pointer = access.getAccessedPointer();
    const AffineForm *form = affineInfo.assumed(pointer);
    if (!form || !(hasScatteredRows(*form, pointer) || (readers.areSeveral && isSmall(pointer))))
      continue;
    std::optional<Polynomial> distance = growth.of(AffineForm(*form));
    if (distance && !distance->isZero() && affineInfo.allScalars(*distance, isKnown))
      prefetches.tiles.push_back({access, std::move(*distance), readers.last->id});
  }
  return prefetches;
}

void cpu::planPrefetches(PlanContext &context, tt::FuncOp kernel) {
  auto add = [&](Operation *loop, Prefetches prefetches) {
    if (!prefetches.tiles.empty())
      context.plan.prefetches[loop] = std::move(prefetches);
  };
  add(nullptr, prefetchesOfPrograms(context, kernel));
  for (const Step &step : context.plan.body.steps)
    forEachStep(step, [&](const Step &inner) {
      if (inner.kind == StepKind::Control && isa<scf::ForOp>(inner.op))
        add(inner.op, prefetchesOf(context, inner));
    });
}
