// Finds the kernel arguments that pointers start from, that a loop writes through and that an op reads through.
// SPDX-License-Identifier: MIT
#pragma once

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

#include <optional>

namespace nereid::analysis {

/// The value as an argument of the function; null for other values.
mlir::BlockArgument functionArgument(mlir::Value value);

/// What a pointer, or a tile of pointers, is derived from, through loops and branches.
struct PointerSources {
  llvm::SmallSetVector<mlir::BlockArgument, 2> arguments; ///< of the function
  bool hasOthers = false;                                 ///< also an integer, a loaded pointer or the result of a call
};
PointerSources sourcesOf(mlir::Value pointer);

/// The only argument of the function that a pointer starts from; null where that is not provable.
mlir::BlockArgument baseOf(mlir::Value pointer);

using Bases = llvm::SmallDenseSet<mlir::BlockArgument, 4>;
/// The arguments that the ops inside of a loop or function write through; nothing where other memory may be written,
/// too.
std::optional<Bases> writtenBases(mlir::Operation *around);

/// Whether an op, without its regions, may read what `base` points to. An op reads anything where its effects or its
/// pointer are unknown; shared memory is not visible through `base`.
bool mayRead(mlir::Operation *op, mlir::BlockArgument base);

/// Whether memory read through `pointer` is unchanged while a loop writes through `written`. Two different arguments
/// are assumed not to overlap, as prefetched loads require.
bool staysUnwritten(mlir::Value pointer, const Bases &written);

} // namespace nereid::analysis
