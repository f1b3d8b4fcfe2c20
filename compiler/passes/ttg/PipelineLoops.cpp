// Overlaps loads with the products that need them, over several iterations of a loop.
//
//   for { %x = load; %b = local_alloc %x; dot(local_load %b) }
//     ->  %ring = local_alloc                       // a buffer for each iteration under way
//         copies of the first iterations
//         for { async_wait; copy of a later iteration to %ring[i]; dot(local_load %ring[e]) }
//
// Which loads run ahead is PipelinedLoads.cpp's business, the expansion ExpandLoop.cpp's; docs/why/pipelining.md has
// the whole.
// SPDX-License-Identifier: MIT
#include "compiler/analysis/MemoryAccess.h"
#include "compiler/analysis/SharedMemory.h"
#include "compiler/dialect/tt/Report.h"
#include "compiler/dialect/ttng/Dialect.h"
#include "compiler/passes/ttg/AsyncDots.h"
#include "compiler/passes/ttg/Diagnostics.h"
#include "compiler/passes/ttg/LoopAttributes.h"
#include "compiler/passes/ttg/LoopSchedule.h"
#include "compiler/passes/ttg/Passes.h"
#include "compiler/passes/ttg/PipelinedLoads.h"

#include "mlir/IR/IRMapping.h"

#include <array>

namespace nereid::ttg {
#define GEN_PASS_DEF_PIPELINELOOPS
#include "compiler/passes/ttg/Passes.h.inc"
} // namespace nereid::ttg

using namespace mlir;
using namespace nereid;
using namespace nereid::ttg;

//--- rings ---------------------------------------------------------------------------------

namespace {
/// The rewriting of one loop.
class Pipeliner {
public:
  Pipeliner(scf::ForOp loop, PipelinedLoads pipelined, RewriterBase &rewriter)
      : loop(loop), pipelined(std::move(pipelined)), rewriter(rewriter) {}

  bool run();

private:
  void assignSlices();
  Value rematerialise(Value value, unsigned stage);
  void rematerialiseForLaterStages();
  void addCounters();
  void useMultiBuffer(PipelinedLoad &load);
  void addGroup();
  void copyToMultiBuffer(PipelinedLoad &load, Value multiBuffer);
  void addBarriers();
  void addTmaWait();
  Value view(Value multiBuffer, Value bufferIndex, MemDescType type, unsigned stage);
  void stageNew(Operation *op, unsigned stage) { stages[op] = stage; }
  LoopSchedule schedule();

  scf::ForOp loop;
  PipelinedLoads pipelined;
  RewriterBase &rewriter;
  llvm::DenseMap<Operation *, unsigned> stages; ///< of ops that are not in the last stage, and of new ones
  llvm::DenseMap<std::pair<Value, unsigned>, Value> rematerialisedValues;
  Value insertIndex, extractIndex, phase;
  Value barriers; ///< one for each buffer of the rings that the copy engine fills; null where there are none
  SmallVector<Value> multiBuffers;
  ttng::WarpGroupDotWaitOp dotWait; ///< of products that run beside the threads; may be null
};
} // namespace

/// What a load needs runs with it, or earlier where another load needs it, too.
void Pipeliner::assignSlices() {
  for (const PipelinedLoad &load : pipelined.loads) {
    stages[load.load] = load.stage;
    for (Operation *op : load.slice) {
      auto [entry, isNew] = stages.try_emplace(op, load.stage);
      entry->second = std::min(entry->second, load.stage);
    }
  }
}

/// Whether a value follows from the induction variable and what does not change alone.
static bool followsFromIndex(Value value, scf::ForOp loop) {
  if (value == loop.getInductionVar() || loop.isDefinedOutsideOfLoop(value))
    return true;
  Operation *op = value.getDefiningOp();
  return op && op->getBlock() == loop.getBody() && isPure(op) &&
         llvm::all_of(op->getOperands(), [&](Value operand) { return followsFromIndex(operand, loop); });
}

/// `value`, of an earlier stage, computed once more in `stage`.
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
  Value made = copy->getResult(cast<OpResult>(value).getResultNumber());
  return rematerialisedValues[{value, stage}] = made;
}

/// Offsets and masks that products use, too, are computed for them once more: cheaper than to carry tiles over stages.
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

