// Reads tiles from memory in place, and copies them only where a part of them is masked or wraps: left operands of
// dots, and tiles that are transposed.
// SPDX-License-Identifier: MIT
//
// A dot reads that operand element by element, so its rows may have any stride, as may those of a transposed tile. The
// copy is skipped where its masks hold everywhere and its remainders do not wrap, which is tested before it. No store
// comes between the copy and its use.
#include "compiler/target/cpu/emit/ControlFlow.h"
#include "compiler/target/cpu/emit/NestEmitter.h"
#include "compiler/target/cpu/emit/Transpose.h"
#include "compiler/target/cpu/plan/Chunks.h"
#include "compiler/target/cpu/plan/Masks.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

/// Whether the nest's one load reads every element from memory; null where that cannot be tested before the nest.
llvm::Value *KernelEmitter::isWhole(const Nest &nest, tt::LoadOp load) {
  if (nest.roots.size() != 1)
    return nullptr;
  llvm::Value *whole = holds(nest.assumptions);
  if (!load.getMask())
    return whole;
  ArrayRef<int64_t> shape = tt::shapeOf(load.getType());
  for (Conjunct &part : conjuncts(affineInfo, load.getMask(), identityMap(shape.size()))) {
    if (!part.prefix)
      return nullptr;
    const int64_t extent = shape[part.prefix->dim];
    whole = ir.CreateAnd(whole, ir.CreateICmpEQ(clamped(part.prefix->bound, extent), ir.getInt64(extent)));
  }
  return whole;
}

LogicalResult KernelEmitter::emitUnlessInPlace(Nest &nest, llvm::Value *anyWraps) {
  setLocation(nest.inPlace->getLoc());
  auto load = cast<tt::LoadOp>(nest.inPlace);
  const bool isElsewhere = plan.bufferOf.contains(load.getResult()) || redirectOf(load);
  llvm::Value *whole = isElsewhere ? nullptr : isWhole(nest, load);
  if (!whole)
    return emitExactOrNot(nest, anyWraps);
  if (anyWraps)
    whole = ir.CreateAnd(whole, ir.CreateNot(anyWraps));
  const Redirect memory = *memoryOf(nest, load);
  const BufferId copy = nest.roots.front().buffers.front();
  const int64_t size = storageBytes(tt::elementOf(load.getType())), rowBytes = tt::shapeOf(load.getType())[1] * size;
  Redirect source;
  source.base = ir.CreateSelect(whole, memory.base, buffer(copy));
  source.strides = {ir.CreateSelect(whole, memory.strides[0], ir.getInt64(rowBytes)), ir.getInt64(size)};
  llvm::Value *isCopied = source.isCopied = ir.CreateNot(whole);
  operandSources[copy] = std::move(source);
  LogicalResult result = success();
  emitConditional(ir, isCopied, [&] { result = emitExactOrNot(nest, anyWraps); });
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
std::optional<Redirect> KernelEmitter::memoryOf(const Nest &nest, tt::LoadOp load) {
  const Redirect *redirect = redirectOf(load);
  if (redirect && redirect->base)
    return *redirect;
  Redirect memory;
  if (const AffineForm *found = affineInfo.assumed(load.getPtr())) {
    const AffineForm form = *found;
    memory.base = firstAddress(form);
    for (const Poly &stride : form.strides)
      memory.strides.push_back(poly(stride));
  } else {
    const SmallVector<int64_t, 4> strides = regularStrides(affineInfo, load.getPtr());
    memory.base = strides.empty() ? nullptr : NestEmitter(*this, nest).firstAddress(load.getPtr());
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
LogicalResult KernelEmitter::emitTransposed(Nest &nest, llvm::Value *anyWraps) {
  const Root &root = nest.roots.front();
  const Buffer &copy = plan.buffers[*root.staging], &target = plan.buffers[root.buffers.front()];
  const unsigned row = target.innermostDim(), column = copy.innermostDim();
  const int64_t size = storageBytes(copy.element);
  Transposition work{buffer(*root.staging),
                     buffer(root.buffers.front()),
                     copy.shape[row],
                     copy.shape[column],
                     IntegerType::get(root.value.getContext(), 8 * size),
                     ir.getInt64(copy.shape[column] * size)};
  auto load = root.value.getDefiningOp<tt::LoadOp>();
  llvm::Value *whole = load ? isWhole(nest, load) : nullptr;
  std::optional<Redirect> memory = whole ? memoryOf(nest, load) : std::nullopt;
  if (memory) {
    auto *step = dyn_cast<llvm::ConstantInt>(memory->strides[column]);
    if (!step || step->getSExtValue() != size)
      memory.reset();
    else if (memory->isCopied)
      whole = ir.CreateAnd(whole, ir.CreateNot(memory->isCopied));
  }
  if (!memory) {
    if (failed(emitExactOrNot(nest, anyWraps)))
      return failure();
    emitTranspose(*this, work);
    return success();
  }
  if (anyWraps)
    whole = ir.CreateAnd(whole, ir.CreateNot(anyWraps));
  llvm::BasicBlock *inPlace = newBlock("in.place"), *missing = newBlock("copied"), *after = newBlock("transposed");
  llvm::Value *source = ir.CreateSelect(whole, memory->base, work.from);
  llvm::Value *stride = ir.CreateSelect(whole, memory->strides[row], work.rowStride);
  ir.CreateCondBr(whole, inPlace, missing);
  ir.SetInsertPoint(inPlace);
  if (llvm::Value *distance = prefetchDistance(load, nest)) // before the loads: between them they took a tenth longer
    prefetchRows(ir, memory->base, memory->strides[row], distance, work.rows, work.columns * size);
  ir.CreateBr(after);
  ir.SetInsertPoint(missing);
  if (failed(emitExactOrNot(nest, anyWraps)))
    return failure();
  ir.CreateBr(after);
  ir.SetInsertPoint(after);
  work.from = source;
  work.rowStride = stride;
  emitTranspose(*this, work);
  return success();
}
