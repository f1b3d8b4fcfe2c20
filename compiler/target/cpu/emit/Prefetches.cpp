// Chooses which loads of a loop with `num_stages` prefetch the next iteration's data, and in which nest they do so.
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
#include "compiler/target/cpu/emit/Prefetches.h"

#include "compiler/dialect/tt/LoopAttributes.h"
#include "compiler/target/cpu/emit/Growth.h"
#include "compiler/target/cpu/plan/Expressions.h"
#include "compiler/target/cpu/prepare/HoistScalars.h"

#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

namespace {
/// Growth for each iteration of a loop.
class LoopGrowth final : public Growth {
public:
  LoopGrowth(scf::ForOp loop, AffineInfo &affineInfo) : Growth(affineInfo), loop(loop) {}

private:
  bool isInvariant(Value value) override { return loop.isDefinedOutsideOfLoop(value); }
  bool isCounter(Value value) override { return value == loop.getInductionVar(); }
  std::optional<Polynomial> step() override { return invariant(loop.getStep()); }

  std::optional<Polynomial> ofArgument(BlockArgument argument) override {
    if (argument.getOwner() != loop.getBody())
      return std::nullopt;
    Value value = loop.getTiedLoopYieldedValue(argument)->get();
    Polynomial total;
    for (unsigned depth = 0; value != argument; ++depth) {
      Operation *op = value.getDefiningOp();
      if (depth > maxDepth || !isa_and_nonnull<arith::AddIOp, tt::AddPtrOp>(op))
        return std::nullopt;
      const std::optional<Polynomial> step = invariant(op->getOperand(1));
      if (!step)
        return std::nullopt;
      auto sum = total.plus(*step, isa<tt::AddPtrOp>(op) ? bytesOf(op) : 1);
      if (!sum)
        return std::nullopt;
      total = std::move(*sum);
      value = op->getOperand(0);
    }
    return total;
  }

  scf::ForOp loop;
};

/// Growth from one program to the next one along the first axis of the grid.
class ProgramGrowth final : public Growth {
public:
  ProgramGrowth(tt::FuncOp kernel, AffineInfo &affineInfo) : Growth(affineInfo), body(kernel.getBody().front()) {
    kernel.walk([&](tt::GetProgramIdOp op) {
      if (isCounter(op.getResult()))
        addDependent(op);
    });
  }

private:
  bool isInvariant(Value value) override { return !dependent.contains(value); }
  bool isCounter(Value value) override {
    auto id = value.getDefiningOp<tt::GetProgramIdOp>();
    return id && static_cast<int>(id.getAxis()) == 0;
  }
  std::optional<Polynomial> step() override { return Polynomial::ofConstant(1); }
  std::optional<Polynomial> ofArgument(BlockArgument) override { return std::nullopt; }

  /// The results of an op in the kernel's body, or of the loop or branch that contains the op, and all that use them.
  void addDependent(Operation *op) {
    SmallVector<Operation *> waiting{op};
    while (!waiting.empty()) {
      Operation *outer = body.findAncestorOpInBlock(*waiting.pop_back_val());
      for (Value result : outer->getResults())
        if (dependent.insert(result).second)
          llvm::append_range(waiting, result.getUsers());
    }
  }

