// Sums of the dot of one warp: 16 rows, up to 256 columns, a depth of 32 bytes.
// SPDX-License-Identifier: MIT
#pragma once

namespace nereid::sim {

inline constexpr unsigned kRows = 16, kMaxColumns = 256, kMaxDepth = 32;

/// values[row][k]
struct LeftMatrix {
  static constexpr unsigned kStride = kMaxDepth;
  double values[kRows][kStride];
};

/// values[k][column]; a row more than a power of two, so that one column is not in one set of the cache.
struct RightMatrix {
  static constexpr unsigned kStride = kMaxColumns + 8;
  double values[kMaxDepth][kStride];
};

/// Eight columns of the dot. Products of two numbers of at most 11 bits are exact; four sums, of every fourth element
/// along K, are added at the end.
struct SumBlock {
  static constexpr unsigned kColumns = 8;
  double values[kRows][kColumns];
  void compute(const LeftMatrix &left, const RightMatrix &right, unsigned depth, unsigned column, double sign);
};

} // namespace nereid::sim
