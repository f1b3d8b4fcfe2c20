// Gives the loads of a kernel's loops of dots to warps of their own, which fill rings of buffers for the others.
//
//   for { %k = load; %b = local_alloc %k; dot(%b) }
//     ->  %ring = local_alloc, %full, %empty = barriers
//         warp_specialize
//           default     for { wait full; dot(ring); arrive empty }
//           partition0  for { wait empty; copies to the ring, which arrive at full }
//
// ProducerWarps.cpp builds the partition, OverlapDots.cpp orders the rest; see docs/why/warp-specialisation.md.
// SPDX-License-Identifier: MIT
#include "compiler/analysis/AxisInfo.h"
#include "compiler/analysis/GlobalEffects.h"
#include "compiler/analysis/PointerBases.h"
#include "compiler/analysis/RegisterPressure.h"
#include "compiler/analysis/SharedMemory.h"
#include "compiler/dialect/tt/LoopAttributes.h"
#include "compiler/dialect/tt/Report.h"
#include "compiler/passes/ttg/Diagnostics.h"
#include "compiler/passes/ttg/JoinLoops.h"
#include "compiler/passes/ttg/LoopParts.h"
#include "compiler/passes/ttg/PipelinedLoads.h"
#include "compiler/passes/ttg/TrimLoop.h"
#include "compiler/target/nvidia/passes/AsyncDots.h"
#include "compiler/target/nvidia/passes/Diagnostics.h"
#include "compiler/target/nvidia/passes/LoopCost.h"
#include "compiler/target/nvidia/passes/OverlapDots.h"
#include "compiler/target/nvidia/passes/Passes.h"
#include "compiler/target/nvidia/passes/ProducerWarps.h"

#include "mlir/IR/BuiltinOps.h"

namespace nereid::nvidia {
#define GEN_PASS_DEF_SPECIALIZEWARPS
#include "compiler/target/nvidia/passes/Passes.h.inc"
} // namespace nereid::nvidia

using namespace mlir;
using namespace nereid;
using namespace nereid::nvidia;
using namespace nereid::ttg;

/// The warps that load: one warp group, as registers are moved between warp groups.
static constexpr unsigned kProducerWarps = 4;
static constexpr unsigned kWarpGroup = 4;
/// Registers of a thread of the producer, whose addresses take few, and of two other warp groups: all that a CTA has.
static constexpr int32_t kProducerRegisters = 40, kConsumerRegisters = 232;
/// Registers of a thread besides those of matrices.
static constexpr unsigned kOtherRegisters = 40;
/// Bytes for barriers, scratch buffers that share no memory, and padding.
static constexpr unsigned kSmallBuffers = 6144;

namespace {
/// A load whose tile goes through a ring of buffers.
struct Channel {
  tt::LoadOp load;
  LocalAllocOp allocation;
};

/// The ring of all loops' channels of one index.
struct Ring {
  MemDescType buffer; ///< of one tile
  Value buffers, full, empty;
};

/// A position in all rings: the buffer that is used next, and the parity of its phase.
struct Position {
  Value slot, parity;
};

struct SpecialLoop {
  scf::ForOp loop;
  ChainedDots dots;
  LoopCost cost;
  SmallVector<Channel, 2> channels;
};

/// Says why the warps of a loop stay alike; false, as the answer to whether they differ.
static bool decline(Operation *at, llvm::StringRef reason) {
  tt::report(at->getLoc(), nvidia::diag::WarpsAlike, reason);
  return false;
}

class Specializer {
public:
  Specializer(tt::FuncOp function, unsigned defaultStages, unsigned maxBytes)
      : function(function), rewriter(function.getContext()), defaultStages(defaultStages), maxBytes(maxBytes) {}

  bool collect();
  bool joinLoops();
  void run();

private:
  bool addLoop(scf::ForOp loop, const analysis::AxisInfoAnalysis &axisInfo);
  bool fits();
  void createRings();
  void buildProducer(Block &partition);
  void consume(SpecialLoop &special, Position &at);
  RingAccess useRing(const Ring &ring, Channel &channel, Position at);
  Operation *release(const Ring &ring, Location loc, Value slot, Value condition);
  Value before(Location loc, Value slot);
  Position next(OpBuilder &builder, Location loc, Position at);
  Value constant(OpBuilder &builder, int64_t number) {
    return arith::ConstantIntOp::create(builder, function.getLoc(), number, 32);
  }

