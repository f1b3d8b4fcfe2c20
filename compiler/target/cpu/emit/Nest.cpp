// Emits the loops of a nest.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/emit/NestEmitter.h"

#include "compiler/target/cpu/emit/RootEmitter.h"
#include "compiler/target/cpu/emit/Streaming.h"

#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

NestEmitter::NestEmitter(EmitContext &context, const Nest &nest)
    : context(context), ir(context.ir), nest(nest), chunkLanes(nest.lanes) {
  depthOf.assign(nest.shape.size(), 0);
  for (auto [depth, dim] : llvm::enumerate(nest.order))
    depthOf[dim] = depth + 1;
  if (nest.vectorDim >= 0)
    vectorLevel = depthOf[nest.vectorDim];
  levels.resize(nest.order.size() + 1);
  for (const Root &root : nest.roots)
    rootEmitters.push_back(root.traits ? root.traits->emitter(*this, root) : nullptr);
}

NestEmitter::~NestEmitter() = default;

LogicalResult NestEmitter::run() {
  const Root &first = nest.roots.front();
  context.frame.setLocation(first.op ? first.op->getLoc() : first.value.getLoc());
  location = ir.getCurrentDebugLocation();
  llvm::Function *parent = ir.GetInsertBlock()->getParent();
  llvm::BasicBlock *after = llvm::BasicBlock::Create(ir.getContext(), "nest.end", parent);
  levels[0].anchor = ir.CreateBr(after);
  insertAt(0);
  computeBounds();
  for (const auto &emitter : rootEmitters)
    if (emitter)
      emitter->prepare();
  LogicalResult result = emitLevel(1);
  if (!nest.isCopy) // a guard's copy is not the value's own buffer
    for (const Root &root : nest.roots)
      setReady(root);
  ir.SetInsertPoint(after);
  return failure(failed(result) || isFailed);
}

/// Marks the root's results as readable from their buffers.
void NestEmitter::setReady(const Root &root) {
  auto ready = [&](Value value) {
    if (context.plan.bufferOf.contains(value))
      context.buffers.setReady(value);
  };
  if (root.kind == RootKind::Materialise)
    return ready(root.value);
  if (root.kind == RootKind::Assign && !isa<tt::ReshapeOp, tt::CatOp>(root.op))
    return;
  for (Value value : root.op->getResults())
    ready(value);
}

//--- bounds --------------------------------------------------------------------------------

llvm::Value *NestEmitter::clampedBound(const Polynomial &bound, unsigned dim) {
  return context.scalars.clamped(bound, nest.shape[dim]);
}

void NestEmitter::computeBounds() {
  if (!nest.assumptions.empty())
    assumption = context.scalars.holds(nest.assumptions);
  SmallVector<const Polynomial *> seen;
  for (const NestMask &mask : nest.masks) {
    if (static_cast<int>(mask.prefix.dim) != nest.vectorDim ||
        llvm::any_of(seen, [&](const Polynomial *poly) { return *poly == mask.prefix.bound; }))
      continue;
    seen.push_back(&mask.prefix.bound);
    llvm::Value *bound = clampedBound(mask.prefix.bound, nest.vectorDim);
    leastBound = leastBound ? ir.CreateBinaryIntrinsic(llvm::Intrinsic::smin, leastBound, bound) : bound;
    greatestBound = greatestBound ? ir.CreateBinaryIntrinsic(llvm::Intrinsic::smax, greatestBound, bound) : bound;
  }
}

/// The bound that all prefixes along the dimension share; null where there is none, or several.
const Polynomial *NestEmitter::onlyBound(unsigned dim) const {
  const Polynomial *only = nullptr;
  for (const NestMask &mask : nest.masks) {
    if (mask.prefix.dim != dim)
      continue;
    if (only && *only != mask.prefix.bound)
      return nullptr;
    only = &mask.prefix.bound;
  }
  return only;
}

