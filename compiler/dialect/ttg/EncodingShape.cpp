// Implements the checks that all encodings share.
// SPDX-License-Identifier: MIT
#include "compiler/dialect/ttg/EncodingShape.h"

#include "compiler/layout/Distributed.h"

#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace nereid;

LogicalResult ttg::verifyOrder(function_ref<InFlightDiagnostic()> emitError, ArrayRef<unsigned> order) {
  llvm::SmallBitVector seen(order.size());
  for (unsigned dim : order) {
    if (dim >= order.size() || seen[dim])
      return emitError() << "order is not a permutation of " << order.size() << " dimensions";
    seen.set(dim);
  }
  return success();
}

LogicalResult ttg::verifyTile(function_ref<InFlightDiagnostic()> emitError, LayoutEncoding encoding,
                              ArrayRef<int64_t> shape) {
  if (!encoding.isDistributed())
    return emitError() << "a tile held by threads cannot have the encoding of shared memory";
  if (encoding.getRank() != shape.size())
    return emitError() << "an encoding of " << encoding.getRank() << " dimensions is on a tile of " << shape.size();
  for (int64_t extent : shape)
    if (extent <= 0 || !llvm::isPowerOf2_64(extent))
      return emitError() << "extent " << extent << " of a tile with an encoding is not a power of two";
  return success();
}

//--- clusters ------------------------------------------------------------------------------

LogicalResult ttg::verifyClusterSplit(function_ref<InFlightDiagnostic()> emitError, ArrayRef<unsigned> cgaLayout,
                                      size_t rank) {
  if (cgaLayout.size() % rank)
    return emitError() << "CGALayout has " << cgaLayout.size() << " numbers for " << rank << " dimensions";
  for (unsigned stride : cgaLayout)
    if (stride && !llvm::isPowerOf2_32(stride))
      return emitError() << "CGALayout holds " << stride << ", which is not a power of two";
  return success();
}

SmallVector<int64_t> ttg::shapeOfCta(ArrayRef<int64_t> shape, ArrayRef<unsigned> cgaLayout) {
  SmallVector<int64_t> part(shape);
  for (auto [index, stride] : llvm::enumerate(cgaLayout))
    if (int64_t &extent = part[index % shape.size()]; stride && extent > 1)
      extent /= 2;
  return part;
}

layout::LinearLayout ttg::splitByCluster(const layout::LinearLayout &part, ArrayRef<unsigned> cgaLayout,
                                         ArrayRef<int64_t> partShape) {
  using layout::LinearLayout;
  const unsigned rank = partShape.size();
  std::vector<LinearLayout::Input> inputs;
  std::vector<LinearLayout::Output> outputs;
  for (unsigned dim = 0; dim < rank; ++dim)
    outputs.push_back({layout::dimName(dim), int32_t(partShape[dim])});
  for (StringRef name : part.inputNames()) {
    if (name == layout::kBlock)
      continue;
    inputs.push_back({name.str(), {}});
    for (unsigned bit = 0; bit < part.inBits(name); ++bit)
      inputs.back().bases.push_back(part.basis(name, bit));
  }
  inputs.push_back({layout::kBlock.str(), {}});
  for (unsigned first = 0; first < cgaLayout.size(); first += rank) {
    LinearLayout::Coordinates &basis = inputs.back().bases.emplace_back();
    for (unsigned dim = 0; dim < rank; ++dim) {
      basis.push_back(cgaLayout[first + dim] * partShape[dim]);
      outputs[dim].size = std::max<int32_t>(outputs[dim].size, basis.back() * 2);
    }
  }
  return LinearLayout::fromBases(inputs, outputs);
}

std::vector<layout::LinearLayout::Output> ttg::spannedOutputs(ArrayRef<layout::LinearLayout::Input> inputs) {
  std::vector<layout::LinearLayout::Output> outputs;
  for (const layout::LinearLayout::Input &input : inputs)
    for (const layout::LinearLayout::Coordinates &basis : input.bases)
      for (auto [dim, coordinate] : llvm::enumerate(basis)) {
        if (outputs.size() <= dim)
          outputs.push_back({layout::dimName(dim), 1});
        if (coordinate > 0)
          outputs[dim].size = std::max<int32_t>(outputs[dim].size, llvm::NextPowerOf2(coordinate));
      }
  return outputs;
}

SmallVector<unsigned> ttg::lastDimFirst(unsigned rank) {
  return llvm::to_vector(llvm::reverse(llvm::seq<unsigned>(0, rank)));
}
