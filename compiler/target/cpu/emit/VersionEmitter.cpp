// Emits the versions of a nest and the tests that choose one of them.
// SPDX-License-Identifier: MIT
//
// A left operand of a dot and a tile that is transposed are read from memory in place, and copied only where a part of
// them is masked or wraps. A dot reads that operand element by element, so its rows may have any stride, as may those
// of a transposed tile. The copy is skipped where its masks hold everywhere and its remainders do not wrap, which is
// tested before it. No store comes between the copy and its use.
//
// Where a compared addition may overflow, one version compares exactly. A nest that reads tiles which may have been
// copied, and are not affine, has a version in which none has been.
#include "compiler/target/cpu/emit/VersionEmitter.h"
#include "compiler/index/Wrap.h"

#include "compiler/target/cpu/emit/ControlFlow.h"
#include "compiler/target/cpu/emit/KeptOperandEmitter.h"
#include "compiler/target/cpu/emit/NestEmitter.h"
#include "compiler/target/cpu/emit/Prefetches.h"
#include "compiler/target/cpu/emit/Transpose.h"
#include "compiler/target/cpu/plan/Chunks.h"
#include "compiler/target/cpu/plan/Expressions.h"
#include "compiler/target/cpu/plan/Masks.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

/// Emits two versions of one nest. The scalars that it defines are merged after them.
LogicalResult VersionEmitter::emitVersions(llvm::Value *condition, Emit whenTrue, Emit whenFalse) {
  llvm::BasicBlock *sides[] = {context.frame.newBlock("version"), context.frame.newBlock("version")},
                   *after = context.frame.newBlock("version.end");
  ir.CreateCondBr(condition, sides[0], sides[1]);
  SmallVector<Value> results;
  for (const Root &root : nest.roots)
    if (root.kind == RootKind::Op)
      llvm::copy_if(root.op->getResults(), std::back_inserter(results),
                    [](Value value) { return !isa<RankedTensorType>(value.getType()); });
  SmallVector<llvm::PHINode *> phis;
  const llvm::DenseSet<Value> readyBefore = context.buffers.readyValues();
  for (unsigned side : {0, 1}) {
    ir.SetInsertPoint(sides[side]);
    context.buffers.setReadyValues(readyBefore); // buffers that one version of a nest writes are not ready in the other
    if (failed(side == 0 ? whenTrue() : whenFalse()))
      return failure();
    llvm::BasicBlock *end = ir.GetInsertBlock();
    ir.CreateBr(after);
    for (auto [index, value] : llvm::enumerate(results)) {
      if (side == 0)
        phis.push_back(llvm::PHINode::Create(context.scalars.of(value)->getType(), 2, "", after));
      phis[index]->addIncoming(context.scalars.of(value), end);
    }
  }
  for (auto [value, phi] : llvm::zip_equal(results, phis))
    context.scalars.define(value, phi);
  ir.SetInsertPoint(after);
  return success();
}

LogicalResult VersionEmitter::emitPeeled(const Nest &version) {
  if (!version.peeledLoop)
    return NestEmitter(context, version).run();
  auto loop = cast<scf::ForOp>(version.peeledLoop);
  context.frame.setLocation(loop.getLoc());
  llvm::Value *isFirst =
      ir.CreateICmpEQ(context.scalars.of(loop.getInductionVar()), context.scalars.of(loop.getLowerBound()));
  auto first = [&] {
    context.buffers.setInitial(version.initial);
    LogicalResult result = NestEmitter(context, version).run();
    context.buffers.setInitial({});
    return result;
  };
  return emitVersions(isFirst, first, [&] { return NestEmitter(context, version).run(); });
}

/// Whether a sum that one of the nest's masks compares overflows its type; null where none can.
llvm::Value *VersionEmitter::findWraps() {
  llvm::Value *any = nullptr;
  llvm::SmallPtrSet<Operation *, 2> seen;
  for (const NestMask &mask : nest.masks)
    if (mask.prefix.mayWrap && seen.insert(mask.compare.getDefiningOp()).second)
      for (Value side : mask.compare.getDefiningOp()->getOperands())
        for (Value sum : index::sumsThatMayWrap(side)) {
          llvm::Value *hasWrapped = context.scalars.wraps(sum);
          any = any ? ir.CreateOr(any, hasWrapped) : hasWrapped;
        }
  return any;
}

/// Tests before the nest whether compared additions wrap: one version of the nest then compares exactly.
LogicalResult VersionEmitter::emitExactOrNot() {
  if (!anyWraps)
    return emitCopiedOrNot();
  auto exact = [&] {
    Nest copy = nest;
    llvm::erase_if(copy.masks, [](const NestMask &mask) { return mask.prefix.mayWrap; });
    context.affineInfo.setExact(true);
    LogicalResult result = emitPeeled(copy);
    context.affineInfo.setExact(false);
    return result;
  };
  return emitVersions(anyWraps, exact, [&] { return emitCopiedOrNot(); });
}

