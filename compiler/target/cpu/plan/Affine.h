// Tiles whose element is `start + sum(index[d] * steps[d])`, with start and steps symbolic in scalars.
// SPDX-License-Identifier: MIT
//
// Arithmetic is that of integers without bounds over scalars: an offset does not wrap (compiler/index/Wrap.h). A
// comparison of other sums sets `mayWrap`.
#pragma once

#include "compiler/index/Polynomial.h"

#include "mlir/IR/Value.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

#include <optional>

namespace nereid::cpu {

using index::Polynomial;

/// A scalar or tile of integers or pointers. Distances of pointers are in bytes.
struct AffineForm {
  mlir::Value base; ///< scalar pointer; null for integers
  Polynomial start;
  llvm::SmallVector<Polynomial, 2> steps;     ///< one per dimension; zero along extent 1
  llvm::SmallVector<unsigned, 1> assumptions; ///< remainders that must not wrap for this to hold

  bool isUniform() const {
    return llvm::all_of(steps, [](const Polynomial &step) { return step.isZero(); });
  }
};

/// Whether elements that are neighbours along the dimension are neighbours in the memory that `pointer` addresses.
bool isContiguous(const AffineForm &form, unsigned dim, mlir::Value pointer);

/// `(dividend + i) % divisor` for 0 <= i < extent, which is `dividend % divisor + i` where it does not wrap.
struct Remainder {
  Polynomial dividend, divisor;
  int64_t extent = 1;
};

/// `index[dim] < bound`.
struct PrefixMask {
  unsigned dim = 0;
  Polynomial bound;
  bool mayWrap = false; ///< holds only where no sum of either side overflows its type
};

/// Analyses the tiles of one function and caches the results.
class AffineInfo {
public:
  /// Null where the value is not affine.
  const AffineForm *affine(mlir::Value value) {
    const AffineForm *form = assumed(value);
    return form && form->assumptions.empty() ? form : nullptr;
  }
  /// A form that holds where its assumptions do.
  const AffineForm *assumed(mlir::Value value);
  /// The remainder that an assumption's variable stands for; null for other variables.
  const Remainder *remainderOf(unsigned variable) const {
    auto found = remainders.find(variable);
    return found == remainders.end() ? nullptr : &found->second;
  }
  /// The prefix of one dimension for which a comparison holds; null where it is no prefix.
  const PrefixMask *prefix(mlir::Value mask);
  /// Whether comparisons that may wrap are rejected as prefixes from here on.
  void setExact(bool value) { isExact = value; }
  /// The dimensions that the elements depend on, as a bit set. Dimensions of extent 1 are never in it.
  uint32_t dependence(mlir::Value value);

  /// Whether the predicate holds for every scalar of the sum.
  bool allScalars(const Polynomial &sum, llvm::function_ref<bool(mlir::Value)> predicate) const {
    return sum.allVariables([&](unsigned variable) { return predicate(valueOf(variable)); });
  }

  /// The variable of a scalar, numbered in the order first seen, so that equal input gives equal code.
  unsigned variableOf(mlir::Value scalar);
  mlir::Value valueOf(unsigned variable) const { return scalars[variable]; }

private:
  std::optional<AffineForm> analyse(mlir::Value value);
  std::optional<AffineForm> analyseShape(mlir::Operation *op);
  std::optional<AffineForm> analyseArithmetic(mlir::Operation *op);
  std::optional<AffineForm> analyseRemainder(mlir::Operation *op);
  std::optional<PrefixMask> analyseMask(mlir::Value mask);
  uint32_t analyseDependence(mlir::Value value);

  llvm::DenseMap<mlir::Value, std::optional<AffineForm>> forms;
  llvm::DenseMap<mlir::Value, std::optional<PrefixMask>> masks;
  llvm::DenseMap<mlir::Value, uint32_t> dependences;
  llvm::DenseMap<mlir::Value, unsigned> variables;
  llvm::SmallVector<mlir::Value> scalars; ///< by variable
  llvm::DenseMap<unsigned, Remainder> remainders;
  bool isExact = false;
};

/// Bytes that an element takes in memory; i1 takes one.
uint64_t storageBytes(mlir::Type element);
/// Those of an element that a pointer, or each pointer of a tile, addresses.
int64_t bytesOfPointee(mlir::Value pointer);

} // namespace nereid::cpu