  tt::FuncOp function;
  IRRewriter rewriter;
  const unsigned defaultStages, maxBytes;
  SmallVector<SpecialLoop, 2> loops;
  SmallVector<Ring, 2> rings;
  ProducerWarps producer{kProducerWarps};
  unsigned askedBuffers = 0, numBuffers = 0;
  scf::ForOp deepest; ///< the loop that asks for the most buffers
};
} // namespace

//--- the choice ----------------------------------------------------------------------------

/// Whether each of the two dots reads one loaded buffer, and no dot reads the other's.
static bool feedEachDot(ArrayRef<Channel> channels, const ChainedDots &dots) {
  auto reads = [](ttng::WarpGroupDotOp dot, Channel channel) {
    return llvm::any_of(dot->getOperands(), [&](Value operand) {
      return isa<MemDescType>(operand.getType()) && allocationOf(operand) == channel.allocation;
    });
  };
  return channels.size() == 2 && reads(dots.first, channels[0]) && reads(dots.second, channels[1]) &&
         !reads(dots.first, channels[1]) && !reads(dots.second, channels[0]);
}

/// Registers of a thread that computes. The second dot's operand exists twice while the dot runs.
static unsigned registersOf(ChainedDots dots, bool areOverlapped) {
  const unsigned operand = analysis::registersOf(dots.second.getA().getType());
  return analysis::registersOf(dots.second.getD().getType()) + analysis::registersOf(dots.first.getD().getType()) +
         operand * (areOverlapped ? 2 : 1) + kOtherRegisters;
}

/// Whether the loop is faster where warps differ. Twice as many warps, of two CTAs, hide the latency of exponentials
/// better than two warp groups: where they fit and the tensor cores have less to do, warps stay alike.
static bool pays(ChainedDots dots, const LoopCost &cost) {
  const unsigned threads = numWarpsOf(dots.first) * threadsPerWarpOf(dots.first);
  const bool residesTwice = 2 * threads * registersOf(dots, false) <= kRegistersOfCta;
  return registersOf(dots, true) <= unsigned(kConsumerRegisters) &&
         (!residesTwice || 2 * cost.tensor >= 3 * cost.special);
}

bool Specializer::addLoop(scf::ForOp loop, const analysis::AxisInfoAnalysis &axisInfo) {
  auto asked = loop->getAttrOfType<IntegerAttr>(tt::kNumStages);
  const unsigned stages = asked ? asked.getInt() : defaultStages;
  if (stages < 2)
    return decline(loop, "num_stages=1 asks for no loads ahead");
  if (loop->hasAttr(tt::kNoWarpSpecialize))
    return decline(loop, "warp_specialize=False");
  if (loop->getParentOp() != function)
    return decline(loop, "it is inside of another loop or branch");
  const PipelinedLoads found = findPipelinedLoads(loop, axisInfo, 2, /*mayCopy=*/true);
  SmallVector<Operation *> loads;
  SpecialLoop special{loop, {}, {}, {}};
  for (const PipelinedLoad &load : found.loads) {
    if (load.isTileLoad || !load.allocation || !load.needs.empty())
      return decline(load.load, "this load does not go to shared memory by pointers that are known in advance");
    loads.push_back(load.load);
    special.channels.push_back({cast<tt::LoadOp>(load.load), load.allocation});
  }
  llvm::sort(special.channels, [](Channel &a, Channel &b) { return a.load->isBeforeInBlock(b.load); });
  const auto dots = findChainedDots(loop, loads);
  if (!dots || !feedEachDot(special.channels, *dots))
    return decline(loop, "it has no two dots, the second of which multiplies what is computed from the first, with one "
                         "load for each");
  special.dots = *dots;
  special.cost = costOf(loop);
  if (!pays(*dots, special.cost))
    return decline(loop, "two blocks of warps that do the same hide latencies as well, or registers do not suffice");
  if (stages > askedBuffers)
    deepest = loop;
  askedBuffers = std::max(askedBuffers, stages);
  loops.push_back(std::move(special));
  return true;
}

