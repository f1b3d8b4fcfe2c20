// Folds operators on compile-time values: numbers, strings, tuples and host objects.
// SPDX-License-Identifier: MIT
#include "compiler/sema/Diagnostics.h"
#include "compiler/sema/Numbers.h"
#include "compiler/sema/Suggestions.h"
#include "compiler/sema/TtFunctionEmitter.h"

using nereid::syntax::BinaryOperator;
using nereid::syntax::CompareOperator;

namespace nereid::sema {

/// Limit of the elements of tuples and strings created by `*`.
static constexpr int64_t maxRepeatedElements = 1 << 20;

/// The number of copies that `*` makes of a sequence; nothing where the result would be too long.
static std::optional<int64_t> repetitions(const Value &count, size_t length) {
  const llvm::DynamicAPInt number = integerOf(count);
  if (number <= 0 || length == 0)
    return 0;
  if (number > maxRepeatedElements / int64_t(length))
    return std::nullopt;
  return int64_t(number);
}

static bool isInteger(const Value &value) { return value.is<bool>() || value.integer(); }

/// Sequences with `+` and `*`; nothing where the operator has another meaning.
static std::optional<Value> foldSequence(TtFunctionEmitter &emitter, BinaryOperator op, const Value &left,
                                         const Value &right, SourceRange range) {
  const std::vector<Value> *a = left.elements(), *b = right.elements();
  const std::string *s = left.get<std::string>(), *t = right.get<std::string>();
  if (op == BinaryOperator::Add && a && b) {
    std::vector<Value> joined(*a);
    joined.insert(joined.end(), b->begin(), b->end());
    return Value::tuple(std::move(joined));
  }
  if (op == BinaryOperator::Add && s && t)
    return Value(*s + *t);
  if (op != BinaryOperator::Mult)
    return std::nullopt;
  if (isInteger(left) && (b || t))
    return foldSequence(emitter, op, right, left, range);
  if (!isInteger(right) || (!a && !s))
    return std::nullopt;
  std::optional<int64_t> count = repetitions(right, a ? a->size() : s->size());
  if (!count)
    return emitter.error(diag::SequenceTooLong, range, right.repr(), maxRepeatedElements);
  std::vector<Value> elements;
  std::string text;
  for (int64_t round = 0; round < *count; ++round) {
    if (a)
      elements.insert(elements.end(), a->begin(), a->end());
    else
      text += *s;
  }
  return a ? Value::tuple(std::move(elements)) : Value(std::move(text));
}

Value TtFunctionEmitter::foldBinary(BinaryOperator op, const Value &left, const Value &right, SourceRange range) {
  if (left.is<HostValue>() || right.is<HostValue>())
    if (left.isConstant() && right.isConstant())
      return fromHost(module.host.binary(spelling(op), left, right), range);
  if (op == BinaryOperator::Mod && left.is<std::string>() && right.isConstant())
    return fromHost(module.host.binary(spelling(op), left, right), range);
  if (std::optional<Value> sequence = foldSequence(*this, op, left, right, range))
    return *sequence;
  const bool isText = left.is<std::string>() || right.is<std::string>();
  const llvm::StringRef hint = isText ? "" : hintForOperands(op, left, right);
  if (!left.isNumber() || !right.isNumber())
    return error(diag::UnsupportedOperator, range, spelling(op), left.kindName(), right.kindName(), hint);
  NumberResult result = combineNumbers(op, left, right);
  if (const Value *number = std::get_if<Value>(&result))
    return *number;
  switch (std::get<NumberError>(result)) {
  case NumberError::DivisionByZero:
    return error(diag::DivisionByZero, range, left.repr(), spelling(op), right.repr());
  case NumberError::NegativeShift:
    return error(diag::NegativeShift, range, right.repr());
  case NumberError::TooLarge:
    return error(diag::IntegerTooLarge, range, spelling(op), maxIntegerBits);
  case NumberError::FloatOverflow:
    return error(diag::FloatOverflow, range, spelling(op));
  case NumberError::Unsupported:
    return error(diag::UnsupportedOperator, range, spelling(op), left.kindName(), right.kindName(), hint);
  }
  llvm_unreachable("an error outside NumberError");
}

//--- Comparison ----------------------------------------------------------------------------

/// `left <=> right` of numbers, strings and tuples of these; nothing where Python defines no order.
static std::optional<std::partial_ordering> order(const Value &left, const Value &right) {
  if (left.isNumber() && right.isNumber())
    return compareNumbers(left, right);
  const std::string *s = left.get<std::string>(), *t = right.get<std::string>();
  if (s && t)
    return s->compare(*t) <=> 0;
  const std::vector<Value> *a = left.elements(), *b = right.elements();
  if (!a || !b)
    return std::nullopt;
  for (size_t index = 0; index < std::min(a->size(), b->size()); ++index)
    if (!sameConstant((*a)[index], (*b)[index]))
      return order((*a)[index], (*b)[index]);
  return a->size() <=> b->size();
}

static bool holds(CompareOperator op, std::partial_ordering order) {
  switch (op) {
  case CompareOperator::Lt:
    return order < 0;
  case CompareOperator::LtE:
    return order <= 0;
  case CompareOperator::Gt:
    return order > 0;
  default:
    return order >= 0;
  }
}

/// `is` of two constants: the same type and value; `1 is True` is false.
static bool isSameObject(const Value &left, const Value &right) {
  return left.kindName() == right.kindName() && sameConstant(left, right);
}

/// `left in right`; nothing where `right` is no container.
static std::optional<bool> isIn(const Value &left, const Value &right) {
  const std::string *part = left.get<std::string>(), *text = right.get<std::string>();
  if (part && text)
    return llvm::StringRef(*text).contains(*part);
  const std::vector<Value> *elements = right.elements();
  if (!elements || !right.isConstant())
    return std::nullopt;
  return llvm::any_of(*elements, [&](const Value &element) { return sameConstant(left, element); });
}

Value TtFunctionEmitter::foldCompare(CompareOperator op, const Value &left, const Value &right, SourceRange range) {
  const bool isIdentity = op == CompareOperator::Is || op == CompareOperator::IsNot;
  const bool isKnown = left.isConstant() && right.isConstant();
  if ((left.is<HostValue>() || right.is<HostValue>()) && isKnown)
    return fromHost(module.host.binary(spelling(op), left, right), range);
  if (isIdentity)
    return Value(isSameObject(left, right) == (op == CompareOperator::Is));
  const llvm::StringRef hint = hintForComparison(op, right);
  if (op == CompareOperator::In || op == CompareOperator::NotIn) {
    std::optional<bool> isMember = isIn(left, right);
    if (isMember)
      return Value(*isMember == (op == CompareOperator::In));
    return error(diag::UnsupportedComparison, range, spelling(op), left.kindName(), right.kindName(), hint);
  }
  if (!isKnown)
    return error(diag::UnsupportedComparison, range, spelling(op), left.kindName(), right.kindName(), hint);
  if (op == CompareOperator::Eq || op == CompareOperator::NotEq)
    return Value(sameConstant(left, right) == (op == CompareOperator::Eq));
  std::optional<std::partial_ordering> ordering = order(left, right);
  if (!ordering)
    return error(diag::UnsupportedComparison, range, spelling(op), left.kindName(), right.kindName(), hint);
  return Value(holds(op, *ordering));
}

} // namespace nereid::sema
