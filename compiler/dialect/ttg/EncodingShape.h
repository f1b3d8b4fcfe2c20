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
/// `cgaLayout` holds bases of `rank` numbers, powers of two or 0.
llvm::LogicalResult verifyClusterSplit(llvm::function_ref<mlir::InFlightDiagnostic()> emitError,
                                       llvm::ArrayRef<unsigned> cgaLayout, size_t rank);
/// The shape of the part of a tile that one CTA of a cluster holds.
llvm::SmallVector<int64_t> shapeOfCta(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<unsigned> cgaLayout);
/// The layout of a tile that the CTAs of a cluster split, from the layout of a part; its last input is `block`.
layout::LinearLayout splitByCluster(const layout::LinearLayout &part, llvm::ArrayRef<unsigned> cgaLayout,
                                    llvm::ArrayRef<int64_t> partShape);
/// The dimensions of bases; the extent of each is the span of its bases.
std::vector<layout::LinearLayout::Output> spannedOutputs(llvm::ArrayRef<layout::LinearLayout::Input> inputs);
/// Dimensions from the last to the first.
llvm::SmallVector<unsigned> lastDimFirst(unsigned rank);

} // namespace nereid::ttg