  Block &body;
  llvm::DenseSet<Value> dependent;
};

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

/// Those of each load, among the nests directly in the sequence.
static llvm::MapVector<Operation *, Readers> readersOf(const LoopPlan &plan, AffineInfo &affineInfo,
                                                       const Sequence &sequence) {
  llvm::MapVector<Operation *, Readers> readers;
  for (const Step &inner : sequence.steps) {
    if (inner.kind != StepKind::Nest)
      continue;
    ExpressionWalk walk(affineInfo, [&](Value value, const IndexMap &) {
      if (plan.bufferOf.contains(value))
        return false;
      if (value.getDefiningOp<tt::LoadOp>() && isa<RankedTensorType>(value.getType()))
        readers[value.getDefiningOp()].add(inner.nest.get());
      return true;
    });
    for (const Root &root : inner.nest->roots) {
      walk.root(root);
      if (root.kind == RootKind::Materialise && root.value.getDefiningOp<tt::LoadOp>())
        readers[root.value.getDefiningOp()].add(inner.nest.get());
    }
  }
  return readers;
}

/// The dot after the nest in the loop's body; null for tiles whose rows are not contiguous.
static const TileDot *dotAfter(const Sequence &body, const Nest *nest, const AffineForm &form, int64_t size) {
  if (form.steps.size() != 2 ||
      llvm::none_of(form.steps, [&](const Polynomial &stride) { return stride.constant() == size; }))
    return nullptr;
  bool isAfter = false;
  for (const Step &step : body.steps) {
    isAfter |= step.nest.get() == nest;
    if (isAfter && step.dot) // an AMX dot is too short to hide prefetches
      return step.dot->form.usesTiles ? nullptr : step.dot.get();
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

void PrefetchValues::beginIteration(const Step &step, llvm::Value *index) {
  auto loop = cast<scf::ForOp>(step.op);
  const bool isPipelined = stagesOf(step, stagesOfDots) >= 2;
  LoopGrowth growth(loop, context.affineInfo);
  llvm::Value *hasNext = nullptr;
  for (auto [load, readers] : readersOf(context.plan, context.affineInfo, step.regions.front())) {
    const Nest *nest = readers.last;
    const AffineForm *form = context.affineInfo.assumed(cast<tt::LoadOp>(load).getPtr());
    if (!form || !loop->isAncestor(load))
      continue;
    if (!isPipelined && !hasScatteredRows(*form, cast<tt::LoadOp>(load).getPtr()))
      continue;
    const std::optional<Polynomial> distance = growth.of(AffineForm(*form));
    if (!distance || distance->isZero())
      continue;
    if (!hasNext) {
      llvm::Value *next = ir.CreateAdd(index, context.scalars.of(loop.getStep())),
                  *upper = context.scalars.of(loop.getUpperBound());
      hasNext = loop.getUnsignedCmp() ? ir.CreateICmpULT(next, upper) : ir.CreateICmpSLT(next, upper);
    }
    llvm::Value *bytes = ir.CreateSelect(hasNext, context.scalars.poly(*distance), ir.getInt64(0));
    const int64_t size = storageBytes(tt::elementOf(load->getResult(0).getType()));
    const AffineForm again = *context.affineInfo.assumed(cast<tt::LoadOp>(load).getPtr());
    if (const TileDot *dot = dotAfter(step.regions.front(), nest, again, size))
      ofDots[dot].loads.emplace_back(load, bytes);
    else
      distances[{load, nest->id}] = bytes;
  }
  tt::StoreOp store = hasNext ? storeAfter(loop, context.affineInfo) : tt::StoreOp();
  for (const Step &inner : step.regions.front().steps)
    if (auto found = ofDots.find(inner.dot.get()); store && inner.dot && found != ofDots.end()) {
      found->second.store = store;
      found->second.isLast = ir.CreateNot(hasNext);
    }
}

/// The tiles that programs access outside of loops, with the nests that do so.
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

void PrefetchValues::beginProgram(tt::FuncOp kernel) {
  ProgramGrowth growth(kernel, context.affineInfo);
  auto isKnown = [](Value scalar) { return isa<BlockArgument>(scalar); };
  llvm::Value *hasNext = nullptr;
  for (auto [access, readers] : ownAccesses(context.plan, context.affineInfo)) {
    Value pointer = access.getAccessedPointer();
    const AffineForm *form = context.affineInfo.assumed(pointer);
    if (!form || !(hasScatteredRows(*form, pointer) || (readers.areSeveral && isSmall(pointer))))
      continue;
    const std::optional<Polynomial> distance = growth.of(AffineForm(*form));
    if (!distance || distance->isZero() || !context.affineInfo.allScalars(*distance, isKnown))
      continue;
    if (!hasNext)
      hasNext = ir.CreateICmpULT(ir.CreateAdd(context.program.id[0], ir.getInt32(1)), context.program.gridSize[0]);
    distances[{access, readers.last->id}] = ir.CreateSelect(hasNext, context.scalars.poly(*distance), ir.getInt64(0));
  }
}
