// Emits the loops of a nest.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/emit/nest/NestEmitter.h"

#include "compiler/target/cpu/emit/Streaming.h"
#include "compiler/target/cpu/emit/roots/RootEmitter.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

NestEmitter::NestEmitter(EmitContext &kernel, const Nest &nest)
    : kernel(kernel), ir(kernel.ir), nest(nest), levels(kernel, nest), chunk{nest.lanes},
      context{kernel, nest, levels, chunk, addresses, elements, memory}, addresses(context), elements(context),
      memory(context), bounds(context) {
  for (const Root &root : nest.roots)
    rootEmitters.push_back(root.traits ? root.traits->emitter(context, root) : makeTileEmitter(context, root));
}

NestEmitter::~NestEmitter() = default;

static Location locationOf(const Root &root) { return root.op ? root.op->getLoc() : root.value.getLoc(); }

LogicalResult NestEmitter::run() {
  levels.setLocation(locationOf(nest.roots.front()));
  llvm::Function *parent = ir.GetInsertBlock()->getParent();
  llvm::BasicBlock *after = llvm::BasicBlock::Create(ir.getContext(), "nest.end", parent);
  levels.begin(after);
  levels.insertAt(0);
  bounds.compute();
  for (const auto &emitter : rootEmitters)
    emitter->prepare();
  LogicalResult result = emitLevel(1);
  if (!nest.isCopy) // a guard's copy is not the value's own buffer
    for (const Root &root : nest.roots)
      setReady(root);
  ir.SetInsertPoint(after);
  return failure(failed(result) || elements.hasFailed());
}

llvm::Value *NestEmitter::firstAddress(Value pointer) {
  llvm::BasicBlock *after = llvm::BasicBlock::Create(ir.getContext(), "address.end", ir.GetInsertBlock()->getParent());
  levels.begin(after);
  const IndexMap first(tt::shapeOf(pointer.getType()).size(), -1);
  Element element = elements.evaluate(pointer, first, 0);
  ir.SetInsertPoint(after);
  return element.value;
}

/// Marks the root's results as readable from their buffers.
void NestEmitter::setReady(const Root &root) {
  auto ready = [&](Value value) {
    if (kernel.plan.bufferOf.contains(value))
      kernel.buffers.setReady(value);
  };
  if (root.kind == RootKind::Materialise)
    return ready(root.value);
  if (root.kind == RootKind::Assign && !isa<tt::ReshapeOp, tt::CatOp>(root.op))
    return;
  for (Value value : root.op->getResults())
    ready(value);
}

//--- loops ---------------------------------------------------------------------------------

/// Whether the loops over the dimensions other than the axis of the roots end at this level: accumulators are
/// initialised there.
bool NestEmitter::beginsRoots(unsigned level) const {
  const int axis = nest.axis();
  if (axis < 0)
    return false;
  return nest.shape[axis] == 1 || levels.vectorLevel() == 0 ? level == levels.count() : level == levels.depthOf(axis);
}

LogicalResult NestEmitter::emitLevel(unsigned level) {
  const bool begins = beginsRoots(level);
  if (begins)
    for (const auto &emitter : rootEmitters)
      emitter->begin();
  LogicalResult result = success();
  if (level == levels.count())
    result = emitChunk(level - 1);
  else if (level == levels.vectorLevel())
    result = emitVectorLevel(level);
  else if (levels.vectorLevel() && level > levels.vectorLevel())
    result = emitAxisLoop(level);
  else
    result = emitLoop(level, ir.getInt64(0), bounds.outerEnd(nest.order[level - 1]), 1);
  if (failed(result) || !begins)
    return result;
  for (const auto &emitter : rootEmitters)
    if (failed(emitter->finish(level - 1)))
      return failure();
  return success();
}

/// The loop over the roots' axis inside of a chunk: where its prefix ends it is split, so that neither part has a mask.
LogicalResult NestEmitter::emitAxisLoop(unsigned level) {
  const unsigned dim = nest.order[level - 1];
  llvm::Value *extent = ir.getInt64(nest.shape[dim]);
  const Polynomial *prefix =
      chunk.part == NestPart::Main && !levels.isDownwards(level) ? bounds.commonPrefix(dim) : nullptr;
  if (!prefix)
    return emitLoop(level, ir.getInt64(0), extent, 1);
  levels.insertAt(0);
  llvm::Value *bound = bounds.clamped(*prefix, dim);
  levels.insertAt(level - 1);
  chunk.isInPrefix = true;
  LogicalResult result = emitLoop(level, ir.getInt64(0), bound, 1);
  chunk.isInPrefix = false;
  if (succeeded(result))
    result = emitLoop(level, bound, extent, 1);
  chunk.isInPrefix.reset();
  return result;
}

LogicalResult NestEmitter::emitLoop(unsigned level, llvm::Value *begin, llvm::Value *end, unsigned step) {
  return levels.emitLoop(level, begin, end, step, [&] {
    elements.beginLevel(level);
    addresses.beginLevel(level);
    return emitLevel(level + 1);
  });
}

LogicalResult NestEmitter::emitPart(unsigned level, NestPart part, llvm::Value *begin, llvm::Value *end) {
  auto *first = dyn_cast<llvm::ConstantInt>(begin), *last = dyn_cast<llvm::ConstantInt>(end);
  if (first && last && first->getSExtValue() >= last->getSExtValue())
    return success();
  chunk.part = part;
  chunk.lanes = part == NestPart::Main ? nest.lanes : nest.maskedLanes;
  LogicalResult result = emitLoop(level, begin, end, chunk.lanes * nest.equalElements);
  chunk.lanes = nest.lanes;
  return result;
}

