// Overlaps loads with the products that need them, over several iterations of a loop.
//
//   for { %x = load; %b = local_alloc %x; dot(local_load %b) }
//     ->  %ring = local_alloc                       // a buffer for each iteration under way
//         copies of the first iterations
//         for { async_wait; copy of a later iteration to %ring[i]; dot(local_load %ring[e]) }
//
// Which loads run ahead is LoadStages.cpp's business, the expansion ExpandLoop.cpp's; docs/why/pipelining.md has the whole.
// SPDX-License-Identifier: MIT
#include "compiler/analysis/MemoryAccess.h"
#include "compiler/analysis/SharedMemory.h"
#include "compiler/dialect/tt/Report.h"
#include "compiler/dialect/ttng/Dialect.h"
#include "compiler/passes/ttg/AsyncProducts.h"
#include "compiler/passes/ttg/Diagnostics.h"
#include "compiler/passes/ttg/LoadStages.h"
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

static constexpr StringLiteral kNumStages = "tt.num_stages", kScheduledStage = "tt.scheduled_max_stage";

//--- rings ---------------------------------------------------------------------------------

namespace {
/// The rewriting of one loop.
class Pipeliner {
public:
  Pipeliner(scf::ForOp loop, EarlyLoads early, RewriterBase &rewriter)
      : loop(loop), early(std::move(early)), rewriter(rewriter) {}

  bool run();

private:
  void assignSlices();
  Value remade(Value value, unsigned stage);
  void remakeForLaterStages();
  void addCounters();
  void useRing(EarlyLoad &load);
  void addGroup();
  void copyToRing(EarlyLoad &load, Value ring);
  void addBarriers();
  void addWaitForEngine();
  Value view(Value ring, Value slot, MemDescType type, unsigned stage);
  void stageNew(Operation *op, unsigned stage) { stages[op] = stage; }
  LoopSchedule schedule();

  scf::ForOp loop;
  EarlyLoads early;
  RewriterBase &rewriter;
  llvm::DenseMap<Operation *, unsigned> stages; ///< of ops that are not in the last stage, and of new ones
  llvm::DenseMap<std::pair<Value, unsigned>, Value> remadeValues;
  Value fillSlot, readSlot, phase;
  Value barriers; ///< one for each buffer of the rings that the copy engine fills; null where there are none
  SmallVector<Value> rings;
  ttng::WarpGroupDotWaitOp productWait; ///< of products that run beside the threads; may be null
};
} // namespace

