// Checks and evaluates expressions over the arguments of a launch.
// SPDX-License-Identifier: MIT
#include "artifact/LaunchExpression.h"

#include <algorithm>
#include <array>
#include <limits>

namespace nereid::artifact {

static bool hasOperand(int64_t op) { return op == Constant || op == Argument; }

/// Whether the stack keeps at least one value and never exceeds its limit.
bool isWellFormed(std::span<const int64_t> code, size_t parameterCount) {
  size_t depth = 0;
  for (size_t at = 0; at < code.size(); ++at) {
    const int64_t op = code[at];
    if (op < Constant || op > Max)
      return false;
    if (!hasOperand(op)) {
      if (depth < 2)
        return false;
      --depth;
      continue;
    }
    if (++at == code.size() || depth == kMaxLaunchStack)
      return false;
    if (op == Argument && static_cast<uint64_t>(code[at]) >= parameterCount)
      return false;
    ++depth;
  }
  return depth == 1;
}

void markParameters(std::span<const int64_t> code, std::vector<bool> &isRead) {
  for (size_t at = 0; at + 1 < code.size(); at += hasOperand(code[at]) ? 2 : 1)
    if (code[at] == Argument && static_cast<uint64_t>(code[at + 1]) < isRead.size())
      isRead[static_cast<size_t>(code[at + 1])] = true;
}

static std::optional<int64_t> apply(int64_t op, int64_t left, int64_t right) {
  int64_t result = 0;
  const bool hasNoQuotient = right == 0 || (left == std::numeric_limits<int64_t>::min() && right == -1);
  switch (op) {
  case Add:
    return __builtin_add_overflow(left, right, &result) ? std::nullopt : std::optional(result);
  case Sub:
    return __builtin_sub_overflow(left, right, &result) ? std::nullopt : std::optional(result);
  case Mul:
    return __builtin_mul_overflow(left, right, &result) ? std::nullopt : std::optional(result);
  case Div:
    return hasNoQuotient ? std::nullopt : std::optional(left / right);
  case Rem:
    return hasNoQuotient ? std::nullopt : std::optional(left % right);
  case Min:
    return std::min(left, right);
  case Max:
    return std::max(left, right);
  }
  return std::nullopt;
}

std::optional<int64_t> evaluate(std::span<const int64_t> code, std::span<const int64_t> arguments) {
  if (!isWellFormed(code, arguments.size()))
    return std::nullopt;
  std::array<int64_t, kMaxLaunchStack> stack;
  size_t depth = 0;
  for (size_t at = 0; at < code.size(); ++at) {
    const int64_t op = code[at];
    if (hasOperand(op)) {
      const int64_t operand = code[++at];
      stack[depth++] = op == Constant ? operand : arguments[static_cast<size_t>(operand)];
      continue;
    }
    const auto value = apply(op, stack[depth - 2], stack[depth - 1]);
    if (!value)
      return std::nullopt;
    stack[--depth - 1] = *value;
  }
  return stack[0];
}

} // namespace nereid::artifact
