// Overlaps loads with the dots that use them, over several iterations of a loop.
//
//   for { %x = load; %b = local_alloc %x; dot(local_load %b) }
//     ->  %multi = local_alloc                      // one buffer per iteration in flight
//         copies of the first iterations
//         for { async_wait; copy of a later iteration to %multi[i]; dot(local_load %multi[e]) }
//
// PipelinedLoads.cpp finds the loads, FitLoads.cpp chooses those that fit, ExpandLoop.cpp expands the loop;
// docs/why/pipelining.md describes the whole.
// SPDX-License-Identifier: MIT
#include "compiler/analysis/SharedMemory.h"
#include "compiler/dialect/tt/LoopAttributes.h"
#include "compiler/dialect/tt/Report.h"
#include "compiler/dialect/ttg/AsyncInterfaces.h"
#include "compiler/dialect/ttg/TargetInterface.h"
#include "compiler/passes/ttg/Diagnostics.h"
#include "compiler/passes/ttg/FitLoads.h"
#include "compiler/passes/ttg/LoopSchedule.h"
#include "compiler/passes/ttg/Passes.h"

#include "mlir/IR/IRMapping.h"

#include <array>

namespace nereid::ttg {
#define GEN_PASS_DEF_PIPELINELOOPS
#include "compiler/passes/ttg/Passes.h.inc"
} // namespace nereid::ttg

using namespace mlir;
using namespace nereid;
using namespace nereid::ttg;

//--- multi-buffered allocations ------------------------------------------------------------

namespace {
/// Rewrites one loop.
class Pipeliner {
public:
  /// `savesRegisters`: whether a loop whose tiles are all loaded to registers stores them to shared memory first.
  Pipeliner(scf::ForOp loop, PipelinedLoads pipelined, bool savesRegisters, RewriterBase &rewriter)
      : loop(loop), pipelined(std::move(pipelined)), savesRegisters(savesRegisters), rewriter(rewriter),
        target(targetInterfaceOf(loop)) {}

  bool run();

private:
  void assignSlices();
  Value rematerialise(Value value, unsigned stage);
  void rematerialiseForLaterStages();
  void addCounters();
  void useMultiBuffer(PipelinedLoad &load);
  void addGroup();
  void copyToMultiBuffer(PipelinedLoad &load, Value multiBuffer);
  void addBarriers(AsyncTileLoad first);
  void addTileWait();
  void releaseBarriers(scf::ForOp pipelinedLoop);
  Value view(Value multiBuffer, Value bufferIndex, MemDescType type, unsigned stage);
  void stageNew(Operation *op, unsigned stage) { stages[op] = stage; }
  /// Puts `op` among the ops that begin an iteration.
  void beginWith(Operation *op) {
    stageNew(op, pipelined.lastStage);
    leading.insert(op);
  }
  LoopSchedule schedule();

  scf::ForOp loop;
  PipelinedLoads pipelined;
  const bool savesRegisters;
  RewriterBase &rewriter;
  const TargetInterface *target;                ///< may be null
  llvm::DenseMap<Operation *, unsigned> stages; ///< of ops that are not in the last stage, and of new ops
  llvm::DenseMap<std::pair<Value, unsigned>, Value> rematerialisedValues;
  Value insertIndex, extractIndex, phase;
  Value barriers; ///< one for each buffer that copies of whole tiles fill; null where there are none
  SmallVector<Value> multiBuffers;
  llvm::SmallDenseSet<Operation *, 4> leading; ///< waits that begin an iteration
  Operation *dotWait = nullptr;                ///< of asynchronous dots; may be null
};
} // namespace

/// The operands of a load are computed in its stage, or earlier where another load needs them, too.
void Pipeliner::assignSlices() {
  for (const PipelinedLoad &load : pipelined.loads) {
    stages[load.load] = load.stage;
    for (Operation *op : load.slice) {
      auto [entry, isNew] = stages.try_emplace(op, load.stage);
      entry->second = std::min(entry->second, load.stage);
    }
  }
}

