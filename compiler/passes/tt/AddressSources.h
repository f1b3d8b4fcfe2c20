// Where addresses come from: the kernel's arguments behind a pointer, and the integer arithmetic that moves it.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/tt/Dialect.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallSet.h"

namespace nereid::tt {

/// What a pointer is made of, through loops and branches.
struct PointerSources {
  llvm::SmallSet<unsigned, 2> arguments; ///< of the kernel
  bool hasOthers = false;                ///< an integer, or a pointer that was loaded
};
PointerSources sourcesOf(mlir::Value pointer);

/// What the pointers of the kernel's accesses are computed from.
struct AddressArithmetic {
  /// Additions, subtractions and multiplications; true for one that is only used as an unsigned number.
  llvm::MapVector<mlir::Operation *, bool> ops;
  /// Offsets and pointers on the way.
  llvm::DenseSet<mlir::Value> values;
};
AddressArithmetic addressArithmetic(FuncOp kernel);

/// The pointer of a load, a store or an atomic; null for other ops.
mlir::Value accessedPointer(mlir::Operation *op);
/// The mask of one; null where it has none.
mlir::Value accessMask(mlir::Operation *op);

} // namespace nereid::tt
