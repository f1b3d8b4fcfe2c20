// Elementary functions of the hardware, and other arithmetic.
// SPDX-License-Identifier: MIT
#include "compiler/target/sim/InlineAssembly.h"
#include "compiler/target/sim/Intrinsics.h"

#include "llvm/IR/IntrinsicsAMDGPU.h"

using namespace nereid;
using namespace nereid::sim;
using namespace llvm;

/// A function of float32 that takes denormals for zero, as the hardware does; narrower floats go through it.
static Value *approximate(Site &site, const char *instruction, Value *value) {
  IRBuilder<> &ir = site.ir;
  Type *type = value->getType();
  if (!type->isFloatTy())
    value = ir.CreateFPExt(value, ir.getFloatTy());
  InlineAssembly call(ir, instruction);
  value = call.results(ir.getFloatTy(), 1).source(value).call(Effects::Pure)[0];
  return type->isFloatTy() ? value : ir.CreateFPTrunc(value, type);
}

static Value *reciprocal(Site &site, Value *value) {
  if (value->getType()->isDoubleTy())
    return site.ir.CreateFDiv(ConstantFP::get(value->getType(), 1), value);
  return approximate(site, "rcp.approx.ftz.f32", value);
}

static Value *squareRoot(Site &site, Value *value) {
  if (value->getType()->isDoubleTy())
    return site.ir.CreateUnaryIntrinsic(Intrinsic::sqrt, value);
  return approximate(site, "sqrt.approx.ftz.f32", value);
}

static Value *inverseRoot(Site &site, Value *value) {
  if (value->getType()->isDoubleTy())
    return reciprocal(site, squareRoot(site, value));
  return approximate(site, "rsqrt.approx.ftz.f32", value);
}

/// Angles are in revolutions.
static Value *ofRevolutions(Site &site, const char *instruction) {
  Value *angle = site.operand(0);
  return approximate(site, instruction,
                     site.ir.CreateFMul(angle, ConstantFP::get(angle->getType(), 6.283185307179586)));
}

/// x - floor(x), less than 1.
static Value *fraction(Site &site) {
  IRBuilder<> &ir = site.ir;
  Value *value = site.operand(0);
  Type *type = value->getType();
  Value *rest = ir.CreateFSub(value, ir.CreateUnaryIntrinsic(Intrinsic::floor, value));
  APFloat below(type->getFltSemantics(), 1);
  below.next(/*nextDown=*/true);
  Value *limit = ConstantFP::get(type, below);
  return ir.CreateSelect(ir.CreateFCmpOGT(rest, limit), limit, rest);
}

static Value *median(Site &site) {
  IRBuilder<> &ir = site.ir;
  Value *a = site.operand(0), *b = site.operand(1), *c = site.operand(2);
  Value *low = ir.CreateMinNum(a, b), *high = ir.CreateMaxNum(a, b);
  return ir.CreateMaxNum(low, ir.CreateMinNum(high, c));
}

/// Infinities and NaN are their own mantissa, with the exponent 0.
static Value *partOfFloat(Site &site, unsigned part) {
  IRBuilder<> &ir = site.ir;
  Value *value = site.operand(0);
  Value *parts = ir.CreateIntrinsic(Intrinsic::frexp, {value->getType(), ir.getInt32Ty()}, {value});
  Value *isFinite = ir.createIsFPClass(value, fcFinite);
  if (part == 0)
    return ir.CreateSelect(isFinite, ir.CreateExtractValue(parts, 0), value);
  Value *exponent = ir.CreateSelect(isFinite, ir.CreateExtractValue(parts, 1), ir.getInt32(0));
  return ir.CreateSExtOrTrunc(exponent, site.call.getType());
}

/// Bytes of two registers: 0 to 3 of the second, 4 to 7 of the first, 12 is zero, higher ones are 255.
static Value *permuteBytes(Site &site) {
  IRBuilder<> &ir = site.ir;
  const auto *selectors = dyn_cast<ConstantInt>(site.operand(2));
  if (!selectors)
    return nullptr;
  Value *result = ir.getInt32(0);
  for (unsigned byte = 0; byte < 4; ++byte) {
    const uint64_t selector = selectors->getZExtValue() >> byte * 8 & 255;
    Value *chosen = ir.getInt32(selector > 12 ? 255 : 0);
    if (selector < 8)
      chosen = ir.CreateAnd(ir.CreateLShr(site.operand(selector < 4 ? 1 : 0), selector % 4 * 8), 255);
    else if (selector < 12)
      return nullptr;
    result = ir.CreateOr(result, ir.CreateShl(chosen, byte * 8));
  }
  return result;
}

Value *sim::replaceMath(Site &site) {
  switch (site.call.getIntrinsicID()) {
  case Intrinsic::amdgcn_rcp:
    return reciprocal(site, site.operand(0));
  case Intrinsic::amdgcn_sqrt:
    return squareRoot(site, site.operand(0));
  case Intrinsic::amdgcn_rsq:
    return inverseRoot(site, site.operand(0));
  case Intrinsic::amdgcn_exp2:
    return approximate(site, "ex2.approx.ftz.f32", site.operand(0));
  case Intrinsic::amdgcn_log:
    return approximate(site, "lg2.approx.ftz.f32", site.operand(0));
  case Intrinsic::amdgcn_sin:
    return ofRevolutions(site, "sin.approx.ftz.f32");
  case Intrinsic::amdgcn_cos:
    return ofRevolutions(site, "cos.approx.ftz.f32");
  case Intrinsic::amdgcn_tanh:
    return approximate(site, "tanh.approx.f32", site.operand(0));
  case Intrinsic::amdgcn_fract:
    return fraction(site);
  case Intrinsic::amdgcn_fmed3:
    return median(site);
  case Intrinsic::amdgcn_frexp_mant:
    return partOfFloat(site, 0);
  case Intrinsic::amdgcn_frexp_exp:
    return partOfFloat(site, 1);
  case Intrinsic::amdgcn_class:
    if (!isa<ConstantInt>(site.operand(1)))
      return nullptr;
    return site.ir.createIsFPClass(site.operand(0), unsigned(site.number(1)));
  case Intrinsic::amdgcn_perm:
    return permuteBytes(site);
  default:
    return nullptr;
  }
}
