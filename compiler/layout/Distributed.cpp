// Builds blocked and slice layouts.
// SPDX-License-Identifier: MIT
#include "compiler/layout/Distributed.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <cassert>

using namespace nereid;
using namespace nereid::layout;

std::string layout::dimName(unsigned dim) { return "dim" + std::to_string(dim); }

/// A box of `extents` filled by `in`, the dims of `order` from the fastest.
static LinearLayout box(llvm::StringRef in, llvm::ArrayRef<unsigned> extents, llvm::ArrayRef<unsigned> order) {
  LinearLayout product;
  for (unsigned dim : order)
    product = product * LinearLayout::identity1D(extents[dim], in, dimName(dim));
  return product;
}

LinearLayout layout::fitToShape(const LinearLayout &source, llvm::ArrayRef<unsigned> order,
                                llvm::ArrayRef<int64_t> shape) {
  std::vector<LinearLayout::Input> inputs;
  std::vector<LinearLayout::Output> outputs;
  for (auto [dim, size] : llvm::enumerate(shape))
    outputs.push_back({dimName(dim), int32_t(std::min<int64_t>(size, source.outSize(dimName(dim))))});
  for (llvm::StringRef name : source.inputNames()) {
    LinearLayout::Input &input = inputs.emplace_back();
    input.name = name.str();
    for (unsigned bit = 0; bit < source.inBits(name); ++bit) {
      LinearLayout::Coordinates &basis = input.bases.emplace_back();
      for (const LinearLayout::Output &output : outputs)
        basis.push_back(source.basis(name, bit, output.name) & (output.size - 1));
    }
  }
  LinearLayout fitted = LinearLayout::fromBases(inputs, outputs);
  for (unsigned dim : order)
    fitted = fitted * LinearLayout::identity1D(shape[dim] / fitted.outSize(dimName(dim)), kRegister, dimName(dim));
  return fitted;
}

LinearLayout layout::blockedLayout(llvm::ArrayRef<unsigned> sizePerThread, llvm::ArrayRef<unsigned> threadsPerWarp,
                                   llvm::ArrayRef<unsigned> warpsPerCta, llvm::ArrayRef<unsigned> order,
                                   llvm::ArrayRef<int64_t> shape) {
  assert(order.size() == shape.size() && sizePerThread.size() == shape.size() &&
         threadsPerWarp.size() == shape.size() && warpsPerCta.size() == shape.size() && "one rank");
  LinearLayout tile =
      box(kRegister, sizePerThread, order) * box(kLane, threadsPerWarp, order) * box(kWarp, warpsPerCta, order);
  tile = tile * LinearLayout::identity1D(1, kBlock, dimName(0));
  return fitToShape(tile, order, shape);
}

LinearLayout layout::sliceLayout(const LinearLayout &parent, unsigned dim) {
  llvm::SmallVector<llvm::StringRef, 4> outs = parent.outputNames();
  assert(dim < outs.size() && "a slice removes a dim that is there");
  outs.erase(outs.begin() + dim);
  LinearLayout slice = parent.sublayout(parent.inputNames(), outs);
  for (unsigned later = dim + 1; later < parent.numOutputs(); ++later)
    slice = slice.renameOut(dimName(later), dimName(later - 1));
  return slice.removeZeroBases(kRegister);
}