/// The end of an outer loop: nests that only write skip indices at which no write's prefix holds.
llvm::Value *NestEmitter::outerEnd(unsigned dim) {
  llvm::Value *end = nullptr;
  for (const Root &root : nest.roots) {
    Value mask = root.isWrite() ? root.access().getAccessMask() : Value();
    llvm::Value *bound = nullptr;
    if (mask)
      for (Conjunct &part : conjuncts(context.affineInfo, mask, identityMap(nest.shape.size())))
        if (part.prefix && part.prefix->dim == dim) {
          llvm::Value *value = clampedBound(part.prefix->bound, dim);
          bound = bound ? ir.CreateBinaryIntrinsic(llvm::Intrinsic::smin, bound, value) : value;
        }
    if (!bound)
      return ir.getInt64(nest.shape[dim]);
    end = end ? ir.CreateBinaryIntrinsic(llvm::Intrinsic::smax, end, bound) : bound;
  }
  if (onlyBound(dim))
    bounded |= 1u << dim;
  return end;
}

/// The first index along the vector dimension from which the write is masked off.
llvm::Value *NestEmitter::writeEnd(const Root &root, llvm::Value *fallback) {
  Value mask = root.access().getAccessMask();
  llvm::Value *end = fallback;
  if (!mask)
    return end;
  for (Conjunct &part : conjuncts(context.affineInfo, mask, identityMap(nest.shape.size()))) {
    if (part.prefix && static_cast<int>(part.prefix->dim) == nest.vectorDim) {
      end = ir.CreateBinaryIntrinsic(llvm::Intrinsic::smin, end, clampedBound(part.prefix->bound, nest.vectorDim));
    } else if (levelOf(part.map) < vectorLevel) {
      Element holds = evaluate(part.value, part.map, vectorLevel - 1);
      insertAt(vectorLevel - 1);
      end = ir.CreateSelect(holds.value, end, ir.getInt64(0));
    }
  }
  return end;
}

/// Whether the write's mask includes a prefix of the vector dimension.
bool NestEmitter::endsWithPrefix(const Root &root) {
  Value mask = root.access().getAccessMask();
  return mask &&
         llvm::any_of(conjuncts(context.affineInfo, mask, identityMap(nest.shape.size())), [&](const Conjunct &part) {
           return part.prefix && static_cast<int>(part.prefix->dim) == nest.vectorDim;
         });
}

llvm::Value *NestEmitter::allConditions() {
  llvm::Value *all = ir.getTrue();
  for (const NestCondition &condition : nest.conditions) {
    Element holds = evaluate(condition.value, condition.map, vectorLevel - 1);
    if (!holds)
      return ir.getTrue();
    insertAt(vectorLevel - 1);
    all = ir.CreateAnd(all, holds.value);
  }
  return all;
}

//--- loops ---------------------------------------------------------------------------------

/// Whether the loops over the dimensions other than the axis of the roots end at this level: accumulators are
/// initialised there.
bool NestEmitter::beginsRoots(unsigned level) const {
  const int axis = nest.axis();
  if (axis < 0)
    return false;
  return nest.shape[axis] == 1 || vectorLevel == 0 ? level == levels.size() : level == depthOf[axis];
}

LogicalResult NestEmitter::finishRoots(unsigned level) {
  for (const auto &emitter : rootEmitters)
    if (emitter && failed(emitter->finish(level)))
      return failure();
  return success();
}

/// A reverse scan walks its axis from the last index to the first.
bool NestEmitter::walksDownwards(unsigned level) const {
  return level > 0 && static_cast<int>(nest.order[level - 1]) == nest.axis() &&
         llvm::any_of(nest.roots, [](const Root &root) {
           return root.traits && root.traits->isReverse && root.traits->isReverse(root.op);
         });
}

LogicalResult NestEmitter::emitLevel(unsigned level) {
  const bool begins = beginsRoots(level);
  if (begins)
    for (const auto &emitter : rootEmitters)
      if (emitter)
        emitter->begin();
  LogicalResult result = success();
  if (level == levels.size())
    result = emitChunk(level - 1);
  else if (level == vectorLevel)
    result = emitVectorLevel(level);
  else if (vectorLevel && level > vectorLevel)
    result = emitAxisLoop(level);
  else
    result = emitLoop(level, ir.getInt64(0), outerEnd(nest.order[level - 1]), 1);
  if (failed(result) || !begins)
    return result;
  return finishRoots(level - 1);
}