/// Whether the nest's one store may bypass the cache: null where it never may.
llvm::Value *NestEmitter::canStream(unsigned level) {
  llvm::Value *isLarge = kernel.streaming.isWanted();
  if (!isLarge || nest.roots.size() != 1 || level != levels.count() - 1)
    return nullptr;
  auto store = dyn_cast_or_null<tt::StoreOp>(nest.roots.front().op);
  if (!store)
    return nullptr;
  const AffineForm *form = kernel.affineInfo.affine(store.getPtr());
  const int64_t size = storageBytes(tt::elementOf(store.getValue().getType()));
  const int64_t registerBytes = kernel.machine.registerBits / 8;
  if (!form || form->steps[nest.vectorDim].constant() != size || chunk.lanes * size % registerBytes != 0)
    return nullptr;
  // Decided once for all rows, so all must begin at a register's multiple.
  levels.insertAt(0);
  llvm::Value *address = kernel.scalars.firstAddress(*form);
  llvm::Value *low = ir.CreatePtrToInt(address, ir.getInt64Ty());
  for (auto [dim, extent] : llvm::enumerate(nest.shape))
    if (extent != 1 && static_cast<int>(dim) != nest.vectorDim)
      low = ir.CreateOr(low, kernel.scalars.poly(form->steps[dim]));
  low = ir.CreateAnd(low, ir.getInt64(registerBytes - 1));
  llvm::Value *streams = kernel.streaming.reaches(address, ir.CreateAnd(isLarge, ir.CreateICmpEQ(low, ir.getInt64(0))));
  levels.insertAt(level - 1);
  return streams;
}

LogicalResult NestEmitter::emitMain(unsigned level, llvm::Value *end) {
  llvm::Value *start = ir.getInt64(0);
  if (llvm::Value *streams = canStream(level)) {
    kernel.streaming.useFence();
    start = ir.CreateSelect(streams, end, start);
    chunk.isStreaming = true;
    LogicalResult result = emitPart(level, NestPart::Main, ir.getInt64(0), start);
    chunk.isStreaming = false;
    if (failed(result))
      return failure();
  }
  return emitPart(level, NestPart::Main, start, end);
}

LogicalResult NestEmitter::emitVectorLevel(unsigned level) {
  llvm::Value *zero = ir.getInt64(0), *extent = ir.getInt64(nest.shape[nest.vectorDim]);
  if (!bounds.leastPrefix && nest.conditions.empty() && nest.assumptions.empty())
    return emitMain(level, extent);

  if (nest.scansLanes()) // in order, regardless of masks
    return emitPart(level, NestPart::Masked, zero, extent);
  if (nest.isCopy) {
    llvm::Value *end = bounds.greatestPrefix ? bounds.greatestPrefix : extent;
    return emitPart(level, NestPart::Masked, zero, end);
  }
  llvm::Value *wholeChunks = ir.getInt64(-static_cast<int64_t>(nest.lanes));
  llvm::Value *mainEnd = ir.CreateAnd(bounds.leastPrefix ? bounds.leastPrefix : extent, wholeChunks);
  if (!nest.conditions.empty())
    mainEnd = ir.CreateSelect(bounds.allConditions(), mainEnd, zero);
  if (bounds.assumption)
    mainEnd = ir.CreateSelect(bounds.assumption, mainEnd, zero);

  llvm::Value *activeEnd = extent; // the end of the last prefix, rounded up to whole chunks
  if (bounds.greatestPrefix)
    activeEnd = ir.CreateAnd(ir.CreateAdd(bounds.greatestPrefix, ir.getInt64(nest.maskedLanes - 1)),
                             ir.getInt64(-static_cast<int64_t>(nest.maskedLanes)));
  llvm::Value *writesEnd = zero;
  bool isWriteOnly = true;
  for (const Root &root : nest.roots) {
    if (root.isWrite()) {
      writesEnd = ir.CreateBinaryIntrinsic(llvm::Intrinsic::smax, writesEnd, bounds.writeEnd(root, extent));
      continue;
    }
    isWriteOnly = false;
  }
  if (failed(emitMain(level, mainEnd)))
    return failure();
  if (isWriteOnly)
    return emitPart(level, NestPart::Masked, mainEnd, writesEnd);
  if (failed(emitPart(level, NestPart::Masked, mainEnd, activeEnd)))
    return failure();
  if (!bounds.greatestPrefix)
    return success();
  llvm::Value *count = ir.CreateSub(extent, activeEnd);
  bool runsInactive = false;
  for (auto [root, emitter] : llvm::zip_equal(nest.roots, rootEmitters))
    if (root.isWrite())
      runsInactive |= !bounds.endsWithPrefix(root);
    else
      runsInactive |= !emitter->emitInactive(level - 1, count);
  return runsInactive ? emitPart(level, NestPart::Inactive, activeEnd, extent) : success();
}

LogicalResult NestEmitter::emitChunk(unsigned level) {
  elements.evaluateInOrder(level);
  for (Value value : nest.hoistedReads)
    if (tt::shapeOf(value.getType()) == ArrayRef<int64_t>(nest.shape))
      elements.evaluate(value, context.identity(), level);
  for (auto [root, emitter] : llvm::zip_equal(nest.roots, rootEmitters)) {
    levels.setLocation(locationOf(root));
    if (failed(emitter->emit(level)) || elements.hasFailed())
      return failure();
  }
  return success();
}
