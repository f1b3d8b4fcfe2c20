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
  if (cgaLayout.size() % rank)
    return emitError() << "CGALayout has " << cgaLayout.size() << " numbers for " << rank << " dimensions";
  for (unsigned stride : cgaLayout)
    if (stride && !llvm::isPowerOf2_32(stride))
      return emitError() << "CGALayout holds " << stride << ", which is not a power of two";
  return success();
}

unsigned BlockedAttr::getRank() const { return getOrder().size(); }

/// The layout of a tile that the CTAs of a cluster split: each holds a part of `blockShape`.
static LinearLayout splitByCluster(const LinearLayout &block, ArrayRef<unsigned> split, ArrayRef<int64_t> blockShape) {
  const unsigned rank = blockShape.size();
  std::vector<LinearLayout::Input> inputs;
  std::vector<LinearLayout::Output> outputs;
  for (unsigned dim = 0; dim < rank; ++dim)
    outputs.push_back({layout::dimName(dim), int32_t(blockShape[dim])});
  for (StringRef name : {layout::kRegister, layout::kLane, layout::kWarp}) {
    inputs.push_back({name.str(), {}});
    for (unsigned bit = 0; bit < block.inBits(name); ++bit)
      inputs.back().bases.push_back(block.basis(name, bit));
  }
  inputs.push_back({layout::kBlock.str(), {}});
  for (unsigned first = 0; first < split.size(); first += rank) {
    LinearLayout::Coordinates &basis = inputs.back().bases.emplace_back();
    for (unsigned dim = 0; dim < rank; ++dim) {
      basis.push_back(split[first + dim] * blockShape[dim]);
      outputs[dim].size = std::max<int32_t>(outputs[dim].size, basis.back() * 2);
    }
  }
  return LinearLayout::fromBases(inputs, outputs);
}

LinearLayout BlockedAttr::toLinearLayout(ArrayRef<int64_t> shape) const {
  SmallVector<int64_t> blockShape(shape);
  ArrayRef<unsigned> split = getCgaLayout();
  for (auto [index, stride] : llvm::enumerate(split))
    if (int64_t &extent = blockShape[index % getRank()]; stride && extent > 1)
      extent /= 2;
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
