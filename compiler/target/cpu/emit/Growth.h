// By how much scalars and addresses grow from one iteration of a loop, or one program, to the next.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/target/cpu/plan/Affine.h"

#include <optional>

namespace nereid::cpu {

/// Growth in bytes for pointers; nullopt where it is not known before the first step.
class Growth {
public:
  explicit Growth(AffineInfo &affineInfo) : affineInfo(affineInfo) {}
  virtual ~Growth() = default;

  std::optional<Polynomial> of(mlir::Value value) { return of(value, 0); }
  /// The growth of the address or value of a tile's first element.
  std::optional<Polynomial> of(const AffineForm &form);

protected:
  virtual bool isInvariant(mlir::Value value) = 0;
  /// Whether the value grows by step().
  virtual bool isCounter(mlir::Value value) = 0;
  virtual std::optional<Polynomial> step() = 0;
  virtual std::optional<Polynomial> ofArgument(mlir::BlockArgument argument) = 0;

  /// The value, where it does not change.
  std::optional<Polynomial> invariant(mlir::Value value);
  /// The bytes of an element of a tt.addptr.
  static int64_t bytesOf(mlir::Operation *addPtr);

  static constexpr unsigned maxDepth = 64;
  AffineInfo &affineInfo;

private:
  std::optional<Polynomial> of(mlir::Value value, unsigned depth);
  std::optional<Polynomial> ofMultiplication(mlir::Operation *op, const Polynomial &left, const Polynomial &right);
};

} // namespace nereid::cpu
