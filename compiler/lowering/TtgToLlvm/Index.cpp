// Emits integer and pointer arithmetic on tiles; computes what registers have in common once.
// SPDX-License-Identifier: MIT
//
// The registers of `make_range` are base + constant. The same holds for sums with splats, products with constants, sign
// extensions and pointers derived from it. Such a tile is emitted as one computation on bases and one constant addition
// per register, which addresses absorb.
#include "compiler/lowering/TtgToLlvm/TtgFunctionEmitter.h"

#include "compiler/analysis/MemoryAccess.h"

#include "llvm/Analysis/ValueTracking.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::lowering;

llvm::Value *TtgFunctionEmitter::onBases(llvm::Value *a, llvm::Value *b, llvm::function_ref<llvm::Value *()> make) {
  llvm::Value *&known = basesOfOp[{a, b}];
  if (!known)
    known = make();
  return known;
}

bool TtgFunctionEmitter::addsExactly(llvm::Value *base, int64_t offset) {
  if (!base || offset == 0)
    return true;
  auto [entry, isNew] = knownBits.try_emplace(base);
  if (isNew)
    entry->second = llvm::computeKnownBits(base, module.module.getDataLayout());
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

llvm::Value *TtgFunctionEmitter::addBaseOffsets(llvm::Value *a, llvm::Value *b, bool isDifference) {
  const BaseOffset left = baseOffsets.of(a), right = baseOffsets.of(b);
  auto combine = [&](llvm::Value *x, llvm::Value *y) { return isDifference ? ir.CreateSub(x, y) : ir.CreateAdd(x, y); };
  BaseOffset sum;
  if (!right.base)
    sum.base = left.base;
  else if (!left.base && !isDifference)
    sum.base = right.base;
  else
    sum.base = onBases(left.base, right.base, [&] {
      return combine(left.base ? left.base : llvm::Constant::getNullValue(a->getType()), right.base);
    });
  sum.offset = wrapped(isDifference ? left.offset - right.offset : left.offset + right.offset, a->getType());
  sum.isExact = addsExactly(sum.base, sum.offset);
  return materialise(sum, a->getType());
}

llvm::Value *TtgFunctionEmitter::scaleBaseOffset(llvm::Value *a, const llvm::APInt &factor) {
  const BaseOffset baseOffset = baseOffsets.of(a);
  llvm::Type *type = a->getType();
  BaseOffset scaled;
  if (baseOffset.base)
    scaled.base = onBases(baseOffset.base, nullptr,
                          [&] { return ir.CreateMul(baseOffset.base, llvm::ConstantInt::get(type, factor)); });
  scaled.offset = wrapped(baseOffset.offset * factor.getSExtValue(), type);
  scaled.isExact = addsExactly(scaled.base, scaled.offset);
  return materialise(scaled, type);
}

llvm::Value *TtgFunctionEmitter::extendBaseOffset(llvm::Value *a, llvm::Type *type) {
  const BaseOffset baseOffset = baseOffsets.of(a);
  if (!baseOffset.isExact)
    return ir.CreateSExt(a, type);
  BaseOffset wide = baseOffset;
  if (baseOffset.base)
    wide.base = onBases(baseOffset.base, nullptr, [&] { return ir.CreateSExt(baseOffset.base, type); });
  return materialise(wide, type);
}

/// The constant that all registers of a tile hold.
static llvm::ConstantInt *splatConstant(const Tile &tile) {
  if (!llvm::all_equal(tile))
    return nullptr;
  return dyn_cast<llvm::ConstantInt>(tile.front());
}

bool TtgFunctionEmitter::emitIndex(Operation *op) {
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!type || !(type.getElementType().isInteger(32) || type.getElementType().isInteger(64)))
    return false;
  Tile result;
  if (isa<arith::AddIOp, arith::SubIOp>(op)) {
    for (auto [a, b] : llvm::zip_equal(tile(op->getOperand(0)), tile(op->getOperand(1))))
      result.push_back(addBaseOffsets(a, b, isa<arith::SubIOp>(op)));
  } else if (isa<arith::MulIOp, arith::ShLIOp>(op)) {
    llvm::ConstantInt *factor = splatConstant(tile(op->getOperand(1)));
    const unsigned width = type.getElementTypeBitWidth();
    if (!factor || (isa<arith::ShLIOp>(op) && factor->getValue().uge(width)))
      return false;
    const llvm::APInt by =
        isa<arith::ShLIOp>(op) ? llvm::APInt::getOneBitSet(width, factor->getZExtValue()) : factor->getValue();
    for (llvm::Value *a : tile(op->getOperand(0)))
      result.push_back(scaleBaseOffset(a, by));
  } else if (isa<arith::ExtSIOp>(op)) {
    for (llvm::Value *a : tile(op->getOperand(0)))
      result.push_back(extendBaseOffset(a, elements.typeOf(type.getElementType())));
  } else {
    return false;
  }
  define(op->getResult(0), std::move(result));
  return true;
}

/// As in the axis analysis, an offset that overflows its type counts as an error of the program.
LogicalResult TtgFunctionEmitter::emitAddPtr(tt::AddPtrOp op) {
  const Type pointee = cast<tt::PointerType>(tt::elementOf(op.getType())).getPointee();
  const int64_t bytes = analysis::memoryBits(pointee) / 8;
  llvm::Type *memoryType = elements.memoryType(pointee);
  Tile result;
  for (auto [pointer, offset] : llvm::zip_equal(tile(op.getPtr()), tile(op.getOffset()))) {
    const BaseOffset from = baseOffsets.of(pointer), by = baseOffsets.of(offset);
    BaseOffset sum = {from.base, from.offset + by.offset * bytes, true};
    if (by.base)
      sum.base = onBases(from.base, by.base, [&] { return ir.CreateGEP(memoryType, from.base, by.base); });
    result.push_back(materialise(sum, pointer->getType()));
  }
  define(op, std::move(result));
  return success();
}