/// The loop over the roots' axis inside of a chunk: where its prefix ends it is split, so that neither part has a mask.
LogicalResult NestEmitter::emitAxisLoop(unsigned level) {
  const unsigned dim = nest.order[level - 1];
  llvm::Value *extent = ir.getInt64(nest.shape[dim]);
  const Polynomial *only = mode == Mode::Main && !walksDownwards(level) ? onlyBound(dim) : nullptr;
  if (!only)
    return emitLoop(level, ir.getInt64(0), extent, 1);
  insertAt(0);
  llvm::Value *bound = clampedBound(*only, dim);
  insertAt(level - 1);
  isInPrefix = true;
  LogicalResult result = emitLoop(level, ir.getInt64(0), bound, 1);
  isInPrefix = false;
  if (succeeded(result))
    result = emitLoop(level, bound, extent, 1);
  isInPrefix.reset();
  return result;
}

/// Rotated: for (i = begin; i < end; i += step) at the anchor of the enclosing level.
LogicalResult NestEmitter::emitLoop(unsigned level, llvm::Value *begin, llvm::Value *end, unsigned step) {
  Level &outer = levels[level - 1];
  llvm::BasicBlock *before = outer.anchor->getParent();
  llvm::BasicBlock *after = before->splitBasicBlock(outer.anchor->getIterator(), "loop.end");
  llvm::Function *parent = before->getParent();
  llvm::BasicBlock *body = llvm::BasicBlock::Create(ir.getContext(), "loop", parent, after);
  llvm::BasicBlock *latch = llvm::BasicBlock::Create(ir.getContext(), "latch", parent, after);
  before->getTerminator()->eraseFromParent();
  ir.SetInsertPoint(before);
  restoreLocation();
  llvm::Instruction *sequel = outer.anchor;
  outer.anchor = ir.CreateCondBr(ir.CreateICmpSLT(begin, end), body, after);

  ir.SetInsertPoint(body);
  llvm::PHINode *index = ir.CreatePHI(ir.getInt64Ty(), 2, "i");
  Level &inner = levels[level];
  inner.index = index;
  inner.elements.clear();
  inner.addresses.clear();
  inner.anchor = ir.CreateBr(latch);
  insertAt(level);
  if (walksDownwards(level))
    inner.index = ir.CreateSub(ir.getInt64(nest.shape[nest.order[level - 1]] - step), index);
  LogicalResult result = emitLevel(level + 1);

  ir.SetInsertPoint(latch);
  restoreLocation();
  llvm::Value *following = ir.CreateAdd(index, ir.getInt64(step), "", /*HasNUW=*/true, /*HasNSW=*/true);
  ir.CreateCondBr(ir.CreateICmpSLT(following, end), body, after);
  index->addIncoming(begin, outer.anchor->getParent());
  index->addIncoming(following, latch);
  outer.anchor = sequel;
  insertAt(level - 1);
  return result;
}

LogicalResult NestEmitter::emitLoopPart(unsigned level, Mode part, llvm::Value *begin, llvm::Value *end) {
  auto *first = dyn_cast<llvm::ConstantInt>(begin), *last = dyn_cast<llvm::ConstantInt>(end);
  if (first && last && first->getSExtValue() >= last->getSExtValue())
    return success();
  mode = part;
  chunkLanes = part == Mode::Main ? nest.lanes : nest.maskedLanes;
  LogicalResult result = emitLoop(level, begin, end, chunkLanes * nest.equalElements);
  chunkLanes = nest.lanes;
  return result;
}

/// Whether the nest's one store may bypass the cache: null where it never may.
llvm::Value *NestEmitter::canStream(unsigned level) {
  llvm::Value *isLarge = context.streaming.isWanted();
  if (!isLarge || nest.roots.size() != 1 || level != levels.size() - 1)
    return nullptr;
  auto store = dyn_cast_or_null<tt::StoreOp>(nest.roots.front().op);
  if (!store)
    return nullptr;
  const AffineForm *form = context.affineInfo.affine(store.getPtr());
  const int64_t size = storageBytes(tt::elementOf(store.getValue().getType()));
  const int64_t registerBytes = context.machine.registerBits / 8;
  if (!form || form->steps[nest.vectorDim].constant() != size || chunkLanes * size % registerBytes != 0)
    return nullptr;
  // Decided once for all rows, so all must begin at a register's multiple.
  insertAt(0);
  llvm::Value *address = context.scalars.firstAddress(*form);
  llvm::Value *low = ir.CreatePtrToInt(address, ir.getInt64Ty());
  for (auto [dim, extent] : llvm::enumerate(nest.shape))
    if (extent != 1 && static_cast<int>(dim) != nest.vectorDim)
      low = ir.CreateOr(low, context.scalars.poly(form->steps[dim]));
  low = ir.CreateAnd(low, ir.getInt64(registerBytes - 1));
  llvm::Value *streams =
      context.streaming.reaches(address, ir.CreateAnd(isLarge, ir.CreateICmpEQ(low, ir.getInt64(0))));
  insertAt(level - 1);
  return streams;
}

