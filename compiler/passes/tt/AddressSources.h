// Finds the integer arithmetic from which addresses come.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/tt/Dialect.h"

#include "llvm/ADT/MapVector.h"

namespace nereid::tt {

/// The arithmetic from which the kernel's accesses compute their pointers.
struct AddressArithmetic {
  /// Additions, subtractions, multiplications, shifts to the left and sums of tiles; true for an op that is only used
  /// as an unsigned number.
  llvm::MapVector<mlir::Operation *, bool> ops;
  /// Offsets and pointers in between.
  llvm::DenseSet<mlir::Value> values;
};
AddressArithmetic addressArithmetic(FuncOp kernel);

} // namespace nereid::tt
