// Copies a load's tile where a later store overlaps it, and makes the later reads use the copy.
// SPDX-License-Identifier: MIT
//
// Nests read affine tiles through a base and strides that are selected before them. A nest that reads others is emitted
// twice: in one version no tile has been copied, in the other each address is selected.
#include "compiler/target/cpu/emit/Overlap.h"

#include "compiler/target/cpu/emit/ControlFlow.h"
#include "compiler/target/cpu/emit/nest/NestEmitter.h"
#include "compiler/target/cpu/plan/Masks.h"
#include "compiler/target/cpu/plan/Ranges.h"

#include <limits>

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

namespace {
/// Tests whether the accesses of a guard overlap.
class OverlapTest {
public:
  explicit OverlapTest(EmitContext &context) : context(context), ir(context.ir) {}
  llvm::Value *emitOverlap(const Guard &guard);

private:
  /// Addresses [low, high), or the smallest and the largest of some numbers.
  struct Range {
    llvm::Value *low = nullptr;
    llvm::Value *high = nullptr;
  };

  llvm::Value *emitDistinct(const AffineForm &form, ArrayRef<int64_t> shape, uint64_t size);
  llvm::Value *emitMayOverlap(tt::LoadOp load, tt::StoreOp store);
  llvm::Value *emitRangesOverlap(const Range &read, tt::StoreOp store);
  Range accessRange(tt::MemoryAccessOpInterface access);
  Range emitRange(const RangeExpr &range, ArrayRef<llvm::Value *> counts);
  Range affineRange(const RangeExpr &range, ArrayRef<llvm::Value *> counts);
  llvm::Value *smaller(llvm::Value *a, llvm::Value *b) { return ir.CreateBinaryIntrinsic(llvm::Intrinsic::smin, a, b); }
  llvm::Value *larger(llvm::Value *a, llvm::Value *b) { return ir.CreateBinaryIntrinsic(llvm::Intrinsic::smax, a, b); }

  EmitContext &context;
  llvm::IRBuilder<> &ir;
};
} // namespace

/// The range of an affine tile, where each dimension of the whole tile has so many elements, at least one.
OverlapTest::Range OverlapTest::affineRange(const RangeExpr &range, ArrayRef<llvm::Value *> counts) {
  const AffineForm &form = range.form;
  llvm::Value *start = context.scalars.poly(form.start), *zero = ir.getInt64(0);
  if (form.base)
    start = ir.CreateAdd(ir.CreatePtrToInt(context.scalars.of(form.base), ir.getInt64Ty()), start);
  Range result{start, start};
  for (auto [extent, dim, stride] : llvm::zip_equal(range.shape, range.map, form.steps)) {
    llvm::Value *count = dim >= 0 ? counts[dim] : ir.getInt64(extent);
    llvm::Value *reach = ir.CreateMul(ir.CreateSub(count, ir.getInt64(1)), context.scalars.poly(stride));
    result.low = ir.CreateAdd(result.low, smaller(reach, zero));
    result.high = ir.CreateAdd(result.high, larger(reach, zero));
  }
  return result;
}

/// The smallest and the largest element of a range.
OverlapTest::Range OverlapTest::emitRange(const RangeExpr &range, ArrayRef<llvm::Value *> counts) {
  if (range.kind == RangeKind::Affine)
    return affineRange(range, counts);
  const Range first = emitRange(range.operands[0], counts);
  const Range second = range.operands.size() > 1 ? emitRange(range.operands[1], counts) : Range();
  llvm::Value *factor = ir.getInt64(range.factor);
  switch (range.kind) {
  case RangeKind::Sum:
    return {ir.CreateAdd(first.low, ir.CreateMul(second.low, factor)),
            ir.CreateAdd(first.high, ir.CreateMul(second.high, factor))};
  case RangeKind::Difference:
    return {ir.CreateSub(first.low, second.high), ir.CreateSub(first.high, second.low)};
  case RangeKind::Product:
    return {ir.CreateMul(first.low, factor), ir.CreateMul(first.high, factor)};
  case RangeKind::Quotient:
    return {ir.CreateSDiv(first.low, factor), ir.CreateSDiv(first.high, factor)};
  case RangeKind::Remainder: {
    // Between two multiples of the divisor the remainder grows with the dividend.
    llvm::Value *isOne = ir.CreateICmpEQ(ir.CreateSDiv(first.low, factor), ir.CreateSDiv(first.high, factor));
    llvm::Value *least =
        ir.CreateSelect(ir.CreateICmpSLT(first.low, ir.getInt64(0)), ir.getInt64(1 - range.factor), ir.getInt64(0));
    return {ir.CreateSelect(isOne, ir.CreateSRem(first.low, factor), least),
            ir.CreateSelect(isOne, ir.CreateSRem(first.high, factor), ir.getInt64(range.factor - 1))};
  }
  case RangeKind::Minimum:
    return {smaller(first.low, second.low), smaller(first.high, second.high)};
  case RangeKind::Maximum:
    return {larger(first.low, second.low), larger(first.high, second.high)};
  case RangeKind::Union:
    return {smaller(first.low, second.low), larger(first.high, second.high)};
  case RangeKind::Wrapped: {
    llvm::Value *least = ir.getInt64(std::numeric_limits<int32_t>::min());
    llvm::Value *most = ir.getInt64(std::numeric_limits<int32_t>::max());
    llvm::Value *fits = ir.CreateAnd(ir.CreateICmpSGE(first.low, least), ir.CreateICmpSLE(first.high, most));
    return {ir.CreateSelect(fits, first.low, least), ir.CreateSelect(fits, first.high, most)};
  }
  case RangeKind::Affine:
    break;
  }
  llvm_unreachable("all kinds are listed");
}

