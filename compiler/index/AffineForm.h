// Writes integers and pointers of tiles as affine functions of an element's coordinates.
// SPDX-License-Identifier: MIT
//
// The coefficients are polynomials of scalars. Arithmetic is that of integers without bounds: offsets do not wrap
// (Wrap.h), and where a comparison is of other sums, its prefix says so.
#pragma once

#include "compiler/dialect/tt/Dialect.h"
#include "compiler/index/AxisInfo.h"
#include "compiler/index/Polynomial.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include "llvm/ADT/DenseMap.h"

#include <memory>

namespace nereid::index {

/// start + sum over the dimensions of steps[dim] * coordinate[dim]; pointers: so many bytes after `base`.
struct AffineForm {
  mlir::Value base; ///< of pointers: a scalar; else null
  Polynomial start;
  llvm::SmallVector<Polynomial, 2> steps;     ///< zero along extent 1
  llvm::SmallVector<unsigned, 1> assumptions; ///< variables of remainders that must not wrap for this to hold

  /// Whether no element depends on its coordinates.
  bool isUniform() const {
    return llvm::all_of(steps, [](const Polynomial &step) { return step.isZero(); });
  }
};

/// a + b * factor
std::optional<AffineForm> sum(const AffineForm &a, const AffineForm &b, int64_t factor);

/// The only dimension along which elements count up, by one; nothing where there is none, or another step.
std::optional<unsigned> dimOfOneStep(const AffineForm &form);

/// `(dividend + i) % divisor` for 0 <= i < extent, which is `dividend % divisor + i` where it does not wrap.
struct Remainder {
  Polynomial dividend, divisor;
  int64_t extent = 1;
};

/// `coordinate[dim] < bound`.
struct PrefixMask {
  unsigned dim = 0;
  Polynomial bound;
  bool mayWrap = false; ///< holds only where no sum of either side overflows its type
};

/// Analyses the tiles of one function and caches the results, which stay where they are.
class AffineInfo {
public:
  /// What of scalars is a variable: each scalar, or what is neither a sum nor a product, with what loops carry and
  /// count written by the number of iterations before the present one.
  enum class Scalars : uint8_t { Whole, TakenApart };
  explicit AffineInfo(Scalars scalars = Scalars::Whole) : scalars(scalars) {}

  /// Null where the value is not affine.
  const AffineForm *affine(mlir::Value value) {
    const AffineForm *form = assumed(value);
    return form && form->assumptions.empty() ? form : nullptr;
  }
  /// A form that holds where its assumptions do.
  const AffineForm *assumed(mlir::Value value);
  /// The prefix of one dimension for which a comparison holds; null where it is no prefix.
  const PrefixMask *prefix(mlir::Value mask);
  /// Whether comparisons that may wrap are rejected as prefixes from here on.
  void setExact(bool value) { isExact = value; }
  /// Axis info of the function that the value is in.
  const index::AxisInfoAnalysis &axes(mlir::Value value);
  /// The dimensions that the elements depend on, as a bit set. Dimensions of extent 1 are never in it.
  uint32_t dependence(mlir::Value value);

  /// What a variable stands for.
  struct Variable {
    mlir::Value value;     ///< a scalar, or the tile of remainders whose first element it is
    mlir::scf::ForOp loop; ///< else: the count of its iterations before the present one
    std::optional<Remainder> remainder;
  };
  const Variable &variable(unsigned index) const { return *variables[index]; }
  mlir::Value valueOf(unsigned variable) const { return variables[variable]->value; }
  /// The remainder that an assumption's variable stands for; null for other variables.
  const Remainder *remainderOf(unsigned variable) const {
    const std::optional<Remainder> &remainder = variables[variable]->remainder;
    return remainder ? &*remainder : nullptr;
  }
  /// Whether the predicate holds for every scalar of the sum.
  bool allScalars(const Polynomial &sum, llvm::function_ref<bool(mlir::Value)> predicate) const {
    return sum.allVariables([&](unsigned variable) { return predicate(valueOf(variable)); });
  }

private:
  std::optional<AffineForm> analyse(mlir::Value value);
  std::optional<AffineForm> analyseOp(mlir::Operation *op, unsigned result);
  std::optional<AffineForm> analyseMove(mlir::Operation *op, unsigned result);
  std::optional<AffineForm> analyseRemainder(mlir::Operation *op);
  std::optional<AffineForm> analyseArgument(mlir::BlockArgument argument);
  std::optional<PrefixMask> analyseMask(mlir::Value mask);
  uint32_t analyseDependence(mlir::Value value);
  AffineForm ofScalar(mlir::Value scalar);
  Polynomial iterationsBefore(mlir::scf::ForOp loop);
  unsigned variableOf(Variable variable);

  const Scalars scalars;
  llvm::DenseMap<mlir::Value, std::unique_ptr<AffineForm>> forms;
  llvm::DenseMap<mlir::Value, std::unique_ptr<PrefixMask>> masks;
  llvm::DenseMap<mlir::Value, uint32_t> dependences;
  /// By a value, or by a loop, in the order first seen, so that equal input gives equal code.
  llvm::DenseMap<const void *, unsigned> variableIds;
  std::vector<std::unique_ptr<Variable>> variables;
  std::optional<index::AxisInfoAnalysis> axisInfo; ///< computed when it is first needed
  bool isExact = false;
};

/// Whether elements that are neighbours along the dimension are neighbours in the memory that `pointer` addresses.
bool isContiguous(const AffineForm &form, unsigned dim, mlir::Value pointer);
/// Bytes of an element that a pointer, or each pointer of a tile, addresses; i1 takes one.
int64_t bytesOfPointee(mlir::Value pointer);

} // namespace nereid::index
