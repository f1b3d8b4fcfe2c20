// Emits constants and polynomials over scalars.
// SPDX-License-Identifier: MIT
#include "compiler/target/cpu/emit/ScalarValues.h"

#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::cpu;

llvm::Value *ScalarValues::constantOf(Value value) {
  Attribute attribute;
  if (isa_and_nonnull<ub::PoisonOp>(value.getDefiningOp()))
    return lanes.constant({}, value.getType(), 1);
  if (matchPattern(value, m_Constant(&attribute)))
    return lanes.constant(attribute, value.getType(), 1);
  return nullptr;
}

llvm::Value *ScalarValues::of(Value value) {
  if (llvm::Value *known = values.lookup(value))
    return known;
  llvm::Value *constant = constantOf(value);
  assert(constant && "a scalar is emitted before its uses");
  return constant;
}

llvm::Value *ScalarValues::variableValue(unsigned variable) {
  const Remainder *entry = affineInfo.remainderOf(variable);
  if (!entry)
    return ir.CreateSExt(of(affineInfo.valueOf(variable)), ir.getInt64Ty());
  const Remainder remainder = *entry;
  llvm::Value *divisor = poly(remainder.divisor);
  divisor = ir.CreateBinaryIntrinsic(llvm::Intrinsic::smax, divisor, ir.getInt64(1));
  return ir.CreateURem(poly(remainder.dividend), divisor);
}

llvm::Value *ScalarValues::holds(ArrayRef<unsigned> assumptions) {
  llvm::Value *all = ir.getTrue();
  for (unsigned variable : assumptions) {
    const Remainder remainder = *affineInfo.remainderOf(variable);
    llvm::Value *dividend = poly(remainder.dividend), *divisor = poly(remainder.divisor);
    llvm::Value *last = ir.CreateAdd(variableValue(variable), ir.getInt64(remainder.extent));
    all = ir.CreateAnd(all, ir.CreateICmpSGE(dividend, ir.getInt64(0)));
    all = ir.CreateAnd(all, ir.CreateICmpSLE(last, divisor));
  }
  return all;
}

llvm::Value *ScalarValues::poly(const Polynomial &poly, unsigned bits) {
  llvm::Type *type = ir.getIntNTy(bits);
  llvm::Value *sum = llvm::ConstantInt::get(type, 0);
  for (const Polynomial::Term &term : poly.terms()) {
    llvm::Value *product = llvm::ConstantInt::getSigned(type, term.coefficient);
    for (unsigned variable : term.factors)
      product = ir.CreateMul(product, ir.CreateSExt(variableValue(variable), type));
    sum = ir.CreateAdd(sum, product);
  }
  return sum;
}

/// The number of bits in which no addition of the terms wraps.
static unsigned bitsOf(AffineInfo &affineInfo, const Polynomial &poly) {
  const bool isNarrow = llvm::all_of(poly.terms(), [&](const Polynomial::Term &term) {
    return llvm::isInt<32>(term.coefficient) && term.factors.size() <= 1 &&
           llvm::all_of(term.factors, [&](unsigned variable) {
             return !affineInfo.remainderOf(variable) && affineInfo.valueOf(variable).getType().isInteger(32);
           });
  });
  return isNarrow ? 64 : 128;
}

llvm::Value *ScalarValues::clamped(const Polynomial &poly, int64_t limit) {
  const unsigned bits = bitsOf(affineInfo, poly);
  llvm::Type *type = ir.getIntNTy(bits);
  llvm::Value *value = this->poly(poly, bits);
  value = ir.CreateBinaryIntrinsic(llvm::Intrinsic::smax, value, llvm::ConstantInt::get(type, 0));
  value = ir.CreateBinaryIntrinsic(llvm::Intrinsic::smin, value, llvm::ConstantInt::getSigned(type, limit));
  return ir.CreateTrunc(value, ir.getInt64Ty());
}

llvm::Value *ScalarValues::wraps(Value side) {
  const AffineForm form = *affineInfo.affine(side);
  Type element = tt::elementOf(side.getType());
  const unsigned bits = 128, typeBits = isa<IndexType>(element) ? 64 : element.getIntOrFloatBitWidth();
  llvm::Type *type = ir.getIntNTy(bits);
  llvm::Value *low = poly(form.start, bits), *high = low, *zero = llvm::ConstantInt::get(type, 0);
  for (auto [stride, extent] : llvm::zip_equal(form.steps, tt::shapeOf(side.getType()))) {
    if (stride.isZero())
      continue;
    llvm::Value *reach = ir.CreateMul(poly(stride, bits), llvm::ConstantInt::getSigned(type, extent - 1));
    low = ir.CreateAdd(low, ir.CreateBinaryIntrinsic(llvm::Intrinsic::smin, reach, zero));
    high = ir.CreateAdd(high, ir.CreateBinaryIntrinsic(llvm::Intrinsic::smax, reach, zero));
  }
  const llvm::APInt least = llvm::APInt::getSignedMinValue(typeBits).sext(bits);
  return ir.CreateOr(ir.CreateICmpSLT(low, ir.getInt(least)), ir.CreateICmpSGT(high, ir.getInt(~least)));
}

llvm::Value *ScalarValues::isLastIteration(scf::ForOp loop) {
  llvm::Value *rest = ir.CreateSub(of(loop.getUpperBound()), of(loop.getInductionVar()));
  return ir.CreateICmpULE(rest, of(loop.getStep()));
}