/// Whether a value depends on the induction variable and loop invariants alone.
static bool followsFromIndex(Value value, scf::ForOp loop) {
  if (value == loop.getInductionVar() || loop.isDefinedOutsideOfLoop(value))
    return true;
  Operation *op = value.getDefiningOp();
  return op && op->getBlock() == loop.getBody() && isPure(op) &&
         llvm::all_of(op->getOperands(), [&](Value operand) { return followsFromIndex(operand, loop); });
}

/// Recomputes `value`, of an earlier stage, in `stage`.
Value Pipeliner::rematerialise(Value value, unsigned stage) {
  Operation *op = value.getDefiningOp();
  if (loop.isDefinedOutsideOfLoop(value) || !op || stages.lookup_or(op, pipelined.lastStage) >= stage)
    return value;
  if (Value known = rematerialisedValues.lookup({value, stage}))
    return known;
  IRMapping mapping;
  for (Value operand : op->getOperands())
    mapping.map(operand, rematerialise(operand, stage));
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  Operation *copy = builder.clone(*op, mapping);
  stageNew(copy, stage);
  Value result = copy->getResult(cast<OpResult>(value).getResultNumber());
  return rematerialisedValues[{value, stage}] = result;
}

/// Recomputes offsets and masks that dots use, too, since that costs less than carrying tiles over stages.
void Pipeliner::rematerialiseForLaterStages() {
  SmallVector<Operation *> pipelinedOps;
  for (Operation &op : *loop.getBody())
    if (stages.contains(&op) && isPure(&op))
      pipelinedOps.push_back(&op);
  for (Operation *op : pipelinedOps)
    for (OpResult result : op->getResults()) {
      if (!followsFromIndex(result, loop))
        continue;
      for (OpOperand &use : llvm::make_early_inc_range(result.getUses())) {
        Operation *user = loop.getBody()->findAncestorOpInBlock(*use.getOwner());
        if (!user || user->hasTrait<OpTrait::IsTerminator>())
          continue;
        const unsigned stage = stages.lookup_or(user, pipelined.lastStage);
        if (stage > stages.lookup(op))
          use.set(rematerialise(result, stage));
      }
    }
}

/// Carries the stage indices of the buffers that are filled and read next.
void Pipeliner::addCounters() {
  const Location loc = loop.getLoc();
  rewriter.setInsertionPoint(loop);
  Value zero = arith::ConstantIntOp::create(rewriter, loc, 0, 32);
  Value one = arith::ConstantIntOp::create(rewriter, loc, 1, 32);
  Value count = arith::ConstantIntOp::create(rewriter, loc, pipelined.numBuffers(), 32);
  auto next = [&](OpBuilder &builder, Location, ArrayRef<BlockArgument> counters) {
    SmallVector<Value> following;
    Value wraps;
    const std::array<unsigned, 2> indexStages = {pipelined.copyStage, pipelined.lastStage};
    for (auto [bufferIndex, stage] : llvm::zip_equal(counters.take_front(2), indexStages)) {
      auto sum = arith::AddIOp::create(builder, loc, bufferIndex, one);
      auto isLast = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, sum, count);
      auto wrapped = arith::SelectOp::create(builder, loc, isLast, zero, sum);
      for (Operation *op : {sum.getOperation(), isLast.getOperation(), wrapped.getOperation()})
        stageNew(op, stage);
      following.push_back(wrapped);
      wraps = isLast;
    }
    // The parity of the phase of the buffers read next.
    auto other = arith::XOrIOp::create(builder, loc, counters[2], one);
    auto parity = arith::SelectOp::create(builder, loc, wraps, other, counters[2]);
    for (Operation *op : {other.getOperation(), parity.getOperation()})
      stageNew(op, pipelined.lastStage);
    following.push_back(parity);
    return following;
  };
  // Adding carried values to a loop cannot fail.
  loop = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(rewriter, {zero, zero, zero}, false, next));
  const auto counters = loop.getRegionIterArgs().take_back(3);
  insertIndex = counters[0];
  extractIndex = counters[1];
  phase = counters[2];
}

Value Pipeliner::view(Value multiBuffer, Value bufferIndex, MemDescType type, unsigned stage) {
  auto index = MemDescIndexOp::create(rewriter, loop.getLoc(), type, multiBuffer, bufferIndex);
  stageNew(index, stage);
  return index;
}

