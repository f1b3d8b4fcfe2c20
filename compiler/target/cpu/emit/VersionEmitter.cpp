// Emits the versions of a nest that the plan has chosen, and the tests between them.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/emit/VersionEmitter.h"

#include "compiler/index/Wrap.h"
#include "compiler/target/cpu/emit/ControlFlow.h"
#include "compiler/target/cpu/emit/KeptOperandEmitter.h"
#include "compiler/target/cpu/emit/Prefetches.h"
#include "compiler/target/cpu/emit/Transpose.h"
#include "compiler/target/cpu/emit/nest/NestEmitter.h"
#include "compiler/target/cpu/plan/Masks.h"
#include "compiler/target/cpu/plan/PlanBuilder.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

/// Emits two versions of one nest. The scalars that it defines are merged after them.
LogicalResult VersionEmitter::emitEither(llvm::Value *condition, Emit whenTrue, Emit whenFalse) {
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

/// Whether a compared sum overflows its type.
llvm::Value *VersionEmitter::emitAnyWraps(ArrayRef<Operation *> comparisons) {
  llvm::Value *any = nullptr;
  for (Operation *compare : comparisons)
    for (Value side : compare->getOperands())
      for (Value sum : index::sumsThatMayWrap(side)) {
        llvm::Value *wraps = context.scalars.wraps(sum);
        any = any ? ir.CreateOr(any, wraps) : wraps;
      }
  return any;
}

/// Emits the version in which no comparison that may wrap is a prefix. It reads copied tiles through selected
/// addresses.
LogicalResult VersionEmitter::emitExact(const Nest &version, Versions rest) {
  Nest exact = version;
  llvm::erase_if(exact.masks, [](const NestMask &mask) { return mask.prefix.mayWrap; });
  if (!rest.empty() && rest.front().kind == VersionKind::Uncopied)
    rest = rest.drop_front();
  context.affineInfo.setExact(true);
  LogicalResult result = emit(exact, rest);
  context.affineInfo.setExact(false);
  return result;
}

LogicalResult VersionEmitter::emitCopiedOrNot(ArrayRef<Operation *> loads, Emit emitRest) {
  llvm::Value *anyCopied = ir.getFalse();
  for (Operation *load : loads)
    anyCopied = ir.CreateOr(anyCopied, context.buffers.redirectOf(load)->isCopied);
  return emitEither(anyCopied, emitRest, [&] {
    SmallVector<llvm::Value *, 2> flags;
    for (Operation *load : loads)
      flags.push_back(context.buffers.setCopied(load, nullptr));
    LogicalResult result = emitRest();
    for (auto [load, flag] : llvm::zip_equal(loads, flags))
      context.buffers.setCopied(load, flag);
    return result;
  });
}

LogicalResult VersionEmitter::emitFirstOrNot(const Nest &version, Emit emitRest) {
  auto loop = cast<scf::ForOp>(version.peeledLoop);
  context.frame.setLocation(loop.getLoc());
  llvm::Value *isFirst =
      ir.CreateICmpEQ(context.scalars.of(loop.getInductionVar()), context.scalars.of(loop.getLowerBound()));
  auto first = [&] {
    context.buffers.setInitial(version.initial);
    LogicalResult result = emitRest();
    context.buffers.setInitial({});
    return result;
  };
  return emitEither(isFirst, first, emitRest);
}

/// Emits the loops of the nest, in the versions that are left.
LogicalResult VersionEmitter::emit(const Nest &version, Versions versions) {
  if (versions.empty())
    return NestEmitter(context, version).run();
  const Versions rest = versions.drop_front();
  auto emitRest = [&] { return emit(version, rest); };
  switch (versions.front().kind) {
  case VersionKind::Exact:
    return emitEither(anyWraps, [&] { return emitExact(version, rest); }, emitRest);
  case VersionKind::Uncopied:
    return emitCopiedOrNot(versions.front().ops, emitRest);
  case VersionKind::FirstIteration:
    return emitFirstOrNot(version, emitRest);
  case VersionKind::Kept:
  case VersionKind::InPlace:
    break;
  }
  llvm_unreachable("these come before the loops");
}

//--- in place ------------------------------------------------------------------------------

/// Whether the nest's one load reads every element from memory.
llvm::Value *VersionEmitter::isWhole(tt::LoadOp load) {
  llvm::Value *whole = context.scalars.holds(nest.assumptions);
  if (!load.getMask())
    return whole;
  ArrayRef<int64_t> shape = tt::shapeOf(load.getType());
  for (Conjunct &part : conjuncts(context.affineInfo, load.getMask(), identityMap(shape.size()))) {
    const int64_t extent = shape[part.prefix->dim];
    whole =
        ir.CreateAnd(whole, ir.CreateICmpEQ(context.scalars.clamped(part.prefix->bound, extent), ir.getInt64(extent)));
  }
  return whole;
}

LogicalResult VersionEmitter::emitUnlessInPlace(tt::LoadOp load, Versions rest) {
  context.frame.setLocation(load.getLoc());
  llvm::Value *whole = isWhole(load);
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
  emitConditional(ir, isCopied, [&] { result = emit(nest, rest); });
  return result;
}

/// The affine tile that the load reads: memory, or a guard's copy of it. Where `isCopied` is set, the load reads the
/// copy instead of this memory.
std::optional<Redirect> VersionEmitter::memoryOf(tt::LoadOp load) {
  const Redirect *redirect = context.buffers.redirectOf(load);
  if (redirect && redirect->base)
    return *redirect;
  Redirect memory;
  if (const AffineForm *affine = context.affineInfo.assumed(load.getPtr())) {
    const AffineForm form = *affine;
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
LogicalResult VersionEmitter::emitTransposed(tt::LoadOp load, Versions rest) {
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
  if (!load) {
    if (failed(emit(nest, rest)))
      return failure();
    emitTranspose(context, work);
    return success();
  }
  llvm::Value *whole = isWhole(load);
  const std::optional<Redirect> memory = memoryOf(load);
  if (!memory)
    return failure();
  if (memory->isCopied)
    whole = ir.CreateAnd(whole, ir.CreateNot(memory->isCopied));
  if (anyWraps)
    whole = ir.CreateAnd(whole, ir.CreateNot(anyWraps));
  llvm::BasicBlock *inPlace = context.frame.newBlock("in.place"), *missing = context.frame.newBlock("copied"),
                   *after = context.frame.newBlock("transposed");
  llvm::Value *source = ir.CreateSelect(whole, memory->base, work.from);
  llvm::Value *stride = ir.CreateSelect(whole, memory->strides[row], work.rowStride);
  ir.CreateCondBr(whole, inPlace, missing);
  ir.SetInsertPoint(inPlace);
  // Before the loads: between them they took a tenth longer.
  if (llvm::Value *distance = context.prefetches.distance(load, nest))
    prefetchRows(ir, memory->base, memory->strides[row], distance, work.rows, work.columns * size);
  ir.CreateBr(after);
  ir.SetInsertPoint(missing);
  if (failed(emit(nest, rest)))
    return failure();
  ir.CreateBr(after);
  ir.SetInsertPoint(after);
  work.from = source;
  work.rowStride = stride;
  emitTranspose(context, work);
  return success();
}

/// Emits the computation of the nest's results, which runs where they are not kept.
LogicalResult VersionEmitter::emitResults(Versions versions) {
  for (const NestVersion &version : versions)
    if (version.kind == VersionKind::Exact)
      anyWraps = emitAnyWraps(version.ops);
  tt::LoadOp inPlace;
  if (!versions.empty() && versions.front().kind == VersionKind::InPlace) {
    inPlace = cast<tt::LoadOp>(versions.front().ops.front());
    versions = versions.drop_front();
  }
  if (nest.roots.front().staging)
    return emitTransposed(inPlace, versions);
  return inPlace ? emitUnlessInPlace(inPlace, versions) : emit(nest, versions);
}

LogicalResult VersionEmitter::run() {
  const Versions versions = nest.versions;
  if (versions.empty() || versions.front().kind != VersionKind::Kept)
    return emitResults(versions);
  return context.keptOperands.emitUnlessKept(nest, [&] { return emitResults(versions.drop_front()); });
}