/// Carries the numbers of the buffers that are filled and read next.
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
    // The parity of the phase that the buffers read next have.
    auto other = arith::XOrIOp::create(builder, loc, counters[2], one);
    auto parity = arith::SelectOp::create(builder, loc, wraps, other, counters[2]);
    for (Operation *op : {other.getOperation(), parity.getOperation()})
      stageNew(op, pipelined.lastStage);
    following.push_back(parity);
    return following;
  };
  // A loop can always carry more.
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

/// Starts the copy of what is loaded to the ring's buffer that is filled next.
void Pipeliner::copyToMultiBuffer(PipelinedLoad &load, Value multiBuffer) {
  const Location loc = load.load->getLoc();
  auto type = MemDescType::get(load.buffer.getShape(), load.buffer.getElementType(), load.buffer.getEncoding(),
                               load.buffer.getMemorySpace(), /*mutable=*/true);
  rewriter.setInsertionPoint(load.load);
  Value target = view(multiBuffer, insertIndex, type, pipelined.copyStage);
  Operation *copy;
  if (auto tile = load.tile()) {
    Value barrier = view(barriers, insertIndex, ttng::barrierType(loop.getContext(), 0), pipelined.copyStage);
    auto always = arith::ConstantIntOp::create(rewriter, loc, 1, 1);
    stageNew(always, pipelined.copyStage);
    copy = ttng::AsyncTmaCopyGlobalToLocalOp::create(rewriter, loc, tile.getTensorMap(), tile.getIndices(), barrier,
                                                     target, always, tile.getBlockAttr(), tile.getEvictAttr());
  } else {
    auto ofPointers = cast<tt::LoadOp>(load.load);
    copy = AsyncCopyGlobalToLocalOp::create(rewriter, loc, AsyncTokenType::get(loop.getContext()), ofPointers.getPtr(),
                                            target, ofPointers.getMask(), Value(), ofPointers.getCache(),
                                            ofPointers.getEvict());
  }
  stageNew(copy, pipelined.copyStage);
}

/// The barriers, and the bytes that each turn's copies bring to one.
void Pipeliner::addBarriers() {
  const Location loc = loop.getLoc();
  rewriter.setInsertionPoint(loop);
  barriers = LocalAllocOp::create(rewriter, loc, ttng::barrierType(loop.getContext(), pipelined.numBuffers()), Value(),
                                  IntegerAttr());
  ttng::InitBarrierOp::create(rewriter, loc, barriers, 1);
  unsigned bytes = 0;
  Operation *first = nullptr;
  for (const PipelinedLoad &load : pipelined.loads)
    if (load.buffer && load.isTma) {
      bytes += llvm::product_of(load.buffer.getShape()) * load.buffer.getElementType().getIntOrFloatBitWidth() / 8;
      if (!first || load.load->isBeforeInBlock(first))
        first = load.load;
    }
  rewriter.setInsertionPoint(first);
  Value barrier = view(barriers, insertIndex, ttng::barrierType(loop.getContext(), 0), pipelined.copyStage);
  auto always = arith::ConstantIntOp::create(rewriter, loc, 1, 1);
  stageNew(always, pipelined.copyStage);
  stageNew(ttng::BarrierExpectOp::create(rewriter, loc, barrier, bytes, always), pipelined.copyStage);
}