/// Starts the copy of a loaded tile to the buffer that is filled next.
void Pipeliner::copyToMultiBuffer(PipelinedLoad &load, Value multiBuffer) {
  const Location loc = load.load->getLoc();
  auto type = MemDescType::get(load.buffer.getShape(), load.buffer.getElementType(), load.buffer.getEncoding(),
                               load.buffer.getMemorySpace(), /*mutable=*/true);
  rewriter.setInsertionPoint(load.load);
  Value buffer = view(multiBuffer, insertIndex, type, pipelined.copyStage);
  Operation *copy;
  if (auto tile = load.tile()) {
    Value barrier = view(barriers, insertIndex, target->barrierType(loop.getContext(), 0), pipelined.copyStage);
    auto always = arith::ConstantIntOp::create(rewriter, loc, 1, 1);
    stageNew(always, pipelined.copyStage);
    copy = tile.createCopy(rewriter, barrier, buffer, always);
  } else {
    auto ofPointers = cast<tt::LoadOp>(load.load);
    copy = AsyncCopyGlobalToLocalOp::create(rewriter, loc, AsyncTokenType::get(loop.getContext()), ofPointers.getPtr(),
                                            buffer, ofPointers.getMask(), Value(), ofPointers.getCache(),
                                            ofPointers.getEvict());
    if (Attribute bounded = ofPointers->getDiscardableAttr(kBoundedOffset))
      copy->setDiscardableAttr(kBoundedOffset, bounded);
  }
  stageNew(copy, pipelined.copyStage);
}

/// Allocates the barriers, and sets the bytes that each iteration's copies bring to one.
void Pipeliner::addBarriers(AsyncTileLoad first) {
  const Location loc = loop.getLoc();
  rewriter.setInsertionPoint(loop);
  barriers = LocalAllocOp::create(rewriter, loc, target->barrierType(loop.getContext(), pipelined.numBuffers()),
                                  Value(), IntegerAttr());
  target->createInit(rewriter, loc, barriers);
  unsigned bytes = 0;
  for (const PipelinedLoad &load : pipelined.loads)
    if (load.buffer && load.isTileLoad)
      bytes += analysis::bufferBytes(load.buffer);
  rewriter.setInsertionPoint(first);
  Value barrier = view(barriers, insertIndex, target->barrierType(loop.getContext(), 0), pipelined.copyStage);
  auto always = arith::ConstantIntOp::create(rewriter, loc, 1, 1);
  stageNew(always, pipelined.copyStage);
  stageNew(target->createExpect(rewriter, loc, barrier, bytes, always), pipelined.copyStage);
}

/// Waits for the copies of whole tiles at the start of an iteration.
void Pipeliner::addTileWait() {
  rewriter.setInsertionPointToStart(loop.getBody());
  Value barrier = view(barriers, extractIndex, target->barrierType(loop.getContext(), 0), pipelined.lastStage);
  beginWith(barrier.getDefiningOp());
  beginWith(target->createWait(rewriter, loop.getLoc(), barrier, phase));
}

void Pipeliner::useMultiBuffer(PipelinedLoad &load) {
  const Location loc = load.load->getLoc();
  const MemDescType part = load.buffer;
  SmallVector<int64_t> shape = {pipelined.numBuffers()};
  llvm::append_range(shape, part.getShape());
  rewriter.setInsertionPoint(loop);
  const IntegerAttr alignment = load.allocation ? load.allocation.getAlignmentAttr() : IntegerAttr();
  Value multiBuffer = multiBuffers.emplace_back(LocalAllocOp::create(
      rewriter, loc,
      MemDescType::get(shape, part.getElementType(), part.getEncoding(), part.getMemorySpace(), /*mutable=*/true),
      Value(), alignment));
  copyToMultiBuffer(load, multiBuffer);
  Operation *replaced = load.allocation ? load.allocation.getOperation() : load.load;
  rewriter.setInsertionPoint(replaced);
  Value source = view(multiBuffer, extractIndex, part, pipelined.lastStage);
  if (!load.allocation)
    source = LocalLoadOp::create(rewriter, loc, load.load->getResult(0).getType(), source);
  rewriter.replaceOp(replaced, source);
  stages.erase(load.load);
  if (load.allocation)
    rewriter.eraseOp(load.load);
}