LogicalResult NestEmitter::emitMain(unsigned level, llvm::Value *end) {
  llvm::Value *start = ir.getInt64(0);
  if (llvm::Value *streams = canStream(level)) {
    context.streaming.useFence();
    start = ir.CreateSelect(streams, end, start);
    isStreaming = true;
    LogicalResult result = emitLoopPart(level, Mode::Main, ir.getInt64(0), start);
    isStreaming = false;
    if (failed(result))
      return failure();
  }
  return emitLoopPart(level, Mode::Main, start, end);
}

LogicalResult NestEmitter::emitVectorLevel(unsigned level) {
  llvm::Value *zero = ir.getInt64(0), *extent = ir.getInt64(nest.shape[nest.vectorDim]);
  if (!leastBound && nest.conditions.empty() && nest.assumptions.empty())
    return emitMain(level, extent);

  if (nest.scansLanes()) // in order, regardless of masks
    return emitLoopPart(level, Mode::Masked, zero, extent);
  if (nest.isCopy) {
    llvm::Value *end = greatestBound ? greatestBound : extent;
    return emitLoopPart(level, Mode::Masked, zero, end);
  }
  llvm::Value *wholeChunks = ir.getInt64(-static_cast<int64_t>(nest.lanes));
  llvm::Value *mainEnd = ir.CreateAnd(leastBound ? leastBound : extent, wholeChunks);
  if (!nest.conditions.empty())
    mainEnd = ir.CreateSelect(allConditions(), mainEnd, zero);
  if (assumption)
    mainEnd = ir.CreateSelect(assumption, mainEnd, zero);

  llvm::Value *activeEnd = extent; // the end of the last prefix, rounded up to whole chunks
  if (greatestBound)
    activeEnd = ir.CreateAnd(ir.CreateAdd(greatestBound, ir.getInt64(nest.maskedLanes - 1)),
                             ir.getInt64(-static_cast<int64_t>(nest.maskedLanes)));
  llvm::Value *writesEnd = zero;
  bool isWriteOnly = true;
  for (const Root &root : nest.roots) {
    if (root.isWrite()) {
      writesEnd = ir.CreateBinaryIntrinsic(llvm::Intrinsic::smax, writesEnd, writeEnd(root, extent));
      continue;
    }
    isWriteOnly = false;
  }
  if (failed(emitMain(level, mainEnd)))
    return failure();
  if (isWriteOnly)
    return emitLoopPart(level, Mode::Masked, mainEnd, writesEnd);
  if (failed(emitLoopPart(level, Mode::Masked, mainEnd, activeEnd)))
    return failure();
  if (!greatestBound)
    return success();
  llvm::Value *count = ir.CreateSub(extent, activeEnd);
  bool runsInactive = false;
  for (auto [root, emitter] : llvm::zip_equal(nest.roots, rootEmitters))
    if (root.isWrite())
      runsInactive |= !endsWithPrefix(root);
    else
      runsInactive |= !emitter || !emitter->emitInactive(level - 1, count);
  return runsInactive ? emitLoopPart(level, Mode::Inactive, activeEnd, extent) : success();
}

LogicalResult NestEmitter::emitChunk(unsigned level) {
  const IndexMap identity = identityMap(nest.shape.size());
  evaluateInOrder(level);
  for (Value value : nest.hoistedReads)
    if (tt::shapeOf(value.getType()) == ArrayRef<int64_t>(nest.shape))
      evaluate(value, identity, level);
  for (auto [root, emitter] : llvm::zip_equal(nest.roots, rootEmitters)) {
    context.frame.setLocation(root.op ? root.op->getLoc() : root.value.getLoc());
    location = ir.getCurrentDebugLocation();
    switch (root.kind) {
    case RootKind::Op:
      if (failed(emitter->emit(level)))
        return failure();
      break;
    case RootKind::Materialise:
      writeTile(root, level, /*isNext=*/false);
      break;
    case RootKind::Assign:
      writeTile(root, level, /*isNext=*/isa<scf::YieldOp, tt::DotOp>(root.op));
      break;
    }
    if (isFailed)
      return failure();
  }
  return success();
}
