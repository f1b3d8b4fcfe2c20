// What a layout costs: the accesses, reductions and conversions that it brings about.
// SPDX-License-Identifier: MIT
//
// The unit is roughly a cycle of a warp's load-store path. Only comparisons count.
#pragma once

#include "compiler/passes/ttg/LayoutClasses.h"

namespace nereid::ttg {

/// The threads that share a tile.
struct ThreadCounts {
  unsigned numWarps = 4;
  unsigned threadsPerWarp = 32;
};

/// Accesses `access`, whose tile has `layout`, once.
unsigned accessCost(const analysis::MemoryAccess &access, const analysis::AxisInfoAnalysis &axisInfo,
                    LayoutEncoding layout);
/// Reduces or scans a tile along the axis once.
unsigned reductionCost(mlir::Operation *op, unsigned axis, LayoutEncoding layout);
/// Moves a tile from one layout to another once.
unsigned conversionCost(LayoutEncoding from, LayoutEncoding to, llvm::ArrayRef<int64_t> shape, unsigned elementBits,
                        ThreadCounts threads);
/// How much more what happens in loops counts.
unsigned loopWeight(unsigned loopDepth);

/// The layout in which an access is fastest: neighbours in one thread up to 16 bytes, then neighbouring lanes. With
/// `keptInWarp`, warps are spread over the other dimensions first, so that a reduction along that one needs fewer of
/// them.
BlockedAttr preferredLayout(const analysis::MemoryAccess &access, const analysis::AxisInfoAnalysis &axisInfo,
                            ThreadCounts threads, std::optional<unsigned> keptInWarp = std::nullopt);

} // namespace nereid::ttg