/// The bytes [low, high) that an access may cover; empty where its mask excludes all elements.
OverlapTest::Range OverlapTest::accessRange(tt::MemoryAccessOpInterface access) {
  Value pointer = access.getAccessedPointer(), mask = access.getAccessMask();
  ArrayRef<int64_t> shape = tt::shapeOf(pointer.getType());
  SmallVector<llvm::Value *> counts;
  for (int64_t extent : shape)
    counts.push_back(ir.getInt64(extent));
  if (mask)
    for (Conjunct &part : conjuncts(context.affineInfo, mask, identityMap(shape.size())))
      if (part.prefix) {
        llvm::Value *&count = counts[part.prefix->dim];
        count = smaller(count, context.scalars.poly(part.prefix->bound));
      }
  llvm::Value *isEmpty = ir.getFalse();
  for (llvm::Value *count : counts)
    isEmpty = ir.CreateOr(isEmpty, ir.CreateICmpSLE(count, ir.getInt64(0)));
  Range range = emitRange(*addressRange(context.affineInfo, access), counts);
  range.high = ir.CreateAdd(range.high, ir.getInt64(bytesOfPointee(pointer)));
  range.high = ir.CreateSelect(isEmpty, range.low, range.high);
  return range;
}

/// Whether no two indices of a tile share a byte, tested by comparing each dimension's stride with the span of all
/// inner ones.
llvm::Value *OverlapTest::emitDistinct(const AffineForm &form, ArrayRef<int64_t> shape, uint64_t size) {
  llvm::Value *isDistinct = ir.getTrue(), *span = ir.getInt64(size);
  for (size_t dim = shape.size(); dim-- > 0;) {
    if (shape[dim] == 1)
      continue;
    llvm::Value *step =
        ir.CreateBinaryIntrinsic(llvm::Intrinsic::abs, context.scalars.poly(form.steps[dim]), ir.getFalse());
    isDistinct = ir.CreateAnd(isDistinct, ir.CreateICmpSGE(step, span));
    span = ir.CreateAdd(span, ir.CreateMul(step, ir.getInt64(shape[dim] - 1)));
  }
  return isDistinct;
}

/// The bytes from a tile's first element to the end of its last, where its strides are constant.
static std::optional<int64_t> constantSpan(const AffineForm &form, ArrayRef<int64_t> shape, int64_t size) {
  for (auto [stride, extent] : llvm::zip_equal(form.steps, shape)) {
    const std::optional<int64_t> constant = extent == 1 ? 0 : stride.constant();
    if (!constant)
      return std::nullopt;
    size += std::abs(*constant) * (extent - 1);
  }
  return size;
}

/// Whether a load and a store of one nest with equal maps may conflict, judged by their two pointers alone: the result
/// is the same for all programs, and mostly decides.
llvm::Value *OverlapTest::emitMayOverlap(tt::LoadOp load, tt::StoreOp store) {
  const AffineForm from = *context.affineInfo.affine(load.getPtr()), to = *context.affineInfo.affine(store.getPtr());
  const ArrayRef<int64_t> shape = tt::shapeOf(load.getPtr().getType());
  const uint64_t size = storageBytes(tt::elementOf(load.getType()));
  llvm::Value *low = ir.CreatePtrToInt(context.scalars.of(from.base), ir.getInt64Ty());
  llvm::Value *high = ir.CreatePtrToInt(context.scalars.of(to.base), ir.getInt64Ty());
  llvm::Value *isInPlace = ir.CreateAnd(ir.CreateICmpEQ(low, high), emitDistinct(from, shape, size));
  llvm::Value *mayOverlap = ir.CreateNot(isInPlace);
  if (const std::optional<int64_t> span = constantSpan(from, shape, static_cast<int64_t>(size))) {
    llvm::Value *distance = ir.CreateBinaryIntrinsic(llvm::Intrinsic::abs, ir.CreateSub(high, low), ir.getFalse());
    mayOverlap = ir.CreateAnd(mayOverlap, ir.CreateICmpULT(distance, ir.getInt64(*span)));
  }
  return mayOverlap;
}

