// Converts numbers to tensors, and tensors from one element type to another.
// SPDX-License-Identifier: MIT
#include "compiler/sema/Diagnostics.h"
#include "compiler/sema/Numbers.h"
#include "compiler/sema/TtFunctionEmitter.h"

#include <algorithm>
#include <cmath>

using namespace mlir;

namespace nereid::sema {

//--- Numbers -------------------------------------------------------------------------------

Value notATensor(TtFunctionEmitter &emitter, const Value &value, SourceRange range) {
  const std::string text = shown(emitter, value);
  const bool isArray = value.is<HostValue>() && llvm::StringRef(text).contains(" of shape ");
  const char *hint = "";
  if (isArray)
    hint = "; pass an array as an argument that is no `tl.constexpr`, and load from the pointer";
  else if (value.isNone())
    hint = "; a function that returns nothing gives None, and so does a parameter without a value";
  return emitter.error(diag::NotATensor, range, text, value.kindName(), hint);
}

Value TtFunctionEmitter::toTensor(const Value &value, SourceRange range) {
  if (value.tensor() && value.tensor()->type.isShared())
    return error(diag::SharedOperand, range, value.tensor()->type.str());
  if (value.isPoison() || value.tensor())
    return value;
  if (!value.isNumber())
    return notATensor(*this, value, range);
  std::optional<Scalar> scalar = naturalScalar(value);
  if (!scalar)
    return error(diag::IntegerTooWide, range, value.repr());
  return constantOf(value, *scalar, range);
}

/// The fp8e4b15 bits nearest to a number; the format has no NaN and no value above 1.75.
static uint8_t toE4B15(double number) {
  const double magnitude = std::isnan(number) ? 1.75 : std::min(std::abs(number), 1.75);
  const double step = std::ldexp(1.0, std::max(magnitude > 0 ? std::ilogb(magnitude) : -14, -14) - 3);
  llvm::APFloat half(std::nearbyint(magnitude / step) * step); // an fp16 begins with the same bits
  bool losesInfo = false;
  half.convert(llvm::APFloat::IEEEhalf(), llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return half.bitcastToAPInt().getZExtValue() >> 7 | (std::signbit(number) && !std::isnan(number) ? 0x80 : 0);
}

/// A number as fp8, rounded as at run time: values out of range become the largest.
static TypedAttr fp8Attribute(double number, Scalar scalar, mlir::Type irType) {
  if (scalar == Scalar::Float8E4B15)
    return IntegerAttr::get(irType, toE4B15(number));
  const llvm::fltSemantics &format = cast<FloatType>(irType).getFloatSemantics();
  const double largest = llvm::APFloat::getLargest(format).convertToDouble();
  if (std::isnan(number))
    return FloatAttr::get(irType, llvm::APFloat::getNaN(format));
  return FloatAttr::get(irType, std::clamp(number, -largest, largest));
}

/// A number as an attribute of a scalar type; null where it does not fit.
static TypedAttr numberAttribute(const Value &number, Scalar scalar, mlir::Type irType) {
  if (isFloating(scalar)) {
    std::optional<double> value = doubleOf(number);
    if (!value)
      return {};
    return isFp8(scalar) ? fp8Attribute(*value, scalar, irType) : FloatAttr::get(irType, *value);
  }
  const double *real = number.get<double>();
  if (real && (!std::isfinite(*real) || std::trunc(*real) != *real))
    return {};
  llvm::DynamicAPInt integer = real ? truncated(*real) : integerOf(number);
  return fits(integer, scalar) ? IntegerAttr::get(irType, wrapped(integer, bitsOf(scalar))) : IntegerAttr();
}

Value TtFunctionEmitter::constantOf(const Value &number, Scalar scalar, SourceRange range) {
  if (number.isPoison())
    return number;
  if (!number.isNumber())
    return notATensor(*this, number, range);
  if (scalar == Scalar::Void)
    return error(diag::CannotCast, range, number.repr(), nameOf(scalar));
  if (!checkSupported(scalar, range))
    return Value::poison();
  mlir::Type irType = Type(scalar).toMlir(builder.getContext());
  TypedAttr attribute = numberAttribute(number, scalar, irType);
  if (!attribute && number.is<double>())
    return error(diag::FloatAsInteger, range, number.repr(), abbreviationOf(scalar));
  if (!attribute)
    return error(diag::ScalarOutOfRange, range, number.repr(), abbreviationOf(scalar));
  return Value::tensor(arith::ConstantOp::create(builder, location(range), attribute), scalar);
}

Value TtFunctionEmitter::decay(const Value &value, SourceRange range) {
  if (value.isNumber())
    return toTensor(value, range);
  const TupleValue *tuple = value.get<TupleValue>();
  if (!tuple || tuple->keepsConstants || tuple->record)
    return value;
  std::vector<Value> elements;
  for (const Value &element : *tuple->elements)
    elements.push_back(decay(element, range));
  TupleValue result = *tuple;
  result.elements = std::make_shared<const std::vector<Value>>(std::move(elements));
  return result;
}

//--- Tensors -------------------------------------------------------------------------------

namespace {
/// Conversion of one tensor; the order of the rules is that of Triton's documentation.
struct Cast {
  TtFunctionEmitter &emitter;
  Value value;
  Type from, to; ///< of the same shape
  SourceRange range;

  template <typename Op, typename... Args> Value emit(const Args &...args) const {
    return emitter.emit<Op>(to, range, value, args...);
  }
  /// The IR value with another sema type.
  Value retyped() const { return Value::tensor(value.tensor()->value, to); }
  Value through(Scalar middle) const { return emitter.cast(emitter.cast(value, middle, range), to.element(), range); }

  Value notZero() const {
    const TypedAttr number = emitter.builder.getZeroAttr(value.tensor()->value.getType());
    const mlir::Value zero = arith::ConstantOp::create(emitter.builder, emitter.location(range), number);
    return from.isFloat() ? emitter.emit<arith::CmpFOp>(to, range, arith::CmpFPredicate::UNE, value, zero)
                          : emitter.emit<arith::CmpIOp>(to, range, arith::CmpIPredicate::ne, value, zero);
  }

  /// A conversion that the embedded library implements; it takes fp8e4b15, fp32 and fp64.
  Value byLibrary(llvm::StringRef name, bool isTowardZero) const {
    auto function = emitter.module.stdlibFunction("triton.language", name);
    return emitter.callFunction(function, {{value, range}, {isTowardZero, range}}, {}, range);
  }

  Value toE4B15(bool isTowardZero) const {
    if (from.scalar != Scalar::Float32 && from.scalar != Scalar::Float64)
      return emitter.cast(emitter.cast(value, Scalar::Float32, range), to.element(), range, isTowardZero ? "rtz" : "");
    return byLibrary("_to_fp8e4b15", isTowardZero);
  }

  /// A narrowing conversion, whose rounding fp_to_fp names.
  Value rounded(bool isTowardZero) const {
    if (to.scalar == Scalar::Float8E4B15)
      return toE4B15(isTowardZero);
    const auto mode = isTowardZero ? tt::RoundingMode::RTZ : tt::RoundingMode::RTNE;
    return emit<tt::FpToFpOp>(tt::RoundingModeAttr::get(emitter.builder.getContext(), mode));
  }

  Value betweenFloats() const {
    if (isFp8(to.scalar))
      return isFp8(from.scalar) ? through(Scalar::Float32) : rounded(/*isTowardZero=*/false);
    if (from.scalar == Scalar::Float8E4B15)
      return to.scalar == Scalar::Float16 ? byLibrary("_from_fp8e4b15", false) : through(Scalar::Float16);
    if (isFp8(from.scalar))
      return emit<tt::FpToFpOp>(tt::RoundingModeAttr());
    // bf16 and fp16 only convert to and from fp32.
    if (from.bits() == 16 && to.scalar != Scalar::Float32)
      return through(Scalar::Float32);
    return from.bits() > to.bits() ? emit<arith::TruncFOp>() : emit<arith::ExtFOp>();
  }

  Value betweenIntegers() const {
    if (to.isBool())
      return notZero();
    if (from.bits() == to.bits())
      return retyped();
    if (from.bits() > to.bits())
      return emit<arith::TruncIOp>();
    return isSignedInteger(from.scalar) ? emit<arith::ExtSIOp>() : emit<arith::ExtUIOp>();
  }

  Value floatToInteger() const {
    if (from.bits() <= 16)
      return through(Scalar::Float32);
    if (to.isBool())
      return notZero();
    return isSignedInteger(to.scalar) ? emit<arith::FPToSIOp>() : emit<arith::FPToUIOp>();
  }

  Value pointers() const {
    if (from.isPointer && to.isPointer)
      return from.scalar == to.scalar ? retyped() : emit<tt::BitcastOp>();
    if (from.isInt())
      return from.bits() == 64 ? emit<tt::IntToPtrOp>()
                               : emitter.cast(emitter.cast(value, Scalar::Int64, range), to.element(), range);
    if (to.isInt() && to.bits() == 64)
      return emit<tt::PtrToIntOp>();
    if (to.isBool())
      return through(Scalar::Int64);
    return emitter.error(diag::CannotCast, range, from.str(), to.element().str());
  }

  Value run() const {
    if (from.isPointer || to.isPointer)
      return pointers();
    if (from.isFloat())
      return to.isFloat() ? betweenFloats() : floatToInteger();
    if (to.isInt())
      return betweenIntegers();
    if (isFp8(to.scalar)) // integers that fp32 rounds are beyond the range of fp8
      return through(Scalar::Float32);
    return isSignedInteger(from.scalar) ? emit<arith::SIToFPOp>() : emit<arith::UIToFPOp>();
  }
};
} // namespace

/// The result of casting a number to a scalar type, where that is a number again.
static std::optional<Value> castNumber(const Value &number, const Type &to) {
  if (to.isFloat())
    return number;
  const double *real = number.get<double>();
  if (to.isBool())
    return Value(real ? *real != 0 : integerOf(number) != 0);
  if (!to.isInt() || (real && !std::isfinite(*real)))
    return std::nullopt;
  llvm::DynamicAPInt integer = real ? truncated(*real) : integerOf(number);
  if (real && !fits(integer, to.scalar))
    return std::nullopt;
  llvm::APInt bits = wrapped(integer, bitsOf(to.scalar));
  return Value(llvm::DynamicAPInt(isSignedInteger(to.scalar) ? bits.sext(128) : bits.zext(128)));
}

Value TtFunctionEmitter::cast(const Value &value, const Type &element, SourceRange range, llvm::StringRef rounding) {
  const Type to = element.element();
  if (value.isPoison())
    return value;
  if (!rounding.empty() && rounding != "rtne" && rounding != "rtz")
    return error(diag::RoundingMode, range, rounding);
  if (!checkSupported(to, range))
    return Value::poison();
  if (value.isNumber() && rounding.empty())
    if (std::optional<Value> number = castNumber(value, to))
      return constantOf(*number, to.scalar, range);
  Value source = toTensor(value, range);
  if (source.isPoison())
    return source;
  const Type from = source.tensor()->type;
  if (from.element() == to)
    return source;
  if (to == Type(Scalar::Void) || from.element() == Type(Scalar::Void))
    return error(diag::CannotCast, range, from.str(), to.str());
  Cast step{*this, source, from, to.withShape(from.shape).withLayout(from.layout), range};
  const bool isNarrowing = from.isFloat() && to.isFloat() && to.bits() < from.bits();
  if (!rounding.empty() && !isNarrowing)
    return error(diag::RoundingNotNarrowing, range, from.element().str(), to.str());
  return rounding == "rtz" ? step.rounded(/*isTowardZero=*/true) : step.run();
}

bool TtFunctionEmitter::checkSupported(const Type &type, SourceRange range) {
  const std::vector<std::string> &supported = module.options.supportedFp8;
  if (!isFp8(type.scalar) || supported.empty() || llvm::is_contained(supported, abbreviationOf(type.scalar)))
    return true;
  std::string names;
  for (llvm::StringRef name : supported)
    names += (names.empty() ? "'" : ", '") + name.str() + "'";
  error(diag::UnsupportedFp8, range, abbreviationOf(type.scalar), names + (supported.size() == 1 ? "," : ""));
  return false;
}

Value TtFunctionEmitter::computable(const Value &value, SourceRange range) {
  const TensorValue *tensor = value.tensor();
  const bool isBits = tensor && tensor->type.element() == Type(Scalar::Float8E4B15);
  return isBits ? cast(value, Scalar::Float16, range) : value;
}

Value TtFunctionEmitter::bitcast(const Value &value, const Type &element, SourceRange range) {
  Value source = toTensor(value, range);
  if (source.isPoison())
    return source;
  const Type from = source.tensor()->type, to = element.element();
  if (from.element() == to)
    return source;
  if (from.isPointer || to.isPointer)
    return cast(source, to, range);
  if (from.bits() != to.bits() || to.scalar == Scalar::Void)
    return error(diag::BitcastSize, range, from.bits(), to.bits(), from.str(), to.str());
  if (!checkSupported(to, range))
    return Value::poison();
  Cast step{*this, source, from, to.withShape(from.shape).withLayout(from.layout), range};
  const bool isSameIr = from.toMlir(builder.getContext()) == step.to.toMlir(builder.getContext());
  return isSameIr ? step.retyped() : step.emit<tt::BitcastOp>();
}

} // namespace nereid::sema