/// All loops use the same rings.
static bool sameBuffers(const SpecialLoop &a, const SpecialLoop &b) {
  return llvm::equal(a.channels, b.channels,
                     [](Channel a, Channel b) { return a.allocation.getType() == b.allocation.getType(); });
}

/// Whether the op may wait for what other programs write, as a spin on a flag does.
static bool mayWait(Operation *op) {
  if (auto load = dyn_cast<tt::LoadOp>(op))
    return load.getIsVolatile() || load.getCache() == tt::CacheModifier::CV;
  auto access = dyn_cast<tt::MemoryAccessOpInterface>(op);
  return (access && access.isAtomic()) || isa<scf::WhileOp>(op) || analysis::globalEffectsOf(*op).acquires;
}

/// Whether an op before the loop, or in it, may wait for other programs.
static bool waitsForOthers(scf::ForOp last) {
  const WalkResult result = last->getParentRegion()->walk([&](Operation *op) {
    Operation *outer = last->getBlock()->findAncestorOpInBlock(*op);
    const bool isBefore = outer == last || outer->isBeforeInBlock(last);
    return isBefore && mayWait(op) ? WalkResult::interrupt() : WalkResult::advance();
  });
  return result.wasInterrupted();
}

/// Whether the module has another kernel, which would get as many warps.
static bool isOnlyKernel(tt::FuncOp function) {
  return llvm::count_if(function->getParentOfType<ModuleOp>().getOps<tt::FuncOp>(),
                        [](tt::FuncOp other) { return other.isPublic(); }) == 1;
}

/// The first loop with dots; null where there is none.
static scf::ForOp firstLoopOfDots(tt::FuncOp function) {
  scf::ForOp found;
  function.walk([&](scf::ForOp loop) {
    if (!hasDots(loop))
      return WalkResult::advance();
    found = loop;
    return WalkResult::interrupt();
  });
  return found;
}

