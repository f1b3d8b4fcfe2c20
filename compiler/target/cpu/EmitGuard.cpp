// Copies a load's tile where a later store overlaps it, and lets the later reads use the copy.
// SPDX-License-Identifier: MIT
//
// The nests that read are not made twice: they read through a base and strides
// that were chosen before them.
#include "compiler/target/cpu/FunctionEmitter.h"
#include "compiler/target/cpu/Masks.h"
#include "compiler/target/cpu/NestEmitter.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

/// The bytes [low, high) that an affine access may touch; empty where its mask lets nothing through.
FunctionEmitter::Range FunctionEmitter::accessRange(Value pointer, Value mask) {
  const AffineForm form = *facts.affine(pointer);
  ArrayRef<int64_t> shape = tt::shapeOf(pointer.getType());
  SmallVector<llvm::Value *> counts;
  for (int64_t extent : shape)
    counts.push_back(ir.getInt64(extent));
  if (mask)
    for (Conjunct &part : conjuncts(facts, mask, identityMap(shape.size())))
      if (part.prefix) {
        llvm::Value *&count = counts[part.prefix->dim];
        count = ir.CreateBinaryIntrinsic(llvm::Intrinsic::smin, count, poly(part.prefix->bound));
      }
  llvm::Value *start = ir.CreatePtrToInt(scalar(form.pointer), ir.getInt64Ty());
  start = ir.CreateAdd(start, poly(form.base));
  llvm::Value *zero = ir.getInt64(0), *isEmpty = ir.getFalse();
  Range range{start, start};
  for (auto [count, stride] : llvm::zip_equal(counts, form.strides)) {
    isEmpty = ir.CreateOr(isEmpty, ir.CreateICmpSLE(count, zero));
    llvm::Value *reach = ir.CreateMul(ir.CreateSub(count, ir.getInt64(1)), poly(stride));
    range.low = ir.CreateAdd(range.low, ir.CreateBinaryIntrinsic(llvm::Intrinsic::smin, reach, zero));
    range.high = ir.CreateAdd(range.high, ir.CreateBinaryIntrinsic(llvm::Intrinsic::smax, reach, zero));
  }
  Type pointee = cast<tt::PointerType>(tt::elementOf(pointer.getType())).getPointee();
  range.high = ir.CreateAdd(range.high, ir.getInt64(storageBytes(pointee)));
  range.high = ir.CreateSelect(isEmpty, range.low, range.high);
  return range;
}

/// Whether no two indices of a tile share a byte, as far as each dimension steps over all inner ones.
llvm::Value *FunctionEmitter::emitDistinct(const AffineForm &form, ArrayRef<int64_t> shape, uint64_t size) {
  llvm::Value *isDistinct = ir.getTrue(), *span = ir.getInt64(size);
  for (size_t dim = shape.size(); dim-- > 0;) {
    if (shape[dim] == 1)
      continue;
    llvm::Value *step = ir.CreateBinaryIntrinsic(llvm::Intrinsic::abs, poly(form.strides[dim]), ir.getFalse());
    isDistinct = ir.CreateAnd(isDistinct, ir.CreateICmpSGE(step, span));
    span = ir.CreateAdd(span, ir.CreateMul(step, ir.getInt64(shape[dim] - 1)));
  }
  return isDistinct;
}

/// The bytes from a tile's first element to behind its last, where its strides are known.
static std::optional<int64_t> constantSpan(const AffineForm &form, ArrayRef<int64_t> shape, int64_t size) {
  for (auto [stride, extent] : llvm::zip_equal(form.strides, shape)) {
    const std::optional<int64_t> constant = extent == 1 ? 0 : stride.asConstant();
    if (!constant)
      return std::nullopt;
    size += std::abs(*constant) * (extent - 1);
  }
  return size;
}

/// Whether a load and a store of one nest with equal maps may harm each other for all that their two pointers tell:
/// that is the same for all programs, and mostly all there is to ask.
llvm::Value *FunctionEmitter::emitSuspicion(tt::LoadOp load, tt::StoreOp store) {
  const AffineForm from = *facts.affine(load.getPtr()), to = *facts.affine(store.getPtr());
  const ArrayRef<int64_t> shape = tt::shapeOf(load.getPtr().getType());
  const uint64_t size = storageBytes(tt::elementOf(load.getType()));
  llvm::Value *low = ir.CreatePtrToInt(scalar(from.pointer), ir.getInt64Ty());
  llvm::Value *high = ir.CreatePtrToInt(scalar(to.pointer), ir.getInt64Ty());
  llvm::Value *isInPlace = ir.CreateAnd(ir.CreateICmpEQ(low, high), emitDistinct(from, shape, size));
  llvm::Value *isSuspect = ir.CreateNot(isInPlace);
  if (const std::optional<int64_t> span = constantSpan(from, shape, static_cast<int64_t>(size))) {
    llvm::Value *distance = ir.CreateBinaryIntrinsic(llvm::Intrinsic::abs, ir.CreateSub(high, low), ir.getFalse());
    isSuspect = ir.CreateAnd(isSuspect, ir.CreateICmpULT(distance, ir.getInt64(*span)));
  }
  return isSuspect;
}

