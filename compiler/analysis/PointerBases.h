// Finds the kernel arguments that pointers start from, and those that a loop writes through.
// SPDX-License-Identifier: MIT
#pragma once

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseSet.h"

#include <optional>

namespace nereid::analysis {

/// The argument of the function that a pointer starts from; null where that is not provable.
mlir::BlockArgument baseOf(mlir::Value pointer);

using Bases = llvm::SmallDenseSet<mlir::BlockArgument, 4>;
/// The arguments that the loop writes through; nothing where other memory may be written, too.
std::optional<Bases> writtenBases(mlir::scf::ForOp loop);

/// Whether memory read through `pointer` is unchanged while a loop writes through `written`. Two different arguments
/// are assumed not to overlap, as prefetched loads require.
bool staysUnwritten(mlir::Value pointer, const Bases &written);

} // namespace nereid::analysis
