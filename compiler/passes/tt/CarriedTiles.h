// Makes loops carry scalar offsets instead of tiles that move by equal steps.
// SPDX-License-Identifier: MIT
//
//   for iter_args(%p = %start) {            for iter_args(%o = 0) {
//     ... %p ...                       ->     ... %start + splat %o ...
//     yield %p + splat %step                  yield %o + %step
#pragma once

#include "compiler/dialect/tt/Dialect.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

namespace nereid::tt {

/// A carried value of a loop, by its index among them.
using CarriedTile = std::pair<mlir::scf::ForOp, unsigned>;

/// How iterations move a carried tile of pointers or integers.
struct Movement {
  llvm::SmallVector<mlir::Value, 2> steps;   ///< scalars, or constant tiles of equal elements, also of loops inside
  llvm::SmallVector<CarriedTile, 2> carried; ///< the tile, and what it is in loops inside
};
/// Nothing where the tile does not move by equal steps.
std::optional<Movement> movementOf(mlir::scf::ForOp loop, unsigned index);

/// Makes the loops carry a scalar offset instead of each of these tiles, which becomes its first value plus that
/// offset.
void carryOffsets(llvm::ArrayRef<CarriedTile> carried);

} // namespace nereid::tt
