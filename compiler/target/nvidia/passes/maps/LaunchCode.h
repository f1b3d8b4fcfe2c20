// Translates scalars of a kernel that depend on its arguments alone to launch expressions.
// SPDX-License-Identifier: MIT
#pragma once

#include "artifact/LaunchExpression.h"
#include "compiler/index/AffineForm.h"

#include <optional>

namespace nereid::nvidia {

/// The words of a launch expression (artifact/LaunchExpression.h).
using LaunchCode = llvm::SmallVector<int64_t, 8>;

inline LaunchCode launchConstant(int64_t number) { return {artifact::LaunchOp::Constant, number}; }
LaunchCode combine(artifact::LaunchOp op, LaunchCode a, const LaunchCode &b);

/// A condition, met where it is not negative: the value is 0 or less.
inline LaunchCode mustNotBePositive(const LaunchCode &value) {
  return combine(artifact::LaunchOp::Sub, launchConstant(0), value);
}

/// The value of an integer or pointer; nothing where it depends on more than arguments and constants.
std::optional<LaunchCode> launchCodeOf(mlir::Value value);
/// The value of a polynomial of scalars.
std::optional<LaunchCode> launchCodeOf(const index::Polynomial &polynomial, const index::AffineInfo &info);

} // namespace nereid::nvidia