LogicalResult VersionEmitter::emitCopiedOrNot() {
  llvm::SmallSetVector<Operation *, 2> loads; // that may have been copied, and are not affine
  ExpressionWalk walk(context.affineInfo, [&](Value value, const IndexMap &) {
    if (context.plan.bufferOf.contains(value) && context.buffers.isReady(value))
      return false;
    Operation *op = value.getDefiningOp();
    if (const Redirect *redirect = op ? context.buffers.redirectOf(op) : nullptr; redirect && redirect->isCopied)
      loads.insert(op);
    return true;
  });
  for (const Root &root : nest.roots)
    walk.root(root);
  if (loads.empty())
    return emitPeeled(nest);
  llvm::Value *anyCopied = ir.getFalse();
  for (Operation *load : loads)
    anyCopied = ir.CreateOr(anyCopied, context.buffers.redirectOf(load)->isCopied);
  auto withoutCopies = [&] {
    SmallVector<llvm::Value *, 2> flags;
    for (Operation *load : loads)
      flags.push_back(context.buffers.setCopied(load, nullptr));
    LogicalResult result = emitPeeled(nest);
    for (auto [load, flag] : llvm::zip_equal(loads, flags))
      context.buffers.setCopied(load, flag);
    return result;
  };
  return emitVersions(anyCopied, [&] { return emitPeeled(nest); }, withoutCopies);
}

//--- in place ------------------------------------------------------------------------------

/// Whether the nest's one load reads every element from memory; null where that cannot be tested before the nest.
llvm::Value *VersionEmitter::isWhole(tt::LoadOp load) {
  if (nest.roots.size() != 1)
    return nullptr;
  llvm::Value *whole = context.scalars.holds(nest.assumptions);
  if (!load.getMask())
    return whole;
  ArrayRef<int64_t> shape = tt::shapeOf(load.getType());
  for (Conjunct &part : conjuncts(context.affineInfo, load.getMask(), identityMap(shape.size()))) {
    if (!part.prefix)
      return nullptr;
    const int64_t extent = shape[part.prefix->dim];
    whole =
        ir.CreateAnd(whole, ir.CreateICmpEQ(context.scalars.clamped(part.prefix->bound, extent), ir.getInt64(extent)));
  }
  return whole;
}

LogicalResult VersionEmitter::emitUnlessInPlace() {
  context.frame.setLocation(nest.inPlace->getLoc());
  auto load = cast<tt::LoadOp>(nest.inPlace);
  const bool isElsewhere = context.plan.bufferOf.contains(load.getResult()) || context.buffers.redirectOf(load);
  llvm::Value *whole = isElsewhere ? nullptr : isWhole(load);
  if (!whole)
    return emitExactOrNot();
  if (anyWraps)
    whole = ir.CreateAnd(whole, ir.CreateNot(anyWraps));
  const Redirect memory = *memoryOf(load);
  const BufferId copy = nest.roots.front().buffers.front();
  const int64_t size = storageBytes(tt::elementOf(load.getType())), rowBytes = tt::shapeOf(load.getType())[1] * size;
  Redirect source;
  source.base = ir.CreateSelect(whole, memory.base, context.buffers.at(copy));
  source.strides = {ir.CreateSelect(whole, memory.strides[0], ir.getInt64(rowBytes)), ir.getInt64(size)};
  llvm::Value *isCopied = source.isCopied = ir.CreateNot(whole);
  context.buffers.setOperandSource(copy, std::move(source));
  LogicalResult result = success();
  emitConditional(ir, isCopied, [&] { result = emitExactOrNot(); });
  return result;
}

/// The bytes from element to element along each dimension of a tile of pointers that is affine as a whole, since each
/// of its dimensions is one regular chunk; empty where it is not.
static SmallVector<int64_t, 4> regularStrides(AffineInfo &affineInfo, Value pointer) {
  SmallVector<int64_t, 4> strides;
  ArrayRef<int64_t> shape = tt::shapeOf(pointer.getType());
  for (auto [dim, extent] : llvm::enumerate(shape)) {
    const auto form = chunkForm(affineInfo, pointer, identityMap(shape.size()), dim, extent);
    if (!form)
      return {};
    strides.push_back(form->stride);
  }
  return strides;
}

