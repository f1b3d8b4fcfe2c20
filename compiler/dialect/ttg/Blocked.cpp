// #ttg.blocked: boxes of elements per thread, of threads per warp, of warps.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/ttg/Dialect.h"
#include "compiler/dialect/ttg/EncodingShape.h"
#include "compiler/layout/Distributed.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace nereid;
using namespace nereid::ttg;
using layout::LinearLayout;

LogicalResult BlockedAttr::verify(function_ref<InFlightDiagnostic()> emitError, ArrayRef<unsigned> sizePerThread,
                                  ArrayRef<unsigned> threadsPerWarp, ArrayRef<unsigned> warpsPerCta,
                                  ArrayRef<unsigned> order, ArrayRef<unsigned> cgaLayout) {
  const size_t rank = order.size();
  if (rank == 0 || sizePerThread.size() != rank || threadsPerWarp.size() != rank || warpsPerCta.size() != rank)
    return emitError() << "sizePerThread, threadsPerWarp, warpsPerCTA and order differ in length or are empty";
  if (failed(verifyOrder(emitError, order)))
    return failure();
  for (ArrayRef<unsigned> extents : {sizePerThread, threadsPerWarp, warpsPerCta})
    for (unsigned extent : extents)
      if (!llvm::isPowerOf2_32(extent))
        return emitError() << "extent " << extent << " is not a power of two";
  return verifyClusterSplit(emitError, cgaLayout, rank);
}

unsigned BlockedAttr::getRank() const { return getOrder().size(); }

LinearLayout BlockedAttr::toLinearLayout(ArrayRef<int64_t> shape) const {
  const ArrayRef<unsigned> split = getCgaLayout();
  const SmallVector<int64_t> blockShape = shapeOfCta(shape, split);
  LinearLayout block =
      layout::blockedLayout(getSizePerThread(), getThreadsPerWarp(), getWarpsPerCTA(), getOrder(), blockShape);
  if (!split.empty())
    block = layout::fitToShape(splitByCluster(block, split, blockShape), getOrder(), shape);
  return block.removeZeroBases(layout::kRegister);
}

/// Spreads `count` threads or warps over a tile along `order`; `room` holds the extents left. Bits that do not fit are
/// copies along the last dimension of `order`.
static SmallVector<unsigned> spread(ArrayRef<unsigned> room, ArrayRef<unsigned> order, unsigned count) {
  SmallVector<unsigned> extents(room.size(), 1);
  for (unsigned dim : order) {
    extents[dim] = std::min(room[dim], count);
    count /= extents[dim];
  }
  extents[order.back()] *= count;
  return extents;
}

BlockedAttr ttg::defaultBlocked(MLIRContext *context, ArrayRef<int64_t> shape, ArrayRef<unsigned> sizePerThread,
                                ArrayRef<unsigned> order, unsigned numWarps, unsigned threadsPerWarp,
                                ArrayRef<unsigned> warpOrder) {
  SmallVector<unsigned> room;
  for (auto [extent, perThread] : llvm::zip_equal(shape, sizePerThread))
    room.push_back(std::max<int64_t>(1, extent / perThread));
  const SmallVector<unsigned> threads = spread(room, order, threadsPerWarp);
  for (auto [extent, taken] : llvm::zip_equal(room, threads))
    extent = std::max(1u, extent / taken);
  const SmallVector<unsigned> warps = spread(room, warpOrder.empty() ? order : warpOrder, numWarps);
  return BlockedAttr::get(context, sizePerThread, threads, warps, order);
}
