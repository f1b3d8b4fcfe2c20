// Integer and pointer arithmetic on tiles, with what registers have in common computed once.
// SPDX-License-Identifier: MIT
//
// The registers of `make_range` are base + constant, and so are those of sums with tiles of one value, of products with
// constants, of sign extensions and of pointers. Each such tile is emitted as one computation on bases and one addition
// of a constant a register, which addresses absorb.
#include "compiler/lowering/TtgToLlvm/FunctionEmitter.h"

#include "compiler/analysis/MemoryAccess.h"

#include "llvm/Analysis/ValueTracking.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::lowering;

llvm::Value *FunctionEmitter::onBases(llvm::Value *a, llvm::Value *b, llvm::function_ref<llvm::Value *()> make) {
  llvm::Value *&known = basesOfOp[{a, b}];
  if (!known)
    known = make();
  return known;
}

bool FunctionEmitter::addsExactly(llvm::Value *base, int64_t add) {
  if (!base || add == 0)
    return true;
  auto [place, isNew] = knownBits.try_emplace(base);
  if (isNew)
    place->second = llvm::computeKnownBits(base, module.module.getDataLayout());
  const llvm::KnownBits &known = place->second;
  const unsigned width = known.getBitWidth();
  const llvm::APInt constant(width, static_cast<uint64_t>(add), /*isSigned=*/true, /*implicitTrunc=*/true);
  if (!constant.isNegative() && constant.isSubsetOf(known.Zero))
    return true; // an addition without carries
  bool overflowsUp = false, overflowsDown = false;
  (void)known.getSignedMaxValue().sadd_ov(constant, overflowsUp);
  (void)known.getSignedMinValue().sadd_ov(constant, overflowsDown);
  return !overflowsUp && !overflowsDown;
}

/// A constant as a register of the type holds it.
static int64_t wrapped(int64_t value, llvm::Type *type) {
  return llvm::SignExtend64(static_cast<uint64_t>(value), type->getIntegerBitWidth());
}

llvm::Value *FunctionEmitter::addSplits(llvm::Value *a, llvm::Value *b, bool isDifference) {
  const Split left = splits.of(a), right = splits.of(b);
  auto combine = [&](llvm::Value *x, llvm::Value *y) { return isDifference ? ir.CreateSub(x, y) : ir.CreateAdd(x, y); };
  Split sum;
  if (!right.base)
    sum.base = left.base;
  else if (!left.base && !isDifference)
    sum.base = right.base;
  else
    sum.base = onBases(left.base, right.base, [&] {
      return combine(left.base ? left.base : llvm::Constant::getNullValue(a->getType()), right.base);
    });
  sum.add = wrapped(isDifference ? left.add - right.add : left.add + right.add, a->getType());
  sum.isExact = addsExactly(sum.base, sum.add);
  return materialise(sum, a->getType());
}

llvm::Value *FunctionEmitter::scaleSplit(llvm::Value *a, const llvm::APInt &factor) {
  const Split split = splits.of(a);
  llvm::Type *type = a->getType();
  Split product;
  if (split.base)
    product.base = onBases(split.base, nullptr,
                           [&] { return ir.CreateMul(split.base, llvm::ConstantInt::get(type, factor)); });
  product.add = wrapped(split.add * factor.getSExtValue(), type);
  product.isExact = addsExactly(product.base, product.add);
  return materialise(product, type);
}

llvm::Value *FunctionEmitter::extendSplit(llvm::Value *a, llvm::Type *type) {
  const Split split = splits.of(a);
  if (!split.isExact)
    return ir.CreateSExt(a, type);
  Split wide = split;
  if (split.base)
    wide.base = onBases(split.base, nullptr, [&] { return ir.CreateSExt(split.base, type); });
  return materialise(wide, type);
}

/// The constant that all registers of a tile are.
static llvm::ConstantInt *splatConstant(const Tile &tile) {
  if (!llvm::all_equal(tile))
    return nullptr;
  return dyn_cast<llvm::ConstantInt>(tile.front());
}

bool FunctionEmitter::emitIndex(Operation *op) {
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!type || !(type.getElementType().isInteger(32) || type.getElementType().isInteger(64)))
    return false;
  Tile result;
  if (isa<arith::AddIOp, arith::SubIOp>(op)) {
    for (auto [a, b] : llvm::zip_equal(tile(op->getOperand(0)), tile(op->getOperand(1))))
      result.push_back(addSplits(a, b, isa<arith::SubIOp>(op)));
  } else if (isa<arith::MulIOp, arith::ShLIOp>(op)) {
    llvm::ConstantInt *factor = splatConstant(tile(op->getOperand(1)));
    const unsigned width = type.getElementTypeBitWidth();
    if (!factor || (isa<arith::ShLIOp>(op) && factor->getValue().uge(width)))
      return false;
    const llvm::APInt by = isa<arith::ShLIOp>(op) ? llvm::APInt::getOneBitSet(width, factor->getZExtValue())
                                                  : factor->getValue();
    for (llvm::Value *a : tile(op->getOperand(0)))
      result.push_back(scaleSplit(a, by));
  } else if (isa<arith::ExtSIOp>(op)) {
    for (llvm::Value *a : tile(op->getOperand(0)))
      result.push_back(extendSplit(a, elements.typeOf(type.getElementType())));
  } else {
    return false;
  }
  define(op->getResult(0), std::move(result));
  return true;
}

/// As in the analysis of alignment, an offset that overflows its type is taken to be a mistake of the program.
LogicalResult FunctionEmitter::emitAddPtr(tt::AddPtrOp op) {
  const Type pointee = cast<tt::PointerType>(tt::elementOf(op.getType())).getPointee();
  const int64_t bytes = analysis::memoryBits(pointee) / 8;
  llvm::Type *memoryType = elements.memoryType(pointee);
  Tile result;
  for (auto [pointer, offset] : llvm::zip_equal(tile(op.getPtr()), tile(op.getOffset()))) {
    const Split from = splits.of(pointer), by = splits.of(offset);
    Split sum = {from.base, from.add + by.add * bytes, true};
    if (by.base)
      sum.base = onBases(from.base, by.base, [&] { return ir.CreateGEP(memoryType, from.base, by.base); });
    result.push_back(materialise(sum, pointer->getType()));
  }
  define(op, std::move(result));
  return success();
}