/// Commits an iteration's copies as a group, and waits for one at the start of an iteration.
void Pipeliner::addGroup() {
  if (target)
    target->eraseIdleFences(loop, rewriter);
  if (!pipelined.hasThreadCopies())
    return;
  const Location loc = loop.getLoc();
  auto token = AsyncTokenType::get(loop.getContext());
  for (Operation &op : *loop.getBody())
    if (isa<AsyncCopyGlobalToLocalOp>(op))
      rewriter.setInsertionPointAfter(&op);
  stageNew(AsyncCommitGroupOp::create(rewriter, loc, token, ValueRange()), pipelined.copyStage);
  rewriter.setInsertionPointToStart(loop.getBody());
  beginWith(AsyncWaitOp::create(rewriter, loc, token, ValueRange(), pipelined.numBuffers() - 2));
}

//--- the schedule --------------------------------------------------------------------------

/// Adds `op` and what it needs of `ops` to `slice`; false where that is more than loads and arithmetic on elements.
static bool collectSlice(Operation *op, const llvm::DenseSet<Operation *> &ops, llvm::SetVector<Operation *> &slice) {
  for (Value operand : op->getOperands()) {
    Operation *needed = operand.getDefiningOp();
    if (!ops.contains(needed) || slice.contains(needed))
      continue;
    const bool isSimple = isa<tt::LoadOp>(needed) || (isPure(needed) && needed->getNumRegions() == 0);
    if (!isSimple || isa<tt::DotOpInterface>(needed) || !collectSlice(needed, ops, slice))
      return false;
  }
  slice.insert(op);
  return true;
}

/// Moves the stores of tiles to shared memory, with what they need, to the front: first those of tiles that are in
/// registers, then those that are loaded in this iteration. Returns the number of these ops.
static size_t storeFirst(std::vector<Operation *> &ops) {
  const llvm::DenseSet<Operation *> all(ops.begin(), ops.end());
  llvm::SetVector<Operation *> stored, loaded;
  for (Operation *op : ops) {
    llvm::SetVector<Operation *> slice;
    if (isa<LocalAllocOp>(op)) {
      if (collectSlice(op, all, slice))
        (llvm::any_of(slice, llvm::IsaPred<tt::LoadOp>) ? loaded : stored).insert_range(slice);
    } else if (!isMemoryEffectFree(op) && !isa<tt::LoadOp, LocalLoadOp>(op)) {
      break; // loads stay after what may write
    }
  }
  auto rank = [&](Operation *op) { return stored.contains(op) ? 0 : loaded.contains(op) ? 1 : 2; };
  llvm::stable_sort(ops, [&](Operation *a, Operation *b) { return rank(a) < rank(b); });
  return llvm::count_if(ops, [&](Operation *op) { return rank(op) < 2; });
}

/// An iteration waits for its copies, starts those of later iterations and then computes. One barrier after the wait
/// also keeps the copies from buffers that are still being read. Asynchronous dots start before the copies, which then
/// fill the buffers that the dots of the previous iteration have read, after another barrier. Where all tiles are
/// loaded to registers instead, they may be stored to shared memory before the loads of later iterations need as many.
LoopSchedule Pipeliner::schedule() {
  LoopSchedule result;
  result.lastStage = pipelined.lastStage;
  std::vector<std::vector<Operation *>> byStage(pipelined.lastStage + 1);
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (leading.contains(&op))
      result.entries.push_back({&op, pipelined.lastStage});
    else
      byStage[stages.lookup_or(&op, pipelined.lastStage)].push_back(&op);
  }
  std::vector<Operation *> &lastOps = byStage[pipelined.lastStage];
  auto rest = dotWait ? std::next(llvm::find(lastOps, dotWait)) : lastOps.begin();
  if (savesRegisters && !pipelined.hasMultiBuffers())
    rest += storeFirst(lastOps);
  for (Operation *op : llvm::make_range(lastOps.begin(), rest))
    result.entries.push_back({op, pipelined.lastStage});
  for (unsigned stage = pipelined.lastStage; stage-- > 0;)
    for (Operation *op : byStage[stage])
      result.entries.push_back({op, stage});
  for (Operation *op : llvm::make_range(rest, lastOps.end()))
    result.entries.push_back({op, pipelined.lastStage});
  return result;
}

