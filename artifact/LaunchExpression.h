// An integer expression over the arguments of a launch, which the launcher evaluates.
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace nereid::artifact {

/// One instruction of an expression in postfix order, for a stack of signed 64-bit integers.
enum LaunchOp : int64_t {
  Constant, ///< pushes the next word
  Argument, ///< pushes the argument of the parameter that the next word names
  Add,
  Sub,
  Mul,
  Div, ///< rounds to zero
  Rem, ///< has the dividend's sign
  Min,
  Max,
};

struct LaunchExpression {
  std::vector<int64_t> code;

  bool operator==(const LaunchExpression &) const = default;
};

/// The number of values that an expression may have on the stack at once.
inline constexpr size_t kMaxLaunchStack = 64;

/// Whether the code leaves exactly one value, and names only parameters below `parameterCount`.
bool isWellFormed(std::span<const int64_t> code, size_t parameterCount);

/// Marks the parameters that the code reads; those without an entry are skipped.
void markParameters(std::span<const int64_t> code, std::vector<bool> &isRead);

/// The value for these arguments, one per parameter: integers extended as their types say, addresses of pointers.
/// Nothing where the code is not well-formed, an intermediate value overflows, or a divisor is zero.
std::optional<int64_t> evaluate(std::span<const int64_t> code, std::span<const int64_t> arguments);

} // namespace nereid::artifact