/// Whether a load and a store access a common byte.
llvm::Value *OverlapTest::emitRangesOverlap(const Range &read, tt::StoreOp store) {
  Value pointer = store.getPtr();
  if (!isa<RankedTensorType>(pointer.getType())) {
    llvm::Value *low = ir.CreatePtrToInt(context.scalars.of(pointer), ir.getInt64Ty());
    llvm::Value *high = ir.CreateAdd(low, ir.getInt64(storageBytes(store.getValue().getType())));
    return ir.CreateAnd(ir.CreateICmpSLT(read.low, high), ir.CreateICmpSLT(low, read.high));
  }
  const Range written = accessRange(store);
  llvm::Value *isOverlapping =
      ir.CreateAnd(ir.CreateICmpSLT(read.low, written.high), ir.CreateICmpSLT(written.low, read.high));
  llvm::Value *both = ir.CreateAnd(ir.CreateICmpNE(read.low, read.high), ir.CreateICmpNE(written.low, written.high));
  return ir.CreateAnd(isOverlapping, both);
}

llvm::Value *OverlapTest::emitOverlap(const Guard &guard) {
  auto load = cast<tt::LoadOp>(guard.load);
  SmallVector<llvm::Value *> mayOverlaps;
  llvm::Value *isAny = ir.getFalse();
  for (const Guard::Conflict &conflict : guard.conflicts) {
    mayOverlaps.push_back(conflict.sameIndex ? emitMayOverlap(load, cast<tt::StoreOp>(conflict.store)) : ir.getTrue());
    isAny = ir.CreateOr(isAny, mayOverlaps.back());
  }
  return emitWhereOr(ir, isAny, ir.getFalse(), [&] {
    const Range read = accessRange(load);
    llvm::Value *overlaps = ir.getFalse();
    for (auto [conflict, mayOverlap] : llvm::zip_equal(guard.conflicts, mayOverlaps)) {
      llvm::Value *isOverlapping = emitRangesOverlap(read, cast<tt::StoreOp>(conflict.store));
      overlaps = ir.CreateOr(overlaps, ir.CreateAnd(mayOverlap, isOverlapping));
    }
    return overlaps;
  });
}

LogicalResult cpu::emitGuard(EmitContext &context, const Step &step) {
  llvm::IRBuilder<> &ir = context.ir;
  const Guard &guard = *step.guard;
  auto load = cast<tt::LoadOp>(guard.load);
  context.frame.setLocation(load.getLoc());
  llvm::Value *overlaps = OverlapTest(context).emitOverlap(guard);
  LogicalResult result = success();
  emitConditional(ir, overlaps, [&] { result = NestEmitter(context, *step.nest).run(); });
  if (failed(result))
    return failure();
  Redirect redirect;
  const AffineForm *affine = context.affineInfo.affine(load.getPtr());
  if (!affine) {
    redirect.isCopied = overlaps;
    redirect.copy = guard.copy;
    context.buffers.redirect(guard.load, std::move(redirect));
    return success();
  }
  const AffineForm form = *affine;
  llvm::Value *original = context.scalars.firstAddress(form);
  redirect.base = ir.CreateSelect(overlaps, context.buffers.at(guard.copy), original);
  ArrayRef<int64_t> shape = tt::shapeOf(load.getType());
  int64_t stride = storageBytes(tt::elementOf(load.getType()));
  redirect.strides.resize(shape.size());
  context.plan.buffers[guard.copy].forEachDim(shape.size(), [&](size_t dim) {
    const bool isSame = form.steps[dim].constant() == stride || shape[dim] == 1;
    redirect.strides[dim] = isSame
                                ? static_cast<llvm::Value *>(ir.getInt64(stride))
                                : ir.CreateSelect(overlaps, ir.getInt64(stride), context.scalars.poly(form.steps[dim]));
    stride *= shape[dim];
  });
  context.buffers.redirect(guard.load, std::move(redirect));
  return success();
}
