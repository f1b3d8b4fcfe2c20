// Checks that encodings share: the order of dimensions, and whether a tile may have an encoding.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/dialect/ttg/Dialect.h"

namespace nereid::ttg {

/// `order` is a permutation.
llvm::LogicalResult verifyOrder(llvm::function_ref<mlir::InFlightDiagnostic()> emitError,
                                llvm::ArrayRef<unsigned> order);
/// A tile of `shape` may have `encoding`: ranks agree, extents are powers of two, threads hold the elements.
llvm::LogicalResult verifyTile(llvm::function_ref<mlir::InFlightDiagnostic()> emitError, LayoutEncoding encoding,
                               llvm::ArrayRef<int64_t> shape);
/// `encoding` spreads over as many warps and lanes as there are.
llvm::LogicalResult verifyThreads(llvm::function_ref<mlir::InFlightDiagnostic()> emitError, LayoutEncoding encoding,
                                  unsigned numWarps, unsigned threadsPerWarp);
/// Dimensions from the last to the first.
llvm::SmallVector<unsigned> lastDimFirst(unsigned rank);

} // namespace nereid::ttg
