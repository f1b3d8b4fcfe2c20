// Mathematical built-ins: exp, log, sin, sqrt, erf, fma, fdiv and similar functions.
// SPDX-License-Identifier: MIT
#include "compiler/sema/builtins/Math.h"

#include "compiler/sema/Diagnostics.h"
#include "compiler/sema/builtins/Emission.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace nereid::sema {
namespace {

/// Reports an operand whose element type is none of those; true where it is one.
bool checkElement(const CallSite &site, const Value &operand, llvm::ArrayRef<Scalar> allowed, SourceRange range) {
  if (operand.isPoison())
    return false;
  const Type type = operand.tensor()->type.element();
  if (!type.isPointer && llvm::is_contained(allowed, type.scalar))
    return true;
  std::string names;
  for (Scalar scalar : allowed)
    names += (names.empty() ? "'" : ", '") + abbreviationOf(scalar).str() + "'";
  site.emitter.error(diag::ExpectedDtype, range, names, type.str(), site.builtin.name);
  return false;
}

template <typename Op> Value emitFloatFunction(const CallSite &site) {
  Value x = tensorArgument(site, "x");
  if (!checkElement(site, x, {Scalar::Float32, Scalar::Float64}, site.rangeOf("x")))
    return Value::poison();
  return emitOp<Op>(site, x.tensor()->type, x);
}

Value emitPreciseSqrt(const CallSite &site) {
  Value x = tensorArgument(site, "x");
  if (!checkElement(site, x, Scalar::Float32, site.rangeOf("x")))
    return Value::poison();
  return emitOp<tt::PreciseSqrtOp>(site, x.tensor()->type, x);
}

Value emitPreciseDiv(const CallSite &site) {
  Value x = tensorArgument(site, "x"), y = tensorArgument(site, "y");
  const bool isFloat = checkElement(site, x, Scalar::Float32, site.rangeOf("x")) &&
                       checkElement(site, y, Scalar::Float32, site.rangeOf("y"));
  if (!isFloat || !site.emitter.broadcastTogether(x, y, site.range))
    return Value::poison();
  return emitOp<tt::PreciseDivFOp>(site, x.tensor()->type, x, y);
}

Value emitFdiv(const CallSite &site) {
  TtFunctionEmitter &emitter = site.emitter;
  Value x = site["x"], y = site["y"];
  // A number beside a tensor is converted to its type; two tensors must agree.
  if (x.tensor() && y.isNumber())
    y = emitter.cast(y, x.tensor()->type.element(), site.rangeOf("y"));
  else if (y.tensor() && x.isNumber())
    x = emitter.cast(x, y.tensor()->type.element(), site.rangeOf("x"));
  x = emitter.toTensor(x, site.rangeOf("x"));
  y = emitter.toTensor(y, site.rangeOf("y"));
  std::optional<bool> isPrecise = boolArgument(site, "ieee_rounding");
  if (x.isPoison() || y.isPoison() || !isPrecise)
    return Value::poison();
  const Type a = x.tensor()->type.element(), b = y.tensor()->type.element();
  if (!a.isFloat() || a != b)
    return emitter.error(diag::FdivTypes, site.range, a.str(), b.str());
  if (!emitter.broadcastTogether(x, y, site.range))
    return Value::poison();
  x = emitter.computable(x, site.range);
  y = emitter.computable(y, site.range);
  const Type type = x.tensor()->type;
  if (*isPrecise && a.scalar == Scalar::Float32)
    return emitOp<tt::PreciseDivFOp>(site, type, x, y);
  return emitOp<arith::DivFOp>(site, type, x, y);
}

Value emitAbs(const CallSite &site) {
  Value x = tensorArgument(site, "x");
  if (x.isPoison())
    return x;
  const Type type = x.tensor()->type;
  if (type.element() == Type(Scalar::Float8E4B15)) {
    const Value bits = site.emitter.bitcast(x, Scalar::UInt8, site.range);
    const Value magnitude =
        site.emitter.binary(syntax::BinaryOperator::BitAnd, bits, Value::integer(0x7f), site.range, site.range);
    return magnitude.isPoison() ? magnitude : site.emitter.bitcast(magnitude, type.element(), site.range);
  }
  if (type.isFloat())
    return emitOp<math::AbsFOp>(site, type, x);
  if (!type.isInt())
    return site.emitter.error(diag::ExpectedNumbers, site.range, site.builtin.name, type.str());
  return isSignedInteger(type.scalar) ? emitOp<math::AbsIOp>(site, type, x) : x;
}

Value emitFma(const CallSite &site) {
  TtFunctionEmitter &emitter = site.emitter;
  Value x = site["x"], y = site["y"], z = site["z"];
  if (!emitter.promoteTogether(x, y, site.range) || !emitter.promoteTogether(z, x, site.range) ||
      !emitter.promoteTogether(z, y, site.range) || !emitter.promoteTogether(x, z, site.range))
    return Value::poison();
  for (Value *operand : {&x, &y, &z})
    *operand = emitter.computable(*operand, site.range);
  const Type type = x.tensor()->type;
  if (!type.isFloat())
    return emitter.error(diag::ExpectedFloats, site.range, site.builtin.name, type.str());
  return emitOp<math::FmaOp>(site, type, x, y, z);
}

Value emitUmulhi(const CallSite &site) {
  Value x = site["x"], y = site["y"];
  if (!site.emitter.promoteTogether(x, y, site.range) ||
      !checkElement(site, x, {Scalar::Int32, Scalar::Int64, Scalar::UInt32, Scalar::UInt64}, site.range))
    return Value::poison();
  return emitOp<tt::MulhiUIOp>(site, x.tensor()->type, x, y);
}

} // namespace

