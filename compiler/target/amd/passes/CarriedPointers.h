// Tiles of pointers that loops carry and move by equal steps.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/ttg/Dialect.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace nereid::amd {

/// A carried value of a loop, by its index among them.
using CarriedPointer = std::pair<mlir::scf::ForOp, unsigned>;

/// How iterations move a carried tile of pointers.
struct Movement {
  llvm::SmallVector<mlir::Value, 2> steps;      ///< scalars, or constant tiles of equal elements, also of loops inside
  llvm::SmallVector<CarriedPointer, 2> carried; ///< the tile, and what it is in loops inside
};
/// Nothing where the tile does not move by equal steps.
std::optional<Movement> movementOf(mlir::scf::ForOp loop, unsigned index);

/// Makes the loops carry a scalar offset instead of each of these tiles, which becomes its initial value plus that
/// offset:
///
///   for iter_args(%p = %start) {            for iter_args(%o = 0) {
///     ... %p ...                       ->     ... %start + splat %o ...
///     yield %p + splat %step                  yield %o + %step
void carryScalars(llvm::ArrayRef<CarriedPointer> carried);

} // namespace nereid::amd