bool Specializer::collect() {
  scf::ForOp first = firstLoopOfDots(function);
  if (!first || !function.isPublic())
    return false;
  if (const unsigned numWarps = numWarpsOf(function); numWarps != 2 * kWarpGroup)
    return decline(first, llvm::formatv("num_warps is {0}, not {1}", numWarps, 2 * kWarpGroup).str());
  if (!isOnlyKernel(function) || !function.getBody().hasOneBlock())
    return decline(first, "the module has other kernels or unstructured control flow");
  const analysis::AxisInfoAnalysis axisInfo(function->getParentOfType<ModuleOp>());
  WalkResult result = function.walk([&](Operation *op) {
    if (isa<tt::CallOp, AsyncTileLoad>(op)) { // tile loads get buffers later
      decline(op, "the kernel calls functions or loads by TMA");
      return WalkResult::interrupt();
    }
    auto loop = dyn_cast<scf::ForOp>(op);
    if (!loop || !hasDots(loop))
      return WalkResult::advance();
    if (!addLoop(loop, axisInfo))
      return WalkResult::interrupt();
    if (!sameBuffers(loops.front(), loops.back())) {
      decline(loop, "its tiles have other shapes than those of the loop before");
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  if (result.wasInterrupted() || loops.empty())
    return false;
  // The producer reads ahead of everything that precedes the loops.
  const std::optional<analysis::Bases> written = analysis::writtenBases(function);
  if (waitsForOthers(loops.back().loop))
    return decline(loops.back().loop, "the kernel may wait for other programs before it");
  for (const SpecialLoop &special : loops)
    for (Channel channel : special.channels)
      if (!written || !analysis::staysUnwritten(channel.load.getPtr(), *written) || !producer.add(channel.load))
        return decline(channel.load,
                       "the kernel may write what this load reads, or its addresses are read from memory");
  return fits() || decline(loops.back().loop, "shared memory has no room for two buffers of each tile");
}

/// Takes as many buffers as shared memory has room for besides the kernel's other needs; false where not even two fit.
bool Specializer::fits() {
  unsigned perBuffer = 0;
  for (Channel channel : loops.front().channels)
    perBuffer += analysis::bufferBytes(channel.allocation);
  llvm::SmallPtrSet<Operation *, 4> replaced;
  for (SpecialLoop &special : loops)
    for (Channel &channel : special.channels)
      replaced.insert(channel.allocation);
  // Up to the end of the loops, and after it, when most allocations are dead.
  unsigned allocated[2] = {}, scratch[2] = {};
  Operation *last = loops.back().loop;
  auto isAfter = [&](Operation *op) { return last->isBeforeInBlock(last->getBlock()->findAncestorOpInBlock(*op)); };
  function.walk([&](Operation *op) {
    const unsigned bytes = op == function || replaced.contains(op) ? 0 : analysis::bufferBytes(op);
    if (bytes == 0)
      return;
    if (!isa<LocalAllocOp>(op)) {
      scratch[isAfter(op)] = std::max(scratch[isAfter(op)], bytes);
      return;
    }
    if (!isAfter(op))
      allocated[0] += bytes;
    if (isAfter(op) || llvm::any_of(op->getUsers(), isAfter))
      allocated[1] += bytes;
  });
  const unsigned others = std::max(allocated[0] + scratch[0], allocated[1] + scratch[1]) + kSmallBuffers;
  numBuffers = askedBuffers;
  while (numBuffers > 1 && numBuffers * perBuffer + others > maxBytes)
    --numBuffers;
  return numBuffers > 1;
}

/// Makes one loop of two that follow each other, as of a causal mask's diagonal and the rest: dots of one then run
/// beside the other, and the code stands once.
bool Specializer::joinLoops() {
  if (loops.size() != 2)
    return false;
  const analysis::AxisInfoAnalysis axisInfo(function->getParentOfType<ModuleOp>());
  auto isSpecial = [&](scf::ForOp) { return Specializer(function, defaultStages, maxBytes).collect(); };
  return bool(ttg::joinLoops(loops[0].loop, loops[1].loop, axisInfo, rewriter, isSpecial));
}

//--- rings ---------------------------------------------------------------------------------

void Specializer::createRings() {
  MLIRContext *context = function.getContext();
  const Location loc = function.getLoc();
  for (Channel channel : loops.front().channels) {
    Ring ring;
    ring.buffer = channel.allocation.getType();
    SmallVector<int64_t> shape = {numBuffers};
    llvm::append_range(shape, ring.buffer.getShape());
    auto type = MemDescType::get(shape, ring.buffer.getElementType(), ring.buffer.getEncoding(),
                                 ring.buffer.getMemorySpace(), /*mutable=*/true);
    ring.buffers = LocalAllocOp::create(rewriter, loc, type, Value(), channel.allocation.getAlignmentAttr());
    for (Value *barriers : {&ring.full, &ring.empty})
      *barriers = LocalAllocOp::create(rewriter, loc, ttng::barrierType(context, numBuffers), Value(), IntegerAttr());
    rings.push_back(ring);
  }
  for (Ring &ring : rings) {
    ttng::InitBarrierOp::create(rewriter, loc, ring.full, kProducerWarps * threadsPerWarpOf(function),
                                /*ofThreads=*/true);
    ttng::InitBarrierOp::create(rewriter, loc, ring.empty, numWarpsOf(function), /*ofThreads=*/true);
  }
}

Position Specializer::next(OpBuilder &builder, Location loc, Position at) {
  Value one = constant(builder, 1), sum = arith::AddIOp::create(builder, loc, at.slot, one);
  Value wraps = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, sum, constant(builder, numBuffers));
  Value other = arith::XOrIOp::create(builder, loc, at.parity, one);
  return {arith::SelectOp::create(builder, loc, wraps, constant(builder, 0), sum),
          arith::SelectOp::create(builder, loc, wraps, other, at.parity)};
}

static Value barrierAt(OpBuilder &builder, Location loc, Value barriers, Value slot) {
  return MemDescIndexOp::create(builder, loc, ttng::barrierType(builder.getContext(), 0), barriers, slot);
}

//--- the producer --------------------------------------------------------------------------

void Specializer::buildProducer(Block &partition) {
  llvm::DenseMap<Operation *, Ring *> ringOf; ///< by load
  llvm::SmallPtrSet<Operation *, 2> isSpecial;
  for (SpecialLoop &special : loops) {
    isSpecial.insert(special.loop);
    for (auto [channel, ring] : llvm::zip_equal(special.channels, rings))
      ringOf[channel.load] = &ring;
  }
  producer.addAssumptions(function);
  OpBuilder builder = OpBuilder::atBlockEnd(&partition);
  // A producer is a phase ahead: the first round finds all buffers free.
  Position at = {constant(builder, 0), constant(builder, 1)};
  auto copyLoad = [&](OpBuilder &inside, tt::LoadOp load, const IRMapping &values) {
    const Location loc = load.getLoc();
    const Ring &ring = *ringOf.at(load);
    ttng::WaitBarrierOp::create(inside, loc, barrierAt(inside, loc, ring.empty, at.slot), at.parity);
    auto type = MemDescType::get(ring.buffer.getShape(), ring.buffer.getElementType(), ring.buffer.getEncoding(),
                                 ring.buffer.getMemorySpace(), /*mutable=*/true);
    Value buffer = MemDescIndexOp::create(inside, loc, type, ring.buffers, at.slot);
    Value mask = load.getMask() ? values.lookupOrDefault(load.getMask()) : Value();
    AsyncCopyGlobalToLocalOp::create(inside, loc, AsyncTokenType::get(load.getContext()),
                                     values.lookupOrDefault(load.getPtr()), buffer, mask, Value(), load.getCache(),
                                     load.getEvict());
    ttng::AsyncCopyMbarrierArriveOp::create(inside, loc, barrierAt(inside, loc, ring.full, at.slot));
  };
  auto carriedInto = [&](scf::ForOp loop) {
    return isSpecial.contains(loop) ? SmallVector<Value>{at.slot, at.parity} : SmallVector<Value>();
  };
  auto use = [&](scf::ForOp loop, ValueRange carried) {
    if (isSpecial.contains(loop))
      at = {carried[0], carried[1]};
  };
  auto endIteration = [&](OpBuilder &inside, scf::ForOp loop) {
    if (!isSpecial.contains(loop))
      return SmallVector<Value>();
    const Position following = next(inside, loop.getLoc(), at);
    return SmallVector<Value>{following.slot, following.parity};
  };
  producer.build(function.getBody().front(), builder, {copyLoad, carriedInto, use, endIteration, use});
  WarpReturnOp::create(builder, function.getLoc());
}

//--- consumers -----------------------------------------------------------------------------

/// Replaces a loaded buffer by the next one of its ring.
RingAccess Specializer::useRing(const Ring &ring, Channel &channel, Position at) {
  const Location loc = channel.load.getLoc();
  rewriter.setInsertionPoint(channel.allocation);
  Value full = barrierAt(rewriter, loc, ring.full, at.slot);
  auto wait = ttng::WaitBarrierOp::create(rewriter, loc, full, at.parity);
  auto view = MemDescIndexOp::create(rewriter, loc, ring.buffer, ring.buffers, at.slot);
  rewriter.replaceOp(channel.allocation, view);
  rewriter.eraseOp(channel.load);
  return {ring.buffers, wait};
}

/// Hands back a buffer where `condition` holds.
Operation *Specializer::release(const Ring &ring, Location loc, Value slot, Value condition) {
  return ttng::ArriveBarrierOp::create(rewriter, loc, barrierAt(rewriter, loc, ring.empty, slot), condition);
}

/// The buffer used before.
Value Specializer::before(Location loc, Value slot) {
  Value isFirst = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq, slot, constant(rewriter, 0));
  Value less = arith::SubIOp::create(rewriter, loc, slot, constant(rewriter, 1));
  return arith::SelectOp::create(rewriter, loc, isFirst, constant(rewriter, numBuffers - 1), less);
}

void Specializer::consume(SpecialLoop &special, Position &at) {
  auto yieldNext = [&](OpBuilder &builder, Location loc, ArrayRef<BlockArgument> carried) {
    const Position following = next(builder, loc, {carried[0], carried[1]});
    return SmallVector<Value>{following.slot, following.parity};
  };
  rewriter.setInsertionPoint(special.loop);
  // Adding carried values to a loop cannot fail.
  auto loop =
      cast<scf::ForOp>(*special.loop.replaceWithAdditionalYields(rewriter, {at.slot, at.parity}, false, yieldNext));
  loop->removeAttr(tt::kNumStages);
  const auto carried = loop.getRegionIterArgs().take_back(2);
  for (auto fence : llvm::make_early_inc_range(loop.getBody()->getOps<ttng::FenceAsyncSharedOp>()))
    rewriter.eraseOp(fence); // no thread stores to these buffers
  RingAccess first = useRing(rings[0], special.channels[0], {carried[0], carried[1]});
  RingAccess second = useRing(rings[1], special.channels[1], {carried[0], carried[1]});
  const Location loc = loop.getLoc();
  rewriter.setInsertionPoint(loop.getBody()->getTerminator());
  first.release = release(rings[0], loc, carried[0], Value());
  Value isLater =
      arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ne, loop.getInductionVar(), loop.getLowerBound());
  second.release = release(rings[1], loc, before(loc, carried[0]), isLater);
  loop = trimLoop(loop, rewriter);
  // Uses of the results, which the rotated loop's replace.
  rewriter.setInsertionPointAfter(loop);
  const auto results = loop.getResults().take_back(2);
  Value none = constant(rewriter, 0);
  at = {arith::AddIOp::create(rewriter, loc, results[0], none), arith::AddIOp::create(rewriter, loc, results[1], none)};
  release(rings[1], loc, before(loc, at.slot), hasIteration(rewriter, loop));
  overlapDots(loop, special.dots, first, second, rewriter);
}

