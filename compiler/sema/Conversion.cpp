// Makes tensors of numbers, and tensors of one element type of tensors of another.
// SPDX-License-Identifier: MIT
#include "compiler/sema/Diagnostics.h"
#include "compiler/sema/FunctionEmitter.h"
#include "compiler/sema/Numbers.h"

#include <cmath>

using namespace mlir;

namespace nereid::sema {

//--- Numbers -------------------------------------------------------------------------------

Value FunctionEmitter::toTensor(const Value &value, SourceRange range) {
  if (value.isPoison() || value.tensor())
    return value;
  if (!value.isNumber())
    return error(diag::NotATensor, range, value.repr(), value.kindName());
  std::optional<Scalar> scalar = naturalScalar(value);
  if (!scalar)
    return error(diag::IntegerTooWide, range, value.repr());
  return constantOf(value, *scalar, range);
}

/// A number as an attribute of a scalar type; null where it does not fit.
static TypedAttr numberAttribute(const Value &number, Scalar scalar, mlir::Type irType) {
  if (isFloating(scalar)) {
    std::optional<double> value = doubleOf(number);
    return value ? FloatAttr::get(irType, *value) : FloatAttr();
  }
  const double *real = number.get<double>();
  if (real && (!std::isfinite(*real) || std::trunc(*real) != *real))
    return {};
  llvm::DynamicAPInt integer = real ? truncated(*real) : integerOf(number);
  return fits(integer, scalar) ? IntegerAttr::get(irType, wrapped(integer, bitsOf(scalar))) : IntegerAttr();
}

Value FunctionEmitter::constantOf(const Value &number, Scalar scalar, SourceRange range) {
  if (number.isPoison())
    return number;
  if (!number.isNumber())
    return error(diag::NotATensor, range, number.repr(), number.kindName());
  if (scalar == Scalar::Void)
    return error(diag::CannotCast, range, number.repr(), nameOf(scalar));
  mlir::Type irType = Type(scalar).toMlir(builder.getContext());
  TypedAttr attribute = numberAttribute(number, scalar, irType);
  if (!attribute && number.is<double>())
    return error(diag::FloatAsInteger, range, number.repr(), abbreviationOf(scalar));
  if (!attribute)
    return error(diag::ScalarOutOfRange, range, number.repr(), abbreviationOf(scalar));
  return Value::tensor(arith::ConstantOp::create(builder, location(range), attribute), scalar);
}

Value FunctionEmitter::decay(const Value &value, SourceRange range) {
  if (value.isNumber())
    return toTensor(value, range);
  const TupleValue *tuple = value.get<TupleValue>();
  if (!tuple)
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
/// One conversion of a tensor; the order of the rules is that of the language's documentation.
struct Cast {
  FunctionEmitter &emitter;
  Value value;
  Type from, to; ///< of one shape
  SourceRange range;

  template <typename Op, typename... Args> Value emit(Args &&...args) const {
    Location loc = emitter.location(range);
    mlir::Type irType = to.toMlir(emitter.builder.getContext());
    return Value::tensor(Op::create(emitter.builder, loc, irType, value.tensor()->value, std::forward<Args>(args)...),
                         to);
  }
  /// The same IR value under another type of ours.
  Value retyped() const { return Value::tensor(value.tensor()->value, to); }
  Value through(Scalar middle) const { return emitter.cast(emitter.cast(value, middle, range), to.element(), range); }

  Value notZero() const {
    OpBuilder &builder = emitter.builder;
    Location loc = emitter.location(range);
    auto zero = arith::ConstantOp::create(builder, loc, builder.getZeroAttr(value.tensor()->value.getType()));
    mlir::Value result;
    if (from.isFloat())
      result = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNE, value.tensor()->value, zero);
    else
      result = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ne, value.tensor()->value, zero);
    return Value::tensor(result, to);
  }

  Value betweenFloats() const {
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
    if (from.bits() == 16)
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
    return isSignedInteger(from.scalar) ? emit<arith::SIToFPOp>() : emit<arith::UIToFPOp>();
  }
};
} // namespace

/// What casting a number to a scalar type gives, where that is a number again.
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

Value FunctionEmitter::cast(const Value &value, const Type &element, SourceRange range, llvm::StringRef rounding) {
  const Type to = element.element();
  if (value.isPoison())
    return value;
  if (!rounding.empty() && rounding != "rtne" && rounding != "rtz")
    return error(diag::RoundingMode, range, rounding);
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
  Cast step{*this, source, from, to.withShape(from.shape), range};
  const bool isNarrowing = from.isFloat() && to.isFloat() && to.bits() < from.bits();
  if (!rounding.empty() && !isNarrowing)
    return error(diag::RoundingNotNarrowing, range, from.element().str(), to.str());
  if (rounding == "rtz")
    return step.emit<tt::FpToFpOp>(tt::RoundingModeAttr::get(builder.getContext(), tt::RoundingMode::RTZ));
  return step.run();
}

Value FunctionEmitter::bitcast(const Value &value, const Type &element, SourceRange range) {
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
  Cast step{*this, source, from, to.withShape(from.shape), range};
  return from.isInt() && to.isInt() ? step.retyped() : step.emit<tt::BitcastOp>();
}

} // namespace nereid::sema
