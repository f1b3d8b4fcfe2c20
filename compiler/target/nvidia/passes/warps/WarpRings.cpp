// Fills the rings of a specialised kernel by the producer's warps, and reads them by the others.
// SPDX-License-Identifier: MIT
#include "compiler/analysis/SharedMemory.h"
#include "compiler/dialect/tt/LoopAttributes.h"
#include "compiler/passes/ttg/LoopParts.h"
#include "compiler/passes/ttg/TrimLoop.h"
#include "compiler/target/nvidia/passes/dots/AsyncDots.h"
#include "compiler/target/nvidia/passes/warps/Specializer.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::nvidia;
using namespace nereid::ttg;

//--- rings ---------------------------------------------------------------------------------

Ring Specializer::createRing(Channel channel, unsigned count) {
  const Location loc = function.getLoc();
  Ring ring{channel.allocation.getType(), {}, {}, {}};
  SmallVector<int64_t> shape = {count};
  llvm::append_range(shape, ring.buffer.getShape());
  auto type = MemDescType::get(shape, ring.buffer.getElementType(), ring.buffer.getEncoding(),
                               ring.buffer.getMemorySpace(), /*mutable=*/true);
  ring.buffers = LocalAllocOp::create(rewriter, loc, type, Value(), channel.allocation.getAlignmentAttr());
  for (Value *barriers : {&ring.full, &ring.empty})
    *barriers =
        LocalAllocOp::create(rewriter, loc, ttng::barrierType(function.getContext(), count), Value(), IntegerAttr());
  return ring;
}

