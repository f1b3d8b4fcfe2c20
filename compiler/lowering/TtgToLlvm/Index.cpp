// Emits integer and pointer arithmetic on tiles; computes what registers have in common once.
// SPDX-License-Identifier: MIT
//
// The registers of `make_range` are base + constant. The same holds for sums with splats, products with constants, sign
// extensions and pointers derived from it. Such a tile is emitted as one computation on bases and one constant addition
// per register, which addresses absorb.
#include "compiler/lowering/TtgToLlvm/Index.h"
#include "compiler/dialect/tt/Elements.h"
#include "compiler/lowering/TtgToLlvm/OpEmitters.h"

#include "compiler/analysis/MemoryAccess.h"

#include "llvm/Analysis/ValueTracking.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::lowering;

static llvm::Value *onBases(TtgFunctionEmitter &emitter, llvm::Value *a, llvm::Value *b,
                            llvm::function_ref<llvm::Value *()> make) {
  llvm::Value *&known = emitter.basesOfOp[{a, b}];
  if (!known)
    known = make();
  return known;
}

static bool addsExactly(TtgFunctionEmitter &emitter, llvm::Value *base, int64_t offset) {
  if (!base || offset == 0)
    return true;
  auto [entry, isNew] = emitter.knownBits.try_emplace(base);
  if (isNew)
    entry->second = llvm::computeKnownBits(base, emitter.module.module.getDataLayout());
  const llvm::KnownBits &known = entry->second;
  const unsigned width = known.getBitWidth();
  const llvm::APInt constant(width, static_cast<uint64_t>(offset), /*isSigned=*/true, /*implicitTrunc=*/true);
  if (!constant.isNegative() && constant.isSubsetOf(known.Zero))
    return true; // an addition without carries
  bool overflowsUp = false, overflowsDown = false;
  (void)known.getSignedMaxValue().sadd_ov(constant, overflowsUp);
  (void)known.getSignedMinValue().sadd_ov(constant, overflowsDown);
  return !overflowsUp && !overflowsDown;
}

/// A constant, wrapped to the register's type.
static int64_t wrapped(int64_t value, llvm::Type *type) {
  return llvm::SignExtend64(static_cast<uint64_t>(value), type->getIntegerBitWidth());
}

static llvm::Value *addBaseOffsets(TtgFunctionEmitter &emitter, llvm::Value *a, llvm::Value *b, bool isDifference) {
  IrBuilder &ir = emitter.ir;
  const BaseOffset left = emitter.baseOffsets.of(a), right = emitter.baseOffsets.of(b);
  auto combine = [&](llvm::Value *x, llvm::Value *y) { return isDifference ? ir.CreateSub(x, y) : ir.CreateAdd(x, y); };
  BaseOffset sum;
  if (!right.base)
    sum.base = left.base;
  else if (!left.base && !isDifference)
    sum.base = right.base;
  else
    sum.base = onBases(emitter, left.base, right.base, [&] {
      return combine(left.base ? left.base : llvm::Constant::getNullValue(a->getType()), right.base);
    });
  sum.offset = wrapped(isDifference ? left.offset - right.offset : left.offset + right.offset, a->getType());
  sum.isExact = addsExactly(emitter, sum.base, sum.offset);
  return emitter.materialise(sum, a->getType());
}

static llvm::Value *scaleBaseOffset(TtgFunctionEmitter &emitter, llvm::Value *a, const llvm::APInt &factor) {
  const BaseOffset baseOffset = emitter.baseOffsets.of(a);
  llvm::Type *type = a->getType();
  BaseOffset scaled;
  if (baseOffset.base)
    scaled.base = onBases(emitter, baseOffset.base, nullptr,
                          [&] { return emitter.ir.CreateMul(baseOffset.base, llvm::ConstantInt::get(type, factor)); });
  scaled.offset = wrapped(baseOffset.offset * factor.getSExtValue(), type);
  scaled.isExact = addsExactly(emitter, scaled.base, scaled.offset);
  return emitter.materialise(scaled, type);
}

static llvm::Value *extendBaseOffset(TtgFunctionEmitter &emitter, llvm::Value *a, llvm::Type *type) {
  IrBuilder &ir = emitter.ir;
  const BaseOffset baseOffset = emitter.baseOffsets.of(a);
  if (!baseOffset.isExact)
    return ir.CreateSExt(a, type);
  BaseOffset wide = baseOffset;
  if (baseOffset.base)
    wide.base = onBases(emitter, baseOffset.base, nullptr, [&] { return ir.CreateSExt(baseOffset.base, type); });
  return emitter.materialise(wide, type);
}

/// The constant that all registers of a tile hold.
static llvm::ConstantInt *splatConstant(const Tile &tile) {
  if (!llvm::all_equal(tile))
    return nullptr;
  return dyn_cast<llvm::ConstantInt>(tile.front());
}

bool lowering::emitIndex(TtgFunctionEmitter &emitter, Operation *op) {
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!type || !(type.getElementType().isInteger(32) || type.getElementType().isInteger(64)))
    return false;
  Tile result;
  if (isa<arith::AddIOp, arith::SubIOp>(op)) {
    for (auto [a, b] : llvm::zip_equal(emitter.tile(op->getOperand(0)), emitter.tile(op->getOperand(1))))
      result.push_back(addBaseOffsets(emitter, a, b, isa<arith::SubIOp>(op)));
  } else if (isa<arith::MulIOp, arith::ShLIOp>(op)) {
    llvm::ConstantInt *factor = splatConstant(emitter.tile(op->getOperand(1)));
    const unsigned width = type.getElementTypeBitWidth();
    if (!factor || (isa<arith::ShLIOp>(op) && factor->getValue().uge(width)))
      return false;
    const llvm::APInt by =
        isa<arith::ShLIOp>(op) ? llvm::APInt::getOneBitSet(width, factor->getZExtValue()) : factor->getValue();
    for (llvm::Value *a : emitter.tile(op->getOperand(0)))
      result.push_back(scaleBaseOffset(emitter, a, by));
  } else if (isa<arith::ExtSIOp>(op)) {
    for (llvm::Value *a : emitter.tile(op->getOperand(0)))
      result.push_back(extendBaseOffset(emitter, a, emitter.elements.typeOf(type.getElementType())));
  } else {
    return false;
  }
  emitter.define(op->getResult(0), std::move(result));
  return true;
}

/// An offset does not wrap around (compiler/index/Wrap.h).
static LogicalResult emitAddPtr(TtgFunctionEmitter &emitter, tt::AddPtrOp op) {
  const Type pointee = cast<tt::PointerType>(tt::elementOf(op.getType())).getPointee();
  const int64_t bytes = tt::storageBytes(pointee);
  llvm::Type *memoryType = emitter.elements.memoryType(pointee);
  Tile result;
  for (auto [pointer, offset] : llvm::zip_equal(emitter.tile(op.getPtr()), emitter.tile(op.getOffset()))) {
    const BaseOffset from = emitter.baseOffsets.of(pointer), by = emitter.baseOffsets.of(offset);
    BaseOffset sum = {from.base, from.offset + by.offset * bytes, true};
    if (by.base)
      sum.base =
          onBases(emitter, from.base, by.base, [&] { return emitter.ir.CreateGEP(memoryType, from.base, by.base); });
    result.push_back(emitter.materialise(sum, pointer->getType()));
  }
  emitter.define(op, std::move(result));
  return success();
}

void lowering::addIndexEmitters(OpEmitters &table) { table.add<emitAddPtr, tt::AddPtrOp>(); }