bool Pipeliner::run() {
  assignSlices();
  if (std::string reason = reasonNotExpandable(loop, schedule()); !reason.empty()) {
    tt::report(loop.getLoc(), diag::LoopNotPipelined, reason);
    return false;
  }
  if (pipelined.firstTileCopy() && !target) {
    tt::report(loop.getLoc(), diag::LoopNotPipelined, "the module names no target that copies whole tiles");
    return false;
  }
  rematerialiseForLaterStages();
  const Location loc = loop.getLoc();
  auto token = AsyncTokenType::get(loop.getContext());
  if (pipelined.hasMultiBuffers()) {
    addCounters();
    if (AsyncTileLoad first = pipelined.firstTileCopy())
      addBarriers(first);
    for (PipelinedLoad &load : pipelined.loads)
      if (load.buffer)
        useMultiBuffer(load);
    addGroup();
    if (barriers)
      addTileWait();
    dotWait = target ? target->makeDotsAsync(loop, multiBuffers, rewriter) : nullptr;
  }
  scf::ForOp pipelinedLoop = expandLoop(loop, schedule(), rewriter);
  pipelinedLoop->setAttr(tt::kScheduledStage, rewriter.getI32IntegerAttr(pipelined.lastStage));
  rewriter.setInsertionPointAfter(dotWait ? pipelinedLoop->getNextNode() : pipelinedLoop.getOperation());
  if (pipelined.hasThreadCopies())
    AsyncWaitOp::create(rewriter, loc, token, ValueRange(), 0);
  for (Value multiBuffer : multiBuffers)
    LocalDeallocOp::create(rewriter, loc, multiBuffer);
  if (barriers)
    releaseBarriers(pipelinedLoop);
  return true;
}

/// The barriers of a loop that a kernel runs once stay valid to its end: to invalidate them costs more than their few
/// bytes.
void Pipeliner::releaseBarriers(scf::ForOp pipelinedLoop) {
  auto function = dyn_cast<tt::FuncOp>(pipelinedLoop->getParentOp());
  if (function && function.isPublic())
    rewriter.setInsertionPoint(pipelinedLoop->getBlock()->getTerminator());
  else
    target->createInvalidate(rewriter, pipelinedLoop.getLoc(), barriers);
  LocalDeallocOp::create(rewriter, pipelinedLoop.getLoc(), barriers);
}

//--- loops to pipeline ---------------------------------------------------------------------

/// Whether this pass pipelines the loop's loads.
static bool isWanted(scf::ForOp loop) {
  return hasDots(loop) || llvm::any_of(*loop.getBody(), llvm::IsaPred<AsyncTileLoad>);
}

namespace {
struct PipelineLoops : ttg::impl::PipelineLoopsBase<PipelineLoops> {
  using PipelineLoopsBase::PipelineLoopsBase;

  void runOnOperation() final {
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) {
      if (isWanted(loop))
        loops.push_back(loop);
    });
    if (loops.empty())
      return;
    const index::AxisInfoAnalysis axisInfo(getOperation());
    IRRewriter rewriter(&getContext());
    const LoopLimits limits = {.sharedBytes = maxBytes, .registers = maxRegisters, .mayCopy = mayCopy};
    for (scf::ForOp loop : loops) {
      auto asked = loop->getAttrOfType<IntegerAttr>(tt::kNumStages);
      const unsigned stages = asked ? asked.getInt() : defaultStages;
      loop->removeAttr(tt::kNumStages);
      if (stages < 2)
        continue;
      PipelinedLoads pipelined = fitLoads(loop, axisInfo, stages, limits);
      if (!pipelined.loads.empty() && Pipeliner(loop, std::move(pipelined), savesRegisters, rewriter).run())
        ++numPipelined;
    }
  }
};
} // namespace