/// What the load reads, where that is affine: memory, or the copy that has been made of it. Where `isCopied` is set, it
/// reads the copy instead of this memory.
std::optional<Redirect> VersionEmitter::memoryOf(tt::LoadOp load) {
  const Redirect *redirect = context.buffers.redirectOf(load);
  if (redirect && redirect->base)
    return *redirect;
  Redirect memory;
  if (const AffineForm *found = context.affineInfo.assumed(load.getPtr())) {
    const AffineForm form = *found;
    memory.base = context.scalars.firstAddress(form);
    for (const Polynomial &stride : form.steps)
      memory.strides.push_back(context.scalars.poly(stride));
  } else {
    const SmallVector<int64_t, 4> strides = regularStrides(context.affineInfo, load.getPtr());
    memory.base = strides.empty() ? nullptr : NestEmitter(context, nest).firstAddress(load.getPtr());
    if (!memory.base)
      return std::nullopt;
    for (int64_t stride : strides)
      memory.strides.push_back(ir.getInt64(stride));
  }
  memory.isCopied = redirect ? redirect->isCopied : nullptr;
  return memory;
}

/// Prefetches the lines of some rows a distance ahead.
static void prefetchRows(llvm::IRBuilder<> &ir, llvm::Value *first, llvm::Value *stride, llvm::Value *distance,
                         int64_t rows, int64_t rowBytes) {
  constexpr int64_t lineBytes = 64;
  llvm::Value *ahead = ir.CreatePtrAdd(first, distance);
  emitCounted(ir, rows, 1, [&](llvm::Value *row) {
    llvm::Value *begin = ir.CreatePtrAdd(ahead, ir.CreateMul(row, stride));
    for (int64_t offset = 0; offset < rowBytes; offset += lineBytes)
      emitPrefetch(ir, ir.CreateConstGEP1_64(ir.getInt8Ty(), begin, offset), /*isWrite=*/false);
  });
}

/// Fills a buffer whose innermost dimension is another than that of the load's memory: from memory, or from a copy.
LogicalResult VersionEmitter::emitTransposed() {
  const Root &root = nest.roots.front();
  const Buffer &copy = context.plan.buffers[*root.staging], &target = context.plan.buffers[root.buffers.front()];
  const unsigned row = target.innermostDim(), column = copy.innermostDim();
  const int64_t size = storageBytes(copy.element);
  Transposition work{context.buffers.at(*root.staging),
                     context.buffers.at(root.buffers.front()),
                     copy.shape[row],
                     copy.shape[column],
                     IntegerType::get(root.value.getContext(), 8 * size),
                     ir.getInt64(copy.shape[column] * size)};
  auto load = root.value.getDefiningOp<tt::LoadOp>();
  llvm::Value *whole = load ? isWhole(load) : nullptr;
  std::optional<Redirect> memory = whole ? memoryOf(load) : std::nullopt;
  if (memory) {
    auto *step = dyn_cast<llvm::ConstantInt>(memory->strides[column]);
    if (!step || step->getSExtValue() != size)
      memory.reset();
    else if (memory->isCopied)
      whole = ir.CreateAnd(whole, ir.CreateNot(memory->isCopied));
  }
  if (!memory) {
    if (failed(emitExactOrNot()))
      return failure();
    emitTranspose(context, work);
    return success();
  }
  if (anyWraps)
    whole = ir.CreateAnd(whole, ir.CreateNot(anyWraps));
  llvm::BasicBlock *inPlace = context.frame.newBlock("in.place"), *missing = context.frame.newBlock("copied"),
                   *after = context.frame.newBlock("transposed");
  llvm::Value *source = ir.CreateSelect(whole, memory->base, work.from);
  llvm::Value *stride = ir.CreateSelect(whole, memory->strides[row], work.rowStride);
  ir.CreateCondBr(whole, inPlace, missing);
  ir.SetInsertPoint(inPlace);
  if (llvm::Value *distance =
          context.prefetches.distance(load, nest)) // before the loads: between them they took a tenth longer
    prefetchRows(ir, memory->base, memory->strides[row], distance, work.rows, work.columns * size);
  ir.CreateBr(after);
  ir.SetInsertPoint(missing);
  if (failed(emitExactOrNot()))
    return failure();
  ir.CreateBr(after);
  ir.SetInsertPoint(after);
  work.from = source;
  work.rowStride = stride;
  emitTranspose(context, work);
  return success();
}

/// Emits what makes the nest's results, wherever it reads them from.
LogicalResult VersionEmitter::emitMade() {
  anyWraps = findWraps();
  if (nest.inPlace)
    return emitUnlessInPlace();
  const bool isTransposed = llvm::any_of(nest.roots, [](const Root &root) { return root.staging.has_value(); });
  return isTransposed ? emitTransposed() : emitExactOrNot();
}

LogicalResult VersionEmitter::run() {
  return nest.kept ? context.kept.emitUnlessKept(nest, [&] { return emitMade(); }) : emitMade();
}
