// Finds where addresses come from: the kernel arguments behind a pointer, and the integer arithmetic of its offset.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/tt/Dialect.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallSet.h"

namespace nereid::tt {

/// What a pointer is derived from, through loops and branches.
struct PointerSources {
  llvm::SmallSet<unsigned, 2> arguments; ///< of the kernel
  bool hasOthers = false;                ///< also from an integer, or from a loaded pointer
};
PointerSources sourcesOf(mlir::Value pointer);

/// The arithmetic from which the kernel's accesses compute their pointers.
struct AddressArithmetic {
  /// Additions, subtractions and multiplications; true for an op that is only used as an unsigned number.
  llvm::MapVector<mlir::Operation *, bool> ops;
  /// Offsets and pointers in between.
  llvm::DenseSet<mlir::Value> values;
};
AddressArithmetic addressArithmetic(FuncOp kernel);

/// The pointer of a load, a store or an atomic; null for other ops.
mlir::Value accessedPointer(mlir::Operation *op);
/// The mask of a load, a store or an atomic; null where it has none.
mlir::Value accessMask(mlir::Operation *op);

} // namespace nereid::tt
