// Fills the multi-buffered allocations of a specialised kernel by the producer's warps, and reads them by the others.
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

//--- multi-buffered allocations ----------------------------------------------------------

MultiBuffer Specializer::createMultiBuffer(Channel channel, unsigned count) {
  const Location loc = function.getLoc();
  MultiBuffer multiBuffer{channel.allocation.getType(), {}, {}, {}};
  SmallVector<int64_t> shape = {count};
  llvm::append_range(shape, multiBuffer.buffer.getShape());
  auto type = MemDescType::get(shape, multiBuffer.buffer.getElementType(), multiBuffer.buffer.getEncoding(),
                               multiBuffer.buffer.getMemorySpace(), /*mutable=*/true);
  multiBuffer.buffers = LocalAllocOp::create(rewriter, loc, type, Value(), channel.allocation.getAlignmentAttr());
  for (Value *barriers : {&multiBuffer.full, &multiBuffer.empty})
    *barriers =
        LocalAllocOp::create(rewriter, loc, ttng::barrierType(function.getContext(), count), Value(), IntegerAttr());
  return multiBuffer;
}

void Specializer::createMultiBuffers() {
  const Location loc = function.getLoc();
  for (const Channel &channel : loops.front().channels)
    multiBuffers.push_back(createMultiBuffer(channel, numBuffers));
  for (const Channel &channel : once)
    multiBuffersOfOnce.push_back(createMultiBuffer(channel, buffersOfOnce));
  const unsigned arrivals = usesTma() ? 1 : kProducerWarps * threadsPerWarpOf(function);
  for (ArrayRef<MultiBuffer> some : {ArrayRef(multiBuffers), ArrayRef(multiBuffersOfOnce)})
    for (const MultiBuffer &multiBuffer : some) {
      ttng::InitBarrierOp::create(rewriter, loc, multiBuffer.full, arrivals, /*ofThreads=*/!usesTma());
      ttng::InitBarrierOp::create(rewriter, loc, multiBuffer.empty, numWarpsOf(function), /*ofThreads=*/true);
    }
}

Position Specializer::next(OpBuilder &builder, Location loc, Position at) {
  Value one = constant(builder, 1), sum = arith::AddIOp::create(builder, loc, at.stage, one);
  Value wraps = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, sum, constant(builder, numBuffers));
  Value other = arith::XOrIOp::create(builder, loc, at.parity, one);
  return {arith::SelectOp::create(builder, loc, wraps, constant(builder, 0), sum),
          arith::SelectOp::create(builder, loc, wraps, other, at.parity)};
}

static Value barrierAt(OpBuilder &builder, Location loc, Value barriers, Value stage) {
  return MemDescIndexOp::create(builder, loc, ttng::barrierType(builder.getContext(), 0), barriers, stage);
}

//--- the producer --------------------------------------------------------------------------

/// Copies a tile to the buffer at this position when it is free, and has the copies arrive at the full barrier.
void Specializer::fill(OpBuilder &builder, const Channel &channel, const MultiBuffer &multiBuffer, Position at,
                       const IRMapping &values) {
  const Location loc = channel.load->getLoc();
  ttng::WaitBarrierOp::create(builder, loc, barrierAt(builder, loc, multiBuffer.empty, at.stage), at.parity,
                              /*byWarp=*/bool(channel.tile()));
  auto type = MemDescType::get(multiBuffer.buffer.getShape(), multiBuffer.buffer.getElementType(),
                               multiBuffer.buffer.getEncoding(), multiBuffer.buffer.getMemorySpace(), /*mutable=*/true);
  Value buffer = MemDescIndexOp::create(builder, loc, type, multiBuffer.buffers, at.stage);
  Value full = barrierAt(builder, loc, multiBuffer.full, at.stage);
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
  ttng::AsyncCopyMbarrierArriveOp::create(builder, loc, full, /*noIncrement=*/true);
}

/// Where CTAs stay, begins a loop over programs at the end of the builder's block, which carries the position in the
/// multi-buffered allocations; `builder` continues in its body.
scf::ForOp Specializer::beginPrograms(OpBuilder &builder, Position &at) {
  if (!programs)
    return {};
  scf::ForOp loop = programs->create(builder, {at.stage, at.parity});
  at = {loop.getRegionIterArg(0), loop.getRegionIterArg(1)};
  builder.setInsertionPointToEnd(loop.getBody());
  return loop;
}

/// Ends the loop, if there is one; `builder` continues after it.
void Specializer::endPrograms(scf::ForOp loop, OpBuilder &builder, Position at) {
  if (!loop)
    return;
  scf::YieldOp::create(builder, loop.getLoc(), {at.stage, at.parity});
  programs->useIndices(loop, rewriter);
  builder.setInsertionPointAfter(loop);
}