/// At the start of a turn.
void Pipeliner::addTmaWait() {
  rewriter.setInsertionPointToStart(loop.getBody());
  Value barrier = view(barriers, extractIndex, ttng::barrierType(loop.getContext(), 0), pipelined.lastStage);
  stageNew(ttng::WaitBarrierOp::create(rewriter, loop.getLoc(), barrier, phase), pipelined.lastStage);
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

/// Whether a matrix unit reads the buffer by itself.
static bool isReadByTensorCore(Value buffer) {
  return llvm::any_of(buffer.getUsers(), [](Operation *user) {
    return isa<ttng::WarpGroupDotOp>(user) ||
           (isa<MemDescTransOp, MemDescIndexOp>(user) && isReadByTensorCore(user->getResult(0)));
  });
}

/// A fence behind buffers that are filled no more by the threads' stores.
static bool isIdle(ttng::FenceAsyncSharedOp fence) {
  for (Operation *op = fence->getPrevNode(); isa_and_nonnull<MemDescTransOp, MemDescIndexOp, LocalAllocOp>(op);
       op = op->getPrevNode())
    if (isa<LocalAllocOp>(op))
      return false;
  return true;
}

/// Closes the group of a turn's copies, and waits for one at the start of a turn. What a thread copied is fenced there,
/// too.
void Pipeliner::addGroup() {
  for (auto fence : llvm::make_early_inc_range(loop.getBody()->getOps<ttng::FenceAsyncSharedOp>()))
    if (isIdle(fence))
      rewriter.eraseOp(fence);
  if (!pipelined.hasThreadCopies())
    return;
  const Location loc = loop.getLoc();
  auto token = AsyncTokenType::get(loop.getContext());
  for (Operation &op : *loop.getBody())
    if (isa<AsyncCopyGlobalToLocalOp>(op))
      rewriter.setInsertionPointAfter(&op);
  stageNew(AsyncCommitGroupOp::create(rewriter, loc, token, ValueRange()), pipelined.copyStage);
  rewriter.setInsertionPointToStart(loop.getBody());
  stageNew(AsyncWaitOp::create(rewriter, loc, token, ValueRange(), pipelined.numBuffers() - 2), pipelined.lastStage);
  if (llvm::any_of(multiBuffers, isReadByTensorCore))
    stageNew(ttng::FenceAsyncSharedOp::create(rewriter, loc, /*bCluster=*/false), pipelined.lastStage);
}

//--- the schedule --------------------------------------------------------------------------

/// A turn waits for its copies, starts those of later iterations and then computes: one barrier, behind the wait, also
/// keeps the copies from buffers that are still being read. Products that run beside the threads are started before the
/// copies, which then fill what the products of the turn before have read, behind a barrier of their own.
LoopSchedule Pipeliner::schedule() {
  LoopSchedule result;
  result.lastStage = pipelined.lastStage;
  std::vector<std::vector<Operation *>> byStage(pipelined.lastStage + 1);
  for (Operation &op : loop.getBody()->without_terminator()) {
    const bool isWait = isa<AsyncWaitOp, ttng::FenceAsyncSharedOp, ttng::WaitBarrierOp>(op) ||
                        (isa<MemDescIndexOp>(op) && llvm::any_of(op.getUsers(), llvm::IsaPred<ttng::WaitBarrierOp>));
    if (isWait && stages.contains(&op))
      result.entries.push_back({&op, pipelined.lastStage});
    else
      byStage[stages.lookup_or(&op, pipelined.lastStage)].push_back(&op);
  }
  std::vector<Operation *> &lastOps = byStage[pipelined.lastStage];
  auto rest = dotWait ? std::next(llvm::find(lastOps, dotWait.getOperation())) : lastOps.begin();
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
  rematerialiseForLaterStages();
  const Location loc = loop.getLoc();
  auto token = AsyncTokenType::get(loop.getContext());
  if (pipelined.hasMultiBuffers()) {
    addCounters();
    if (pipelined.hasTmaCopies())
      addBarriers();
    for (PipelinedLoad &load : pipelined.loads)
      if (load.buffer)
        useMultiBuffer(load);
    addGroup();
    if (barriers)
      addTmaWait();
    dotWait = makeDotsAsync(loop, multiBuffers, rewriter);
  }
  scf::ForOp made = expandLoop(loop, schedule(), rewriter);
  made->setAttr(kScheduledStage, rewriter.getI32IntegerAttr(pipelined.lastStage));
  rewriter.setInsertionPointAfter(dotWait ? made->getNextNode() : made.getOperation());
  if (pipelined.hasThreadCopies())
    AsyncWaitOp::create(rewriter, loc, token, ValueRange(), 0);
  if (barriers) {
    ttng::InvalBarrierOp::create(rewriter, loc, barriers);
    LocalDeallocOp::create(rewriter, loc, barriers);
  }
  for (Value multiBuffer : multiBuffers)
    LocalDeallocOp::create(rewriter, loc, multiBuffer);
  return true;
}

//--- which loops ---------------------------------------------------------------------------

/// Shared memory through which a tile goes that is read or written through a map; whole panels.
static unsigned bytesOfTile(Operation *op) {
  Value tile = isa<ttng::TileLoadOp>(op) ? op->getResult(0) : Value();
  if (auto store = dyn_cast<ttng::TileStoreOp>(op))
    tile = store.getSrc();
  if (!tile)
    return 0;
  auto type = cast<RankedTensorType>(tile.getType());
  return llvm::alignTo(type.getNumElements() * analysis::memoryBits(type.getElementType()) / 8, 1024);
}

/// Shared memory that a loop needs beside its rings, at most.
static unsigned otherSharedBytes(scf::ForOp loop, const PipelinedLoads &pipelined) {
  unsigned bytes = 0;
  loop->getParentOfType<tt::FuncOp>().walk([&](Operation *op) {
    const bool isReplaced = llvm::any_of(pipelined.loads, [&](const PipelinedLoad &load) {
      return load.allocation == op || (load.buffer && load.load == op);
    });
    const bool isAlive =
        loop->isAncestor(op) || (isa<LocalAllocOp>(op) &&
                                 llvm::any_of(op->getUsers(), [&](Operation *user) { return loop->isAncestor(user); }));
    if (isAlive && !isReplaced)
      bytes += analysis::bufferBytes(op) + bytesOfTile(op);
  });
  return bytes;
}

static unsigned totalSharedBytes(scf::ForOp loop, const PipelinedLoads &pipelined) {
  return pipelined.multiBufferBytes() + otherSharedBytes(loop, pipelined);
}

/// Loops whose loads start ahead by this pass.
static bool isWanted(scf::ForOp loop) { return hasDots(loop) || !loop.getBody()->getOps<ttng::TileLoadOp>().empty(); }

namespace {
struct PipelineLoops : ttg::impl::PipelineLoopsBase<PipelineLoops> {
  using PipelineLoopsBase::PipelineLoopsBase;

  /// As many stages as shared memory has room for; where it has none for two, fewer loads.
  PipelinedLoads fit(scf::ForOp loop, const analysis::AxisInfoAnalysis &axisInfo, unsigned asked) {
    PipelinedLoads pipelined;
    for (unsigned stages = asked; stages > 1; --stages) {
      pipelined = findPipelinedLoads(loop, axisInfo, stages, mayCopy);
      if (!pipelined.hasMultiBuffers() || totalSharedBytes(loop, pipelined) <= maxBytes) {
        if (stages < asked)
          tt::report(loop.getLoc(), diag::StagesReduced, asked, maxBytes, stages);
        return pipelined;
      }
      if (pipelined.numBuffers() == 2)
        break;
    }
    return leaveOut(loop, axisInfo, pipelined);
  }

  /// None of the loads, where shared memory has no room for the ring of a single one.
  PipelinedLoads leaveOut(scf::ForOp loop, const analysis::AxisInfoAnalysis &axisInfo, const PipelinedLoads &all) {
    SmallVector<Operation *> leftOut;
    PipelinedLoads pipelined = all;
    while (pipelined.hasMultiBuffers() && totalSharedBytes(loop, pipelined) > maxBytes) {
      leftOut.push_back(pipelined.largest());
      pipelined = findPipelinedLoads(loop, axisInfo, /*numStages=*/2, mayCopy, leftOut);
    }
    const unsigned needed = totalSharedBytes(loop, all);
    if (pipelined.hasMultiBuffers()) {
      for (Operation *load : leftOut)
        tt::report(load->getLoc(), diag::LoadNotPipelined, needed, maxBytes);
      return pipelined;
    }
    tt::report(loop.getLoc(), diag::LoopNotPipelined,
               llvm::formatv("{0} bytes of shared memory would be needed, a block has {1}", needed, maxBytes).str());
    return {};
  }

  void runOnOperation() final {
    SmallVector<scf::ForOp> loops;
    getOperation().walk([&](scf::ForOp loop) {
      if (isWanted(loop))
        loops.push_back(loop);
    });
    if (loops.empty())
      return;
    const analysis::AxisInfoAnalysis axisInfo(getOperation());
    IRRewriter rewriter(&getContext());
    for (scf::ForOp loop : loops) {
      auto asked = loop->getAttrOfType<IntegerAttr>(kNumStages);
      const unsigned stages = asked ? asked.getInt() : defaultStages;
      loop->removeAttr(kNumStages);
      if (stages < 2)
        continue;
      PipelinedLoads pipelined = fit(loop, axisInfo, stages);
      if (!pipelined.loads.empty() && Pipeliner(loop, std::move(pipelined), rewriter).run())
        ++numPipelined;
    }
  }
};
} // namespace
