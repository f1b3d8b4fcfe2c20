// Collects the bases of a tile of a matrix instruction, of the registers, lanes and warps that hold it.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/layout/Layout.h"

namespace nereid::layout {

/// Bases of one warp's tile and of the warps, over the dims of a tile.
class TileBases {
public:
  explicit TileBases(unsigned rank) : rank(rank) {}

  void add(llvm::StringRef in, unsigned dim, int32_t step);
  void add(llvm::StringRef in, LinearLayout::Coordinates basis) { basesOf(in).push_back(std::move(basis)); }
  /// Adds a bit whose threads hold the same elements.
  void addCopy(llvm::StringRef in);
  /// The layout of a tile of `shape`, with further registers where it is larger than the bases reach and with copies
  /// where it is smaller.
  LinearLayout finish(llvm::ArrayRef<int64_t> shape) const;

private:
  std::vector<LinearLayout::Coordinates> &basesOf(llvm::StringRef in);

  unsigned rank;
  std::vector<LinearLayout::Input> inputs = {
      {kRegister.str(), {}}, {kLane.str(), {}}, {kWarp.str(), {}}, {kBlock.str(), {}}};
};

} // namespace nereid::layout
