// Maps libdevice symbols to inline code, intrinsics and bit casts.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/ExternForms.h"

#include "compiler/lowering/OpForms.h"

#include "llvm/ADT/StringSwitch.h"

using namespace nereid;
using llvm::Intrinsic::ID;

namespace {
/// A symbol without its prefix `__nv_` and without the suffix `f` of its f32 form.
struct Function {
  llvm::StringRef name;
  bool isSingle = false, isDouble = false;
};
} // namespace

static Function parse(llvm::StringRef symbol, llvm::ArrayRef<llvm::Value *> args) {
  Function function;
  if (!symbol.consume_front("__nv_") || args.empty())
    return function;
  llvm::Type *type = args.front()->getType()->getScalarType();
  function.isSingle = type->isFloatTy();
  function.isDouble = type->isDoubleTy();
  symbol.consume_front("fast_"); // the exact function satisfies every error bound of the fast one
  if (function.isSingle)
    symbol.consume_back("f");
  function.name = symbol;
  return function;
}

static lowering::MathEmitter mathEmitter(llvm::StringRef name) {
  return llvm::StringSwitch<lowering::MathEmitter>(name)
      .Case("exp", &math::emitExp)
      .Case("exp2", &math::emitExp2)
      .Case("expm1", &math::emitExpm1)
      .Case("log", &math::emitLog)
      .Case("log2", &math::emitLog2)
      .Case("log1p", &math::emitLog1p)
      .Case("sin", &math::emitSin)
      .Case("cos", &math::emitCos)
      .Case("erf", &math::emitErf)
      .Case("tanh", &math::emitTanh)
      .Case("sqrt", &math::emitSqrt)
      .Case("rsqrt", &math::emitRsqrt)
      .Default(nullptr);
}

static ID floatIntrinsic(llvm::StringRef name) {
  return llvm::StringSwitch<ID>(name)
      .Case("fabs", llvm::Intrinsic::fabs)
      .Case("floor", llvm::Intrinsic::floor)
      .Case("ceil", llvm::Intrinsic::ceil)
      .Case("trunc", llvm::Intrinsic::trunc)
      .Cases({"rint", "nearbyint"}, llvm::Intrinsic::roundeven)
      .Case("round", llvm::Intrinsic::round)
      .Case("copysign", llvm::Intrinsic::copysign)
      .Case("fma", llvm::Intrinsic::fma)
      .Default(llvm::Intrinsic::not_intrinsic);
}

/// The type with another element and the same number of lanes.
static llvm::Type *like(llvm::Value *value, llvm::Type *element) {
  auto *vector = llvm::dyn_cast<llvm::FixedVectorType>(value->getType());
  return vector ? llvm::FixedVectorType::get(element, vector->getNumElements()) : element;
}

static llvm::Value *emitBitCast(llvm::IRBuilderBase &ir, llvm::StringRef symbol, llvm::Value *x) {
  llvm::Type *to = llvm::StringSwitch<llvm::Type *>(symbol)
                       .Cases({"__nv_int_as_float", "__nv_uint_as_float"}, ir.getFloatTy())
                       .Cases({"__nv_float_as_int", "__nv_float_as_uint"}, ir.getInt32Ty())
                       .Case("__nv_longlong_as_double", ir.getDoubleTy())
                       .Case("__nv_double_as_longlong", ir.getInt64Ty())
                       .Default(nullptr);
  const bool fits = to && to->getScalarSizeInBits() == x->getType()->getScalarSizeInBits();
  return fits ? ir.CreateBitCast(x, like(x, to)) : nullptr;
}

llvm::Value *lowering::emitExtern(llvm::IRBuilderBase &ir, llvm::StringRef symbol, llvm::ArrayRef<llvm::Value *> args,
                                  const math::HostMath &host) {
  const Function function = parse(symbol, args);
  if (function.name.empty())
    return nullptr;
  if (args.size() == 1)
    if (llvm::Value *cast = emitBitCast(ir, symbol, args[0]))
      return cast;
  if (!function.isSingle && !function.isDouble) {
    const bool isAbs = function.name == "abs" || function.name == "llabs";
    return isAbs ? ir.CreateIntrinsic(llvm::Intrinsic::abs, {args[0]->getType()}, {args[0], ir.getFalse()}) : nullptr;
  }
  if (ID id = floatIntrinsic(function.name); id != llvm::Intrinsic::not_intrinsic)
    return ir.CreateIntrinsic(id, {args[0]->getType()}, args);
  if (function.name == "fmod" && args.size() == 2 && !host.hasLibm)
    return math::emitFmod(ir, args[0], args[1], host);
  if (function.name == "fdivide" && args.size() == 2)
    return ir.CreateFDiv(args[0], args[1]);
  MathEmitter emitter = mathEmitter(function.name);
  return emitter && args.size() == 1 ? emitter(ir, args[0], host) : nullptr;
}