/// What a load needs runs with it, or earlier where another load needs it, too.
void Pipeliner::assignSlices() {
  for (const EarlyLoad &load : early.loads) {
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
Value Pipeliner::remade(Value value, unsigned stage) {
  Operation *op = value.getDefiningOp();
  if (loop.isDefinedOutsideOfLoop(value) || !op || stages.lookup_or(op, early.lastStage) >= stage)
    return value;
  if (Value known = remadeValues.lookup({value, stage}))
    return known;
  IRMapping mapping;
  for (Value operand : op->getOperands())
    mapping.map(operand, remade(operand, stage));
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  Operation *copy = builder.clone(*op, mapping);
  stageNew(copy, stage);
  Value made = copy->getResult(cast<OpResult>(value).getResultNumber());
  return remadeValues[{value, stage}] = made;
}

/// Offsets and masks that products use, too, are computed for them once more: cheaper than to carry tiles over stages.
void Pipeliner::remakeForLaterStages() {
  SmallVector<Operation *> earlyOps;
  for (Operation &op : *loop.getBody())
    if (stages.contains(&op) && isPure(&op))
      earlyOps.push_back(&op);
  for (Operation *op : earlyOps)
    for (OpResult result : op->getResults()) {
      if (!followsFromIndex(result, loop))
        continue;
      for (OpOperand &use : llvm::make_early_inc_range(result.getUses())) {
        Operation *user = loop.getBody()->findAncestorOpInBlock(*use.getOwner());
        if (!user || user->hasTrait<OpTrait::IsTerminator>())
          continue;
        const unsigned stage = stages.lookup_or(user, early.lastStage);
        if (stage > stages.lookup(op))
          use.set(remade(result, stage));
      }
    }
}

/// Carries the numbers of the buffers that are filled and read next.
void Pipeliner::addCounters() {
  const Location loc = loop.getLoc();
  rewriter.setInsertionPoint(loop);
  Value zero = arith::ConstantIntOp::create(rewriter, loc, 0, 32);
  Value one = arith::ConstantIntOp::create(rewriter, loc, 1, 32);
  Value count = arith::ConstantIntOp::create(rewriter, loc, early.slots(), 32);
  auto next = [&](OpBuilder &builder, Location, ArrayRef<BlockArgument> counters) {
    SmallVector<Value> following;
    Value wraps;
    const std::array<unsigned, 2> ofSlots = {early.copyStage, early.lastStage};
    for (auto [slot, stage] : llvm::zip_equal(counters.take_front(2), ofSlots)) {
      auto sum = arith::AddIOp::create(builder, loc, slot, one);
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
      stageNew(op, early.lastStage);
    following.push_back(parity);
    return following;
  };
  // A loop can always carry more.
  loop = cast<scf::ForOp>(*loop.replaceWithAdditionalYields(rewriter, {zero, zero, zero}, false, next));
  const auto counters = loop.getRegionIterArgs().take_back(3);
  fillSlot = counters[0];
  readSlot = counters[1];
  phase = counters[2];
}

Value Pipeliner::view(Value ring, Value slot, MemDescType type, unsigned stage) {
  auto index = MemDescIndexOp::create(rewriter, loop.getLoc(), type, ring, slot);
  stageNew(index, stage);
  return index;
}

/// Starts the copy of what is loaded to the ring's buffer that is filled next.
void Pipeliner::copyToRing(EarlyLoad &load, Value ring) {
  const Location loc = load.load->getLoc();
  auto type = MemDescType::get(load.buffer.getShape(), load.buffer.getElementType(), load.buffer.getEncoding(),
                               load.buffer.getMemorySpace(), /*mutable=*/true);
  rewriter.setInsertionPoint(load.load);
  Value target = view(ring, fillSlot, type, early.copyStage);
  Operation *copy;
  if (auto tile = load.tile()) {
    Value barrier = view(barriers, fillSlot, ttng::barrierType(loop.getContext(), 0), early.copyStage);
    auto always = arith::ConstantIntOp::create(rewriter, loc, 1, 1);
    stageNew(always, early.copyStage);
    copy = ttng::AsyncTmaCopyGlobalToLocalOp::create(rewriter, loc, tile.getMap(), tile.getIndices(), barrier, target, always,
                                                     tile.getBlockAttr(), tile.getEvictAttr());
  } else {
    auto ofPointers = cast<tt::LoadOp>(load.load);
    copy = AsyncCopyGlobalToLocalOp::create(rewriter, loc, AsyncTokenType::get(loop.getContext()), ofPointers.getPtr(),
                                            target, ofPointers.getMask(), Value(), ofPointers.getCache(),
                                            ofPointers.getEvict());
  }
  stageNew(copy, early.copyStage);
}

/// The barriers, and the bytes that each turn's copies bring to one.
void Pipeliner::addBarriers() {
  const Location loc = loop.getLoc();
  rewriter.setInsertionPoint(loop);
  barriers = LocalAllocOp::create(rewriter, loc, ttng::barrierType(loop.getContext(), early.slots()), Value(), IntegerAttr());
  ttng::InitBarrierOp::create(rewriter, loc, barriers, 1);
  unsigned bytes = 0;
  Operation *first = nullptr;
  for (const EarlyLoad &load : early.loads)
    if (load.buffer && load.isOfTile) {
      bytes += llvm::product_of(load.buffer.getShape()) * load.buffer.getElementType().getIntOrFloatBitWidth() / 8;
      if (!first || load.load->isBeforeInBlock(first))
        first = load.load;
    }
  rewriter.setInsertionPoint(first);
  Value barrier = view(barriers, fillSlot, ttng::barrierType(loop.getContext(), 0), early.copyStage);
  auto always = arith::ConstantIntOp::create(rewriter, loc, 1, 1);
  stageNew(always, early.copyStage);
  stageNew(ttng::BarrierExpectOp::create(rewriter, loc, barrier, bytes, always), early.copyStage);
}

/// At the start of a turn.
void Pipeliner::addWaitForEngine() {
  rewriter.setInsertionPointToStart(loop.getBody());
  Value barrier = view(barriers, readSlot, ttng::barrierType(loop.getContext(), 0), early.lastStage);
  stageNew(ttng::WaitBarrierOp::create(rewriter, loop.getLoc(), barrier, phase), early.lastStage);
}

void Pipeliner::useRing(EarlyLoad &load) {
  const Location loc = load.load->getLoc();
  const MemDescType part = load.buffer;
  SmallVector<int64_t> shape = {early.slots()};
  llvm::append_range(shape, part.getShape());
  rewriter.setInsertionPoint(loop);
  const IntegerAttr alignment = load.allocation ? load.allocation.getAlignmentAttr() : IntegerAttr();
  Value ring = rings.emplace_back(LocalAllocOp::create(
      rewriter, loc, MemDescType::get(shape, part.getElementType(), part.getEncoding(), part.getMemorySpace(), /*mutable=*/true),
      Value(), alignment));
  copyToRing(load, ring);
  Operation *replaced = load.allocation ? load.allocation.getOperation() : load.load;
  rewriter.setInsertionPoint(replaced);
  Value source = view(ring, readSlot, part, early.lastStage);
  if (!load.allocation)
    source = LocalLoadOp::create(rewriter, loc, load.load->getResult(0).getType(), source);
  rewriter.replaceOp(replaced, source);
  stages.erase(load.load);
  if (load.allocation)
    rewriter.eraseOp(load.load);
}

/// Whether a matrix unit reads the buffer by itself.
static bool isReadByUnit(Value buffer) {
  return llvm::any_of(buffer.getUsers(), [](Operation *user) {
    return isa<ttng::WarpGroupDotOp>(user) || (isa<MemDescTransOp, MemDescIndexOp>(user) && isReadByUnit(user->getResult(0)));
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

/// Closes the group of a turn's copies, and waits for one at the start of a turn. What a thread copied is fenced there, too.
void Pipeliner::addGroup() {
  for (auto fence : llvm::make_early_inc_range(loop.getBody()->getOps<ttng::FenceAsyncSharedOp>()))
    if (isIdle(fence))
      rewriter.eraseOp(fence);
  if (!early.hasThreadCopies())
    return;
  const Location loc = loop.getLoc();
  auto token = AsyncTokenType::get(loop.getContext());
  for (Operation &op : *loop.getBody())
    if (isa<AsyncCopyGlobalToLocalOp>(op))
      rewriter.setInsertionPointAfter(&op);
  stageNew(AsyncCommitGroupOp::create(rewriter, loc, token, ValueRange()), early.copyStage);
  rewriter.setInsertionPointToStart(loop.getBody());
  stageNew(AsyncWaitOp::create(rewriter, loc, token, ValueRange(), early.slots() - 2), early.lastStage);
  if (llvm::any_of(rings, isReadByUnit))
    stageNew(ttng::FenceAsyncSharedOp::create(rewriter, loc, /*bCluster=*/false), early.lastStage);
}

//--- the schedule --------------------------------------------------------------------------

/// A turn waits for its copies, starts those of later iterations and then computes: one barrier, behind the wait, also keeps
/// the copies from buffers that are still being read. Products that run beside the threads are started before the copies,
/// which then fill what the products of the turn before have read, behind a barrier of their own.
LoopSchedule Pipeliner::schedule() {
  LoopSchedule result;
  result.lastStage = early.lastStage;
  std::vector<std::vector<Operation *>> byStage(early.lastStage + 1);
  for (Operation &op : loop.getBody()->without_terminator()) {
    const bool isWait = isa<AsyncWaitOp, ttng::FenceAsyncSharedOp, ttng::WaitBarrierOp>(op) ||
                        (isa<MemDescIndexOp>(op) && llvm::any_of(op.getUsers(), llvm::IsaPred<ttng::WaitBarrierOp>));
    if (isWait && stages.contains(&op))
      result.entries.push_back({&op, early.lastStage});
    else
      byStage[stages.lookup_or(&op, early.lastStage)].push_back(&op);
  }
  std::vector<Operation *> &lastOps = byStage[early.lastStage];
  auto rest = productWait ? std::next(llvm::find(lastOps, productWait.getOperation())) : lastOps.begin();
  for (Operation *op : llvm::make_range(lastOps.begin(), rest))
    result.entries.push_back({op, early.lastStage});
  for (unsigned stage = early.lastStage; stage-- > 0;)
    for (Operation *op : byStage[stage])
      result.entries.push_back({op, stage});
  for (Operation *op : llvm::make_range(rest, lastOps.end()))
    result.entries.push_back({op, early.lastStage});
  return result;
}

bool Pipeliner::run() {
  assignSlices();
  if (std::string whyNot = whyNotExpand(loop, schedule()); !whyNot.empty()) {
    tt::report(loop.getLoc(), diag::LoopNotPipelined, whyNot);
    return false;
  }
  remakeForLaterStages();
  const Location loc = loop.getLoc();
  auto token = AsyncTokenType::get(loop.getContext());
  if (early.hasRings()) {
    addCounters();
    if (early.hasEngineCopies())
      addBarriers();
    for (EarlyLoad &load : early.loads)
      if (load.buffer)
        useRing(load);
    addGroup();
    if (barriers)
      addWaitForEngine();
    productWait = letProductsRun(loop, rings, rewriter);
  }
  scf::ForOp made = expandLoop(loop, schedule(), rewriter);
  made->setAttr(kScheduledStage, rewriter.getI32IntegerAttr(early.lastStage));
  rewriter.setInsertionPointAfter(productWait ? made->getNextNode() : made.getOperation());
  if (early.hasThreadCopies())
    AsyncWaitOp::create(rewriter, loc, token, ValueRange(), 0);
  if (barriers) {
    ttng::InvalBarrierOp::create(rewriter, loc, barriers);
    LocalDeallocOp::create(rewriter, loc, barriers);
  }
  for (Value ring : rings)
    LocalDeallocOp::create(rewriter, loc, ring);
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
static unsigned bytesBeside(scf::ForOp loop, const EarlyLoads &early) {
  unsigned bytes = 0;
  loop->getParentOfType<tt::FuncOp>().walk([&](Operation *op) {
    const bool isReplaced = llvm::any_of(early.loads, [&](const EarlyLoad &load) {
      return load.allocation == op || (load.buffer && load.load == op);
    });
    const bool isAlive = loop->isAncestor(op) || (isa<LocalAllocOp>(op) && llvm::any_of(op->getUsers(), [&](Operation *user) {
                           return loop->isAncestor(user);
                         }));
    if (isAlive && !isReplaced)
      bytes += analysis::bufferBytes(op) + bytesOfTile(op);
  });
  return bytes;
}

static unsigned bytesWith(scf::ForOp loop, const EarlyLoads &early) { return early.ringBytes() + bytesBeside(loop, early); }

/// Loops whose loads start ahead by this pass.
static bool isWanted(scf::ForOp loop) {
  return hasProducts(loop) || !loop.getBody()->getOps<ttng::TileLoadOp>().empty();
}

namespace {
struct PipelineLoops : ttg::impl::PipelineLoopsBase<PipelineLoops> {
  using PipelineLoopsBase::PipelineLoopsBase;

  /// As many stages as shared memory has room for; where it has none for two, fewer loads.
  EarlyLoads fit(scf::ForOp loop, const analysis::AxisInfoAnalysis &facts, unsigned asked) {
    EarlyLoads early;
    for (unsigned stages = asked; stages > 1; --stages) {
      early = findEarlyLoads(loop, facts, stages, mayCopy);
      if (!early.hasRings() || bytesWith(loop, early) <= maxBytes) {
        if (stages < asked)
          tt::report(loop.getLoc(), diag::StagesReduced, asked, maxBytes, stages);
        return early;
      }
      if (early.slots() == 2)
        break;
    }
    return leaveOut(loop, facts, early);
  }

  /// None of the loads, where shared memory has no room for the ring of a single one.
  EarlyLoads leaveOut(scf::ForOp loop, const analysis::AxisInfoAnalysis &facts, const EarlyLoads &all) {
    SmallVector<Operation *> leftOut;
    EarlyLoads early = all;
    while (early.hasRings() && bytesWith(loop, early) > maxBytes) {
      leftOut.push_back(early.largest());
      early = findEarlyLoads(loop, facts, /*numStages=*/2, mayCopy, leftOut);
    }
    const unsigned needed = bytesWith(loop, all);
    if (early.hasRings()) {
      for (Operation *load : leftOut)
        tt::report(load->getLoc(), diag::LoadLeftOut, needed, maxBytes);
      return early;
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
    const analysis::AxisInfoAnalysis facts(getOperation());
    IRRewriter rewriter(&getContext());
    for (scf::ForOp loop : loops) {
      auto asked = loop->getAttrOfType<IntegerAttr>(kNumStages);
      const unsigned stages = asked ? asked.getInt() : defaultStages;
      loop->removeAttr(kNumStages);
      if (stages < 2)
        continue;
      EarlyLoads early = fit(loop, facts, stages);
      if (!early.loads.empty() && Pipeliner(loop, std::move(early), rewriter).run())
        ++numPipelined;
    }
  }
};
} // namespace
