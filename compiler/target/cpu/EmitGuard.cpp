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

llvm::Value *FunctionEmitter::emitOverlap(const Guard &guard) {
  auto load = cast<tt::LoadOp>(guard.load);
  const Range read = accessRange(load.getPtr(), load.getMask());
  llvm::Value *overlaps = ir.getFalse();
  for (const Guard::Conflict &conflict : guard.conflicts) {
    auto store = cast<tt::StoreOp>(conflict.store);
    Value pointer = store.getPtr(), mask = store.getMask();
    llvm::Value *harms;
    if (isa<RankedTensorType>(pointer.getType())) {
      const Range written = accessRange(pointer, mask);
      llvm::Value *meets = ir.CreateAnd(ir.CreateICmpULT(read.low, written.high), ir.CreateICmpULT(written.low, read.high));
      llvm::Value *both = ir.CreateAnd(ir.CreateICmpNE(read.low, read.high), ir.CreateICmpNE(written.low, written.high));
      harms = ir.CreateAnd(meets, both);
    } else {
      llvm::Value *low = ir.CreatePtrToInt(scalar(pointer), ir.getInt64Ty());
      llvm::Value *high = ir.CreateAdd(low, ir.getInt64(storageBytes(store.getValue().getType())));
      harms = ir.CreateAnd(ir.CreateICmpULT(read.low, high), ir.CreateICmpULT(low, read.high));
    }
    if (conflict.sameIndex) {
      const AffineForm from = *facts.affine(load.getPtr());
      const AffineForm to = *facts.affine(pointer);
      harms = ir.CreateAnd(harms, ir.CreateICmpNE(scalar(from.pointer), scalar(to.pointer)));
    }
    overlaps = ir.CreateOr(overlaps, harms);
  }
  return overlaps;
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