void appendMath(std::vector<Builtin> &entries) {
  using Params = llvm::SmallVector<BuiltinParam, 4>;
  const Params x = {{"x"}}, xy = {{"x"}, {"y"}};
  const Builtin functions[] = {
      {"exp", languageModule, x, "e to the power of x.", emitFloatFunction<math::ExpOp>, true},
      {"exp2", languageModule, x, "2 to the power of x.", emitFloatFunction<math::Exp2Op>, true},
      {"log", languageModule, x, "Natural logarithm.", emitFloatFunction<math::LogOp>, true},
      {"log2", languageModule, x, "Logarithm to base 2.", emitFloatFunction<math::Log2Op>, true},
      {"cos", languageModule, x, "Cosine of x in radians.", emitFloatFunction<math::CosOp>, true},
      {"sin", languageModule, x, "Sine of x in radians.", emitFloatFunction<math::SinOp>, true},
      {"sqrt", languageModule, x, "Square root, quickly.", emitFloatFunction<math::SqrtOp>, true},
      {"sqrt_rn", languageModule, x, "Square root, rounded to nearest.", emitPreciseSqrt, true},
      {"rsqrt", languageModule, x, "1 / sqrt(x).", emitFloatFunction<math::RsqrtOp>, true},
      {"erf", languageModule, x, "Error function.", emitFloatFunction<math::ErfOp>, true},
      {"floor", languageModule, x, "The whole number at or below x.", emitFloatFunction<math::FloorOp>, true},
      {"ceil", languageModule, x, "The whole number at or above x.", emitFloatFunction<math::CeilOp>, true},
      {"abs", languageModule, x, "Magnitude; an unsigned integer stays.", emitAbs, true},
      {"fma", languageModule, {{"x"}, {"y"}, {"z"}}, "x * y + z with one rounding.", emitFma},
      {"fdiv", languageModule, {{"x"}, {"y"}, {"ieee_rounding", "False"}}, "Quotient of floats of one type.", emitFdiv},
      {"div_rn", languageModule, xy, "Quotient of fp32 values, rounded to nearest.", emitPreciseDiv},
      {"umulhi", languageModule, xy, "High half of the product, taken as unsigned.", emitUmulhi},
  };
  for (Builtin entry : functions) {
    entries.push_back(entry);
    entry.module = mathModule;
    entry.isMember = false;
    entries.push_back(entry);
  }
}

} // namespace nereid::sema
