// Conversions to and from floats of 8 bits.
// SPDX-License-Identifier: MIT
#include "compiler/target/sim/InlineAssembly.h"
#include "compiler/target/sim/Intrinsics.h"

#include "llvm/IR/IntrinsicsAMDGPU.h"

using namespace nereid;
using namespace nereid::sim;
using namespace llvm;

/// MI300 has the formats without infinities and negative zero.
static std::string formatOf(const Site &site, bool isBf8) {
  return std::string(isBf8 ? "e5m2" : "e4m3") + (site.isFnuz() ? "fnuz" : "");
}

static InlineAssembly assembly(Site &site, const char *name, bool isBf8, Type *result) {
  InlineAssembly call(site.ir, std::string("amd.") + name + "." + formatOf(site, isBf8));
  call.results(result, 1);
  return call;
}

/// d, two floats, old, half (`cvt_pk`), or d, float, random bits, old, byte (`cvt_sr`).
static Value *convertInto(Site &site, const char *name, bool isBf8) {
  return assembly(site, name, isBf8, site.ir.getInt32Ty())
      .source(site.operand(0))
      .source(site.operand(1))
      .source(site.operand(2))
      .immediate(site.number(3))
      .call(Effects::Pure)[0];
}

static Value *toFloat(Site &site, bool isBf8, uint64_t byte) {
  return assembly(site, "cvt_float", isBf8, site.ir.getFloatTy())
      .source(site.operand(0))
      .immediate(byte)
      .call(Effects::Pure)[0];
}

static Value *toFloats(Site &site, bool isBf8) {
  const uint64_t first = site.number(1) * 2;
  Value *pair = PoisonValue::get(site.call.getType());
  for (unsigned index = 0; index < 2; ++index)
    pair = site.ir.CreateInsertElement(pair, toFloat(site, isBf8, first + index), index);
  return pair;
}

static Value *packHalves(Site &site) {
  InlineAssembly call(site.ir, "amd.cvt_pkrtz");
  call.results(site.ir.getInt32Ty(), 1).source(site.operand(0)).source(site.operand(1));
  return fromWords(site.ir, call.call(Effects::Pure), site.call.getType());
}

Value *sim::replaceConversion(Site &site) {
  switch (site.call.getIntrinsicID()) {
  case Intrinsic::amdgcn_cvt_pk_fp8_f32:
    return convertInto(site, "cvt_pk", false);
  case Intrinsic::amdgcn_cvt_pk_bf8_f32:
    return convertInto(site, "cvt_pk", true);
  case Intrinsic::amdgcn_cvt_sr_fp8_f32:
    return convertInto(site, "cvt_sr", false);
  case Intrinsic::amdgcn_cvt_sr_bf8_f32:
    return convertInto(site, "cvt_sr", true);
  case Intrinsic::amdgcn_cvt_f32_fp8:
    return toFloat(site, false, site.number(1));
  case Intrinsic::amdgcn_cvt_f32_bf8:
    return toFloat(site, true, site.number(1));
  case Intrinsic::amdgcn_cvt_pk_f32_fp8:
    return toFloats(site, false);
  case Intrinsic::amdgcn_cvt_pk_f32_bf8:
    return toFloats(site, true);
  case Intrinsic::amdgcn_cvt_pkrtz:
    return packHalves(site);
  default:
    return nullptr;
  }
}
