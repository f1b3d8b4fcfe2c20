// Estimates the cost of a layout: of the accesses, reductions and conversions that it causes.
// SPDX-License-Identifier: MIT
//
// The unit is roughly a cycle of a warp's load-store pipeline. Only comparisons matter.
#pragma once

#include "compiler/dialect/ttg/TargetInterface.h"
#include "compiler/passes/ttg/LayoutClasses.h"

namespace nereid::ttg {

/// The cost of one execution of `access`, whose tile has `layout`.
unsigned accessCost(const analysis::MemoryAccess &access, const index::AxisInfoAnalysis &axisInfo,
                    LayoutEncoding layout);
/// The cost of one reduction or scan of a tile along the axis.
unsigned reductionCost(mlir::Operation *op, unsigned axis, LayoutEncoding layout);
/// The cost of one conversion of a tile from one layout to another.
unsigned conversionCost(LayoutEncoding from, LayoutEncoding to, llvm::ArrayRef<int64_t> shape, unsigned elementBits,
                        ThreadCounts threads);
/// The additional cost of a conversion to an operand of a matrix instruction whose lanes read vectors along K from
/// shared memory, and only as long ones as the threads that fill it hold; 0 for other layouts `to`.
unsigned operandReadCost(LayoutEncoding from, LayoutEncoding to, llvm::ArrayRef<int64_t> shape);
/// The factor for costs at a loop depth.
unsigned loopWeight(unsigned loopDepth);

/// The layout in which an access is fastest: adjacent elements in one thread up to 16 bytes, then in adjacent lanes.
/// With `keptInWarp`, warps are distributed over the other dimensions first, so that a reduction along that one crosses
/// fewer of them.
BlockedAttr preferredLayout(const analysis::MemoryAccess &access, const index::AxisInfoAnalysis &axisInfo,
                            ThreadCounts threads, std::optional<unsigned> keptInWarp = std::nullopt);

/// `layout`, a blocked one, with as many adjacent elements along K in each thread as a lane of the operand `operand` of
/// a matrix instruction reads at once; null where it has them already, or another layout is meant.
LayoutEncoding blockAlongK(LayoutEncoding layout, LayoutEncoding operand, llvm::ArrayRef<int64_t> shape,
                           ThreadCounts threads);

/// The layout in which an access is fastest while every warp holds the elements that it holds in `result`, so that a
/// conversion between the two stays in warps; null where warps hold copies, or more than ranges of coordinates.
LayoutEncoding layoutInWarpsOf(LayoutEncoding result, const analysis::MemoryAccess &access,
                               const index::AxisInfoAnalysis &axisInfo);

} // namespace nereid::ttg
