// Builds the layout of a matrix instruction's tile from its bases.
// SPDX-License-Identifier: MIT
#include "compiler/layout/TileBases.h"

#include "compiler/layout/Distributed.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"

using namespace nereid;
using namespace nereid::layout;

std::vector<LinearLayout::Coordinates> &TileBases::basesOf(llvm::StringRef in) {
  return llvm::find_if(inputs, [&](const LinearLayout::Input &input) { return input.name == in; })->bases;
}

void TileBases::add(llvm::StringRef in, unsigned dim, int32_t step) {
  LinearLayout::Coordinates &basis = basesOf(in).emplace_back(rank, 0);
  basis[dim] = step;
}

void TileBases::addCopy(llvm::StringRef in) { basesOf(in).emplace_back(rank, 0); }

LinearLayout TileBases::finish(llvm::ArrayRef<int64_t> shape) const {
  std::vector<LinearLayout::Output> outputs;
  for (unsigned dim = 0; dim < rank; ++dim) {
    int32_t size = 1;
    for (const LinearLayout::Input &input : inputs)
      for (const LinearLayout::Coordinates &basis : input.bases)
        size = std::max(size, basis[dim] * 2);
    outputs.push_back({dimName(dim), size});
  }
  const auto order = llvm::to_vector(llvm::reverse(llvm::seq<unsigned>(0, rank)));
  return fitToShape(LinearLayout::fromBases(inputs, outputs), order, shape).removeZeroBases(kRegister);
}