void Specializer::createRings() {
  const Location loc = function.getLoc();
  for (const Channel &channel : loops.front().channels)
    rings.push_back(createRing(channel, numBuffers));
  for (const Channel &channel : once)
    ringsOfOnce.push_back(createRing(channel, buffersOfOnce));
  const unsigned arrivals = usesTma() ? 1 : kProducerWarps * threadsPerWarpOf(function);
  for (ArrayRef<Ring> some : {ArrayRef(rings), ArrayRef(ringsOfOnce)})
    for (const Ring &ring : some) {
      ttng::InitBarrierOp::create(rewriter, loc, ring.full, arrivals, /*ofThreads=*/!usesTma());
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

/// Copies a tile to the buffer at this position when it is free, and has the copies arrive at the full barrier.
void Specializer::fill(OpBuilder &builder, const Channel &channel, const Ring &ring, Position at,
                       const IRMapping &values) {
  const Location loc = channel.load->getLoc();
  ttng::WaitBarrierOp::create(builder, loc, barrierAt(builder, loc, ring.empty, at.slot), at.parity,
                              /*byWarp=*/bool(channel.tile()));
  auto type = MemDescType::get(ring.buffer.getShape(), ring.buffer.getElementType(), ring.buffer.getEncoding(),
                               ring.buffer.getMemorySpace(), /*mutable=*/true);
  Value buffer = MemDescIndexOp::create(builder, loc, type, ring.buffers, at.slot);
  Value full = barrierAt(builder, loc, ring.full, at.slot);
  if (AsyncTileLoad tile = channel.tile()) {
    Value always = arith::ConstantIntOp::create(builder, loc, 1, 1);
    ttng::BarrierExpectOp::create(builder, loc, full, analysis::bufferBytes(type), always);
    Operation *copy = tile.createCopy(builder, full, buffer, always);
    for (OpOperand &operand : copy->getOpOperands())
      operand.set(values.lookupOrDefault(operand.get()));
    return;
  }
  auto load = cast<tt::LoadOp>(channel.load);
  Value mask = load.getMask() ? values.lookupOrDefault(load.getMask()) : Value();
  AsyncCopyGlobalToLocalOp::create(builder, loc, AsyncTokenType::get(load.getContext()),
                                   values.lookupOrDefault(load.getPtr()), buffer, mask, Value(), load.getCache(),
                                   load.getEvict());
  ttng::AsyncCopyMbarrierArriveOp::create(builder, loc, full);
}

/// Where CTAs stay, begins a loop over programs at the end of the builder's block, which carries the position in the
/// rings; `builder` continues in its body.
scf::ForOp Specializer::beginPrograms(OpBuilder &builder, Position &at) {
  if (!programs)
    return {};
  scf::ForOp loop = programs->create(builder, {at.slot, at.parity});
  at = {loop.getRegionIterArg(0), loop.getRegionIterArg(1)};
  builder.setInsertionPointToEnd(loop.getBody());
  return loop;
}

/// Ends the loop, if there is one; `builder` continues after it.
void Specializer::endPrograms(scf::ForOp loop, OpBuilder &builder, Position at) {
  if (!loop)
    return;
  scf::YieldOp::create(builder, loop.getLoc(), {at.slot, at.parity});
  programs->useIndices(loop, rewriter);
  builder.setInsertionPointAfter(loop);
}

void Specializer::buildProducer(Block &partition) {
  llvm::DenseMap<Operation *, std::pair<Channel *, Ring *>> channelOf; ///< by load
  llvm::SmallPtrSet<Operation *, 2> isSpecial;
  for (SpecialLoop &special : loops) {
    isSpecial.insert(special.loop);
    for (auto [channel, ring] : llvm::zip_equal(special.channels, rings))
      channelOf[channel.load] = {&channel, &ring};
  }
  for (auto [channel, ring] : llvm::zip_equal(once, ringsOfOnce))
    channelOf[channel.load] = {&channel, &ring};
  producer.addAssumptions(function);
  OpBuilder builder = OpBuilder::atBlockEnd(&partition);
  if (usesTma()) {
    // One thread starts the copies. A warp that only waits could fall behind by two phases, which look alike; its lanes
    // wait together.
    Value isFirst = IsFirstWarpOp::create(builder, function.getLoc(), builder.getI1Type());
    auto branch = scf::IfOp::create(builder, function.getLoc(), isFirst, /*withElseRegion=*/false);
    WarpReturnOp::create(builder, function.getLoc());
    builder.setInsertionPoint(branch.thenBlock()->getTerminator());
  }
  // A producer is a phase ahead: the first round finds all buffers free.
  Position at = {constant(builder, 0), constant(builder, 1)};
  const scf::ForOp ofPrograms = beginPrograms(builder, at);
  auto copyLoad = [&](OpBuilder &inside, Operation *load, const IRMapping &values) {
    const auto [channel, ring] = channelOf.at(load);
    const bool isOnce = llvm::is_contained(llvm::make_pointer_range(ringsOfOnce), ring);
    fill(inside, *channel, *ring, isOnce ? positionOfOnce(inside, ofPrograms, 1) : at, values);
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
  endPrograms(ofPrograms, builder, at);
  if (!usesTma())
    WarpReturnOp::create(builder, function.getLoc());
}

//--- consumers -----------------------------------------------------------------------------

/// The buffer of a tile that is loaded once for a program; its phase follows from the number of the CTA's programs
/// before. The producer is a phase ahead.
Position Specializer::positionOfOnce(OpBuilder &builder, scf::ForOp ofPrograms, unsigned ahead) {
  Value first = constant(builder, 0), parity = constant(builder, ahead);
  if (!ofPrograms)
    return {first, parity};
  const Location loc = ofPrograms.getLoc();
  Value phase = ofPrograms.getInductionVar(), slot = first;
  if (buffersOfOnce > 1) {
    slot = arith::RemUIOp::create(builder, loc, phase, constant(builder, buffersOfOnce));
    phase = arith::DivUIOp::create(builder, loc, phase, constant(builder, buffersOfOnce));
  }
  phase = arith::AddIOp::create(builder, loc, phase, parity);
  return {slot, arith::AndIOp::create(builder, loc, phase, constant(builder, 1))};
}

/// Replaces a loaded buffer by the next one of its ring.
RingAccess Specializer::useRing(const Ring &ring, Channel &channel, Position at) {
  const Location loc = channel.load->getLoc();
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

/// Moves the kernel's ops to the region, and its loops' loads out of them.
void Specializer::buildConsumers(Block &region, ArrayRef<Operation *> work) {
  OpBuilder builder = OpBuilder::atBlockEnd(&region);
  Position at = {constant(builder, 0), constant(builder, 0)};
  const scf::ForOp ofPrograms = beginPrograms(builder, at);
  Block &body = *builder.getInsertionBlock();
  for (Operation *op : work)
    op->moveBefore(&body, body.end());
  Value slotOfOnce;
  for (auto [channel, ring] : llvm::zip_equal(once, ringsOfOnce)) {
    OpBuilder before(channel.allocation);
    const Position position = positionOfOnce(before, ofPrograms, 0);
    useRing(ring, channel, position);
    slotOfOnce = position.slot;
  }
  eraseIdleFences(body, rewriter);
  Operation *afterLoops = loops.back().loop->getNextNode();
  for (SpecialLoop &special : loops)
    consume(special, at);
  afterLoops ? rewriter.setInsertionPoint(afterLoops) : rewriter.setInsertionPointToEnd(&body);
  for (const Ring &ring : ringsOfOnce)
    if (ofPrograms)
      release(ring, function.getLoc(), slotOfOnce, Value());
  builder.setInsertionPointToEnd(&body);
  endPrograms(ofPrograms, builder, at);
  WarpYieldOp::create(builder, function.getLoc());
}