void Specializer::buildProducer(Block &partition) {
  llvm::DenseMap<Operation *, std::pair<Channel *, MultiBuffer *>> channelOf; ///< by load
  llvm::SmallPtrSet<Operation *, 2> isSpecial;
  for (SpecialLoop &special : loops) {
    isSpecial.insert(special.loop);
    for (auto [channel, multiBuffer] : llvm::zip_equal(special.channels, multiBuffers))
      channelOf[channel.load] = {&channel, &multiBuffer};
  }
  for (auto [channel, multiBuffer] : llvm::zip_equal(once, multiBuffersOfOnce))
    channelOf[channel.load] = {&channel, &multiBuffer};
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
    const auto [channel, multiBuffer] = channelOf.at(load);
    const bool isOnce = llvm::is_contained(llvm::make_pointer_range(multiBuffersOfOnce), multiBuffer);
    fill(inside, *channel, *multiBuffer, isOnce ? positionOfOnce(inside, ofPrograms, 1) : at, values);
  };
  auto carriedInto = [&](scf::ForOp loop) {
    return isSpecial.contains(loop) ? SmallVector<Value>{at.stage, at.parity} : SmallVector<Value>();
  };
  auto use = [&](scf::ForOp loop, ValueRange carried) {
    if (isSpecial.contains(loop))
      at = {carried[0], carried[1]};
  };
  auto endIteration = [&](OpBuilder &inside, scf::ForOp loop) {
    if (!isSpecial.contains(loop))
      return SmallVector<Value>();
    const Position following = next(inside, loop.getLoc(), at);
    return SmallVector<Value>{following.stage, following.parity};
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
  Value phase = ofPrograms.getInductionVar(), stage = first;
  if (buffersOfOnce > 1) {
    stage = arith::RemUIOp::create(builder, loc, phase, constant(builder, buffersOfOnce));
    phase = arith::DivUIOp::create(builder, loc, phase, constant(builder, buffersOfOnce));
  }
  phase = arith::AddIOp::create(builder, loc, phase, parity);
  return {stage, arith::AndIOp::create(builder, loc, phase, constant(builder, 1))};
}

/// Replaces a loaded buffer by the next one of its multi-buffered allocation.
BufferAccess Specializer::useMultiBuffer(const MultiBuffer &multiBuffer, Channel &channel, Position at) {
  const Location loc = channel.load->getLoc();
  rewriter.setInsertionPoint(channel.allocation);
  Value full = barrierAt(rewriter, loc, multiBuffer.full, at.stage);
  auto wait = ttng::WaitBarrierOp::create(rewriter, loc, full, at.parity);
  auto view = MemDescIndexOp::create(rewriter, loc, multiBuffer.buffer, multiBuffer.buffers, at.stage);
  rewriter.replaceOp(channel.allocation, view);
  rewriter.eraseOp(channel.load);
  return {multiBuffer.buffers, wait};
}

/// Hands back a buffer where `condition` holds.
Operation *Specializer::release(const MultiBuffer &multiBuffer, Location loc, Value stage, Value condition) {
  return ttng::ArriveBarrierOp::create(rewriter, loc, barrierAt(rewriter, loc, multiBuffer.empty, stage), 1, condition,
                                       /*byWarp=*/true);
}

/// The buffer used before.
Value Specializer::before(Location loc, Value stage) {
  Value isFirst = arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::eq, stage, constant(rewriter, 0));
  Value less = arith::SubIOp::create(rewriter, loc, stage, constant(rewriter, 1));
  return arith::SelectOp::create(rewriter, loc, isFirst, constant(rewriter, numBuffers - 1), less);
}

void Specializer::consume(SpecialLoop &special, Position &at) {
  auto yieldNext = [&](OpBuilder &builder, Location loc, ArrayRef<BlockArgument> carried) {
    const Position following = next(builder, loc, {carried[0], carried[1]});
    return SmallVector<Value>{following.stage, following.parity};
  };
  rewriter.setInsertionPoint(special.loop);
  // Adding carried values to a loop cannot fail.
  auto loop =
      cast<scf::ForOp>(*special.loop.replaceWithAdditionalYields(rewriter, {at.stage, at.parity}, false, yieldNext));
  loop->removeAttr(tt::kNumStages);
  const auto carried = loop.getRegionIterArgs().take_back(2);
  for (auto fence : llvm::make_early_inc_range(loop.getBody()->getOps<ttng::FenceAsyncSharedOp>()))
    rewriter.eraseOp(fence); // no thread stores to these buffers
  BufferAccess first = useMultiBuffer(multiBuffers[0], special.channels[0], {carried[0], carried[1]});
  BufferAccess second = useMultiBuffer(multiBuffers[1], special.channels[1], {carried[0], carried[1]});
  const Location loc = loop.getLoc();
  rewriter.setInsertionPoint(loop.getBody()->getTerminator());
  first.release = release(multiBuffers[0], loc, carried[0], Value());
  Value isLater =
      arith::CmpIOp::create(rewriter, loc, arith::CmpIPredicate::ne, loop.getInductionVar(), loop.getLowerBound());
  second.release = release(multiBuffers[1], loc, before(loc, carried[0]), isLater);
  loop = trimLoop(loop, rewriter);
  // Uses of the results, which the rotated loop's replace.
  rewriter.setInsertionPointAfter(loop);
  const auto results = loop.getResults().take_back(2);
  Value none = constant(rewriter, 0);
  at = {arith::AddIOp::create(rewriter, loc, results[0], none), arith::AddIOp::create(rewriter, loc, results[1], none)};
  release(multiBuffers[1], loc, before(loc, at.stage), hasIteration(rewriter, loop));
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
  Value stageOfOnce;
  for (auto [channel, multiBuffer] : llvm::zip_equal(once, multiBuffersOfOnce)) {
    OpBuilder before(channel.allocation);
    const Position position = positionOfOnce(before, ofPrograms, 0);
    useMultiBuffer(multiBuffer, channel, position);
    stageOfOnce = position.stage;
  }
  eraseIdleFences(body, rewriter);
  Operation *afterLoops = loops.back().loop->getNextNode();
  for (SpecialLoop &special : loops)
    consume(special, at);
  afterLoops ? rewriter.setInsertionPoint(afterLoops) : rewriter.setInsertionPointToEnd(&body);
  for (const MultiBuffer &multiBuffer : multiBuffersOfOnce)
    if (ofPrograms)
      release(multiBuffer, function.getLoc(), stageOfOnce, Value());
  builder.setInsertionPointToEnd(&body);
  endPrograms(ofPrograms, builder, at);
  WarpYieldOp::create(builder, function.getLoc());
}
