// From which elements of its operands an op computes an element of a result.
// SPDX-License-Identifier: MIT
#pragma once

#include "mlir/IR/Operation.h"

#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace nereid::tt {

/// The index of an operand's element in one dimension, given the index of a result's element.
struct ElementIndex {
  enum class Kind : uint8_t {
    ResultDim, ///< the result's index in dimension `number`
    Fixed,     ///< `number`
    Any,       ///< depends on the values of other operands: the op needs the operand as a whole along this dimension
    Unknown,   ///< computed from the result's index in another way
  };
  Kind kind = Kind::Unknown;
  uint32_t number = 0;

  static ElementIndex ofDim(uint32_t dim) { return {Kind::ResultDim, dim}; }
  static ElementIndex fixed(uint32_t index) { return {Kind::Fixed, index}; }
  static ElementIndex any() { return {Kind::Any}; }
  static ElementIndex unknown() { return {Kind::Unknown}; }

  bool isDim(uint32_t dim) const { return kind == Kind::ResultDim && number == dim; }
  bool operator==(const ElementIndex &other) const = default;
};

/// One index for each dimension of the operand; empty for a scalar.
using ElementMap = llvm::SmallVector<ElementIndex, 4>;

/// The map of an operand whose elements have the indices of the result's.
ElementMap identityMap(size_t rank);

/// The map of an operand, also of elementwise ops and accesses to memory, which work lane by lane; nothing for an op
/// that combines elements.
std::optional<ElementMap> elementMapOf(mlir::Operation *op, unsigned operand, unsigned result = 0);

/// The operands whose elements the results of an op hold, unchanged; empty where it computes them.
mlir::OperandRange elementSources(mlir::Operation *op);

} // namespace nereid::tt