/// Whether the bytes that a load and a store touch meet.
llvm::Value *FunctionEmitter::emitMeeting(const Range &read, tt::StoreOp store) {
  Value pointer = store.getPtr();
  if (!isa<RankedTensorType>(pointer.getType())) {
    llvm::Value *low = ir.CreatePtrToInt(scalar(pointer), ir.getInt64Ty());
    llvm::Value *high = ir.CreateAdd(low, ir.getInt64(storageBytes(store.getValue().getType())));
    return ir.CreateAnd(ir.CreateICmpULT(read.low, high), ir.CreateICmpULT(low, read.high));
  }
  const Range written = accessRange(pointer, store.getMask());
  llvm::Value *meets = ir.CreateAnd(ir.CreateICmpULT(read.low, written.high), ir.CreateICmpULT(written.low, read.high));
  llvm::Value *both = ir.CreateAnd(ir.CreateICmpNE(read.low, read.high), ir.CreateICmpNE(written.low, written.high));
  return ir.CreateAnd(meets, both);
}

llvm::Value *FunctionEmitter::emitOverlap(const Guard &guard) {
  auto load = cast<tt::LoadOp>(guard.load);
  SmallVector<llvm::Value *> suspicions;
  llvm::Value *isAny = ir.getFalse();
  for (const Guard::Conflict &conflict : guard.conflicts) {
    suspicions.push_back(conflict.sameIndex ? emitSuspicion(load, cast<tt::StoreOp>(conflict.store)) : ir.getTrue());
    isAny = ir.CreateOr(isAny, suspicions.back());
  }
  llvm::BasicBlock *before = ir.GetInsertBlock(), *look = newBlock("look"), *after = newBlock("looked");
  ir.CreateCondBr(isAny, look, after);
  ir.SetInsertPoint(look);
  const Range read = accessRange(load.getPtr(), load.getMask());
  llvm::Value *overlaps = ir.getFalse();
  for (auto [conflict, isSuspect] : llvm::zip_equal(guard.conflicts, suspicions)) {
    llvm::Value *meets = emitMeeting(read, cast<tt::StoreOp>(conflict.store));
    overlaps = ir.CreateOr(overlaps, ir.CreateAnd(isSuspect, meets));
  }
  llvm::BasicBlock *looked = ir.GetInsertBlock();
  ir.CreateBr(after);
  ir.SetInsertPoint(after);
  llvm::PHINode *result = ir.CreatePHI(ir.getInt1Ty(), 2);
  result->addIncoming(ir.getFalse(), before);
  result->addIncoming(overlaps, looked);
  return result;
}

LogicalResult FunctionEmitter::emitGuard(const Step &step) {
  const Guard &guard = *step.guard;
  auto load = cast<tt::LoadOp>(guard.load);
  setLocation(load.getLoc());
  llvm::Value *overlaps = emitOverlap(guard);
  llvm::BasicBlock *copy = newBlock("copy"), *after = newBlock("copied");
  ir.CreateCondBr(overlaps, copy, after);
  ir.SetInsertPoint(copy);
  if (failed(NestEmitter(*this, *step.nest).run()))
    return failure();
  ir.CreateBr(after);
  ir.SetInsertPoint(after);

  const AffineForm form = *facts.affine(load.getPtr());
  Redirect redirect;
  llvm::Value *original = ir.CreatePtrAdd(scalar(form.pointer), poly(form.base));
  redirect.base = ir.CreateSelect(overlaps, buffer(guard.copy), original);
  ArrayRef<int64_t> shape = tt::shapeOf(load.getType());
  int64_t stride = storageBytes(tt::elementOf(load.getType()));
  redirect.strides.resize(shape.size());
  for (size_t dim = shape.size(); dim-- > 0;) {
    const bool isSame = form.strides[dim].asConstant() == stride || shape[dim] == 1;
    redirect.strides[dim] = isSame ? static_cast<llvm::Value *>(ir.getInt64(stride))
                                   : ir.CreateSelect(overlaps, ir.getInt64(stride), poly(form.strides[dim]));
    stride *= shape[dim];
  }
  redirects[guard.load] = std::move(redirect);
  return success();
}
