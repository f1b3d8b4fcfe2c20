// Which arguments of the kernel pointers start from, and through which of them a loop writes.
// SPDX-License-Identifier: MIT
#pragma once

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/DenseSet.h"

#include <optional>

namespace nereid::analysis {

/// The argument of the function that a pointer starts from; null where that is not plain to see.
mlir::BlockArgument baseOf(mlir::Value pointer);

using Bases = llvm::SmallDenseSet<mlir::BlockArgument, 4>;
/// The arguments that the loop writes through; nothing where something else may write too.
std::optional<Bases> writtenBases(mlir::scf::ForOp loop);

/// Whether what is read through `pointer` stays while a loop writes through `written`. That two arguments overlap is
/// what loads ahead of their iteration rule out.
bool staysUnwritten(mlir::Value pointer, const Bases &written);

} // namespace nereid::analysis
