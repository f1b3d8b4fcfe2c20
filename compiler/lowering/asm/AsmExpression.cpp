// A parser by precedence, of what assemblers know of C's expressions.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/asm/AsmExpression.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>

using namespace nereid;
using llvm::StringRef;
using Value = std::optional<lowering::AsmValue>;

static constexpr unsigned maxDepth = 32;

namespace {
struct Operator {
  StringRef sign;
  unsigned precedence; ///< GNU's: shifts bind as products do, and `|` binds more than `+`
};

class Expression {
public:
  explicit Expression(StringRef text) : rest(text.trim()) {}
  Value whole() {
    Value value = binary(1);
    return rest.empty() ? value : std::nullopt;
  }

private:
  Value binary(unsigned least);
  Value term();
  bool take(StringRef sign) {
    const bool isThere = rest.consume_front(sign);
    rest = isThere ? rest.ltrim() : rest;
    return isThere;
  }

  StringRef rest;
  unsigned depth = 0;
};
} // namespace

static constexpr Operator operators[] = {{"+", 1}, {"-", 1}, {"|", 2}, {"&", 2},  {"^", 2},
                                         {"*", 3}, {"/", 3}, {"%", 3}, {"<<", 3}, {">>", 3}};

/// Computes one operator; no value where the result is not known, or is negative and not from a sum.
static Value apply(StringRef sign, lowering::AsmValue left, lowering::AsmValue right) {
  const int64_t a = left.number, b = right.number;
  lowering::AsmValue result{0, left.hasLabels || right.hasLabels};
  if (sign == "+" || sign == "-") {
    const bool isTooLarge =
        sign == "+" ? __builtin_add_overflow(a, b, &result.number) : __builtin_sub_overflow(a, b, &result.number);
    return isTooLarge ? Value() : result;
  }
  if (result.hasLabels || a < 0 || b < 0 || (sign == "<<" && b > 62) || ((sign == "/" || sign == "%") && b == 0))
    return std::nullopt;
  if (sign == "*" || sign == "<<") {
    const int64_t factor = sign == "*" ? b : int64_t{1} << b;
    return __builtin_mul_overflow(a, factor, &result.number) ? Value() : result;
  }
  result.number = sign == "|"   ? a | b
                  : sign == "&" ? a & b
                  : sign == "^" ? a ^ b
                  : sign == "/" ? a / b
                  : sign == "%" ? a % b
                                : a >> std::min<int64_t>(b, 63);
  return result;
}

/// Terms with operators of at least that precedence.
Value Expression::binary(unsigned least) {
  Value left = term();
  while (left) {
    const auto *found = llvm::find_if(operators, [&](const Operator &each) { return rest.starts_with(each.sign); });
    if (found == std::end(operators) || found->precedence < least)
      return left;
    take(found->sign);
    const Value right = binary(found->precedence + 1);
    left = right ? apply(found->sign, *left, *right) : std::nullopt;
  }
  return left;
}

/// `17`, `0x11`, `2f`, `.`, a symbol.
static Value numberOf(StringRef word) {
  int64_t value;
  if (!word.getAsInteger(0, value))
    return lowering::AsmValue{value, false};
  if (!llvm::isDigit(word.front()))
    return lowering::AsmValue{0, true};
  const bool isLocal = (word.ends_with("f") || word.ends_with("b")) && !word.drop_back().getAsInteger(10, value);
  return isLocal ? Value({0, true}) : std::nullopt;
}

Value Expression::term() {
  if (++depth > maxDepth)
    return std::nullopt;
  if (take("-")) {
    Value value = term();
    if (value)
      value->number = -std::max(value->number, -INT64_MAX);
    return value;
  }
  if (take("+"))
    return term();
  if (take("(")) {
    const Value value = binary(1);
    return take(")") ? value : std::nullopt;
  }
  const StringRef word = rest.take_while([](char c) { return llvm::isAlnum(c) || c == '_' || c == '.' || c == '@'; });
  rest = rest.drop_front(word.size()).ltrim();
  return word.empty() ? std::nullopt : numberOf(word);
}

Value lowering::evaluateAsm(StringRef text) { return Expression(text).whole(); }
