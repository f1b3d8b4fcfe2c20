// Generates random layouts of tiles for property tests.
// SPDX-License-Identifier: MIT
#pragma once

#include "compiler/layout/Layout.h"

#include <random>

namespace nereid::test {

/// A shape and the numbers of threads that two layouts share.
struct TileSpec {
  llvm::SmallVector<int64_t, 4> shape;
  unsigned laneBits = 5;
  unsigned warpBits = 2;

  unsigned tileBits() const;
};

class RandomLayouts {
public:
  explicit RandomLayouts(unsigned seed) : engine(seed) {}

  unsigned below(unsigned limit) { return std::uniform_int_distribution<unsigned>(0, limit - 1)(engine); }
  uint64_t word() { return std::uniform_int_distribution<uint64_t>()(engine); }

  /// Rank 1 to 4 and at most 2^maxBits elements.
  TileSpec spec(unsigned maxBits);
  /// Any kind of layout: blocked, a slice of a blocked or of a linear layout, a permutation of bits, any linear map;
  /// with copies.
  layout::LinearLayout any(const TileSpec &spec);

  layout::LinearLayout blocked(const TileSpec &spec);
  layout::LinearLayout slice(const TileSpec &spec);
  /// Assigns the tile's directions (units or any basis) to registers, lanes and warps, with zero bases among them.
  layout::LinearLayout dealt(const TileSpec &spec, bool onlyUnits);
  /// The same, with copies that are sums of other bits.
  layout::LinearLayout withDependentCopies(const TileSpec &spec);

private:
  /// Extents of `rank` dims whose product is 2^bits.
  llvm::SmallVector<unsigned, 4> split(unsigned bits, unsigned rank);
  llvm::SmallVector<uint64_t, 16> regularColumns(unsigned bits, bool onlyUnits);
  std::mt19937_64 engine;
};

} // namespace nereid::test