//--- the whole -----------------------------------------------------------------------------

void Specializer::run() {
  const Location loc = function.getLoc();
  if (numBuffers < askedBuffers)
    tt::report(deepest.getLoc(), ttg::diag::StagesReduced, askedBuffers, maxBytes, numBuffers);
  Block &body = function.getBody().front();
  SmallVector<Operation *> work;
  for (Operation &op : body.without_terminator())
    work.push_back(&op);
  rewriter.setInsertionPointToStart(&body);
  createRings();
  auto specialize =
      WarpSpecializeOp::create(rewriter, loc, rewriter.getDenseI32ArrayAttr({kProducerWarps}), DenseI32ArrayAttr(), 1);
  // Registers move only where it is needed: not every assembler can do that.
  if (llvm::any_of(loops, [&](const SpecialLoop &special) {
        return registersOf(special.dots, true) > specialize.initialRegisters();
      }))
    specialize.setActualRegisters(ArrayRef<int32_t>{kConsumerRegisters, kProducerRegisters});
  Block *partition = rewriter.createBlock(&specialize.getPartitionRegions().front());
  Block *consumers = rewriter.createBlock(&specialize.getDefaultRegion());
  specialize->moveBefore(body.getTerminator());
  buildProducer(*partition);
  rewriter.setInsertionPointToEnd(consumers);
  auto end = WarpYieldOp::create(rewriter, loc);
  for (Operation *op : work)
    rewriter.moveOpBefore(op, end);
  rewriter.setInsertionPointToStart(consumers);
  Position at = {constant(rewriter, 0), constant(rewriter, 0)};
  for (SpecialLoop &special : loops)
    consume(special, at);
  function->getParentOfType<ModuleOp>()->setAttr(kTotalWarps, rewriter.getI32IntegerAttr(specialize.totalWarps()));
}

namespace {
struct SpecializeWarps : nvidia::impl::SpecializeWarpsBase<SpecializeWarps> {
  using SpecializeWarpsBase::SpecializeWarpsBase;

  void runOnOperation() final {
    for (auto function : llvm::to_vector(getOperation().getOps<tt::FuncOp>())) {
      auto specializer = std::make_unique<Specializer>(function, defaultStages, maxBytes);
      if (!specializer->collect())
        continue;
      if (specializer->joinLoops()) {
        specializer = std::make_unique<Specializer>(function, defaultStages, maxBytes);
        if (!specializer->collect())
          continue;
      }
      specializer->run();
      ++numSpecialized;
    }
  }
};
} // namespace
