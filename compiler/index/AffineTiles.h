// Writes integers and pointers of tiles as affine functions of an element's coordinates.
// SPDX-License-Identifier: MIT
//
// The coefficients are polynomials of scalars: the arguments and program ids of the kernel, the iterations of loops
// around the tile, and whatever else is not a sum or a product. An index that overflows its type counts as an error of
// the program, as for axis info.
#pragma once

#include "compiler/dialect/tt/Dialect.h"
#include "compiler/index/Polynomial.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

#include "llvm/ADT/DenseMap.h"

namespace nereid::analysis {

using index::Polynomial;

/// start + sum over the dimensions of steps[dim] * coordinate[dim]; pointers: so many elements after `base`.
struct AffineForm {
  mlir::Value base; ///< of pointers: a scalar that is no sum itself; else null
  Polynomial start;
  llvm::SmallVector<Polynomial, 2> steps;
};

class AffineTiles {
public:
  virtual ~AffineTiles() = default;

  /// The form of an integer or pointer, or of a tile of them; nothing where it has none.
  std::optional<AffineForm> of(mlir::Value value);

  /// What a variable stands for: a scalar, or the count of a loop's iterations before the present one.
  struct Variable {
    mlir::Value value;
    mlir::scf::ForOp loop;
  };
  const Variable &variable(unsigned index) const { return variables[index]; }

  /// Whether the polynomial is not negative wherever the variables have their values, as `isNonNegative` tells of
  /// scalars that are neither sums nor products.
  bool isNonNegative(const Polynomial &polynomial);

protected:
  unsigned variableOf(mlir::Value value);

  /// The form of a remainder, where a derived class knows more about the divisor; nothing by default.
  virtual std::optional<AffineForm> ofRemainder(mlir::arith::RemSIOp, const AffineForm &, const Polynomial &) {
    return std::nullopt;
  }
  /// Whether a scalar is known not to be negative for reasons outside of the kernel; false by default.
  virtual bool isKnownNonNegative(mlir::Value) { return false; }

private:
  std::optional<AffineForm> compute(mlir::Value value);
  std::optional<AffineForm> ofOp(mlir::Operation *op);
  std::optional<AffineForm> ofArgument(mlir::BlockArgument argument);
  std::optional<AffineForm> ofCarried(mlir::scf::ForOp loop, mlir::BlockArgument argument);
  std::optional<Polynomial> growth(mlir::Value value, mlir::BlockArgument from);
  std::optional<Polynomial> iterationsBefore(mlir::scf::ForOp loop);
  AffineForm opaque(mlir::Value value);
  bool isNonNegative(mlir::Value value);

  llvm::DenseMap<mlir::Value, std::optional<AffineForm>> known;
  llvm::DenseMap<mlir::Value, unsigned> variableOfValue;
  llvm::DenseMap<mlir::Operation *, unsigned> variableOfLoop;
  llvm::SmallVector<Variable> variables;
};

} // namespace nereid::analysis
