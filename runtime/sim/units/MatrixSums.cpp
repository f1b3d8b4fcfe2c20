// Sums of the dot of one warp, in an order that vectors of four doubles compute.
// SPDX-License-Identifier: MIT
#include "runtime/sim/units/MatrixSums.h"

#include <cmath>

using namespace nereid::sim;

namespace {
constexpr unsigned kRowsAtOnce = 4, kParts = 4;
using Sums = double[kRowsAtOnce][SumBlock::kColumns];
} // namespace

/// One sum in four along K; the product is exact, so that fusing it with the sum changes nothing.
static void addPart(const LeftMatrix &left, const RightMatrix &right, unsigned depth, unsigned row, unsigned column,
                    unsigned part, Sums &result) {
  Sums sums = {};
  for (unsigned k = part; k < depth; k += kParts)
    for (unsigned r = 0; r < kRowsAtOnce; ++r)
      for (unsigned c = 0; c < SumBlock::kColumns; ++c)
        sums[r][c] = std::fma(left.values[row + r][k], right.values[k][column + c], sums[r][c]);
  for (unsigned r = 0; r < kRowsAtOnce; ++r)
    for (unsigned c = 0; c < SumBlock::kColumns; ++c)
      result[r][c] = sums[r][c];
}

void SumBlock::compute(const LeftMatrix &left, const RightMatrix &right, unsigned depth, unsigned column, double sign) {
  for (unsigned row = 0; row < kRows; row += kRowsAtOnce) {
    Sums parts[kParts];
    for (unsigned part = 0; part < kParts; ++part)
      addPart(left, right, depth, row, column, part, parts[part]);
    for (unsigned r = 0; r < kRowsAtOnce; ++r)
      for (unsigned c = 0; c < kColumns; ++c)
        values[row + r][c] = ((parts[0][r][c] + parts[1][r][c]) + (parts[2][r][c] + parts[3][r][c])) * sign;
  }
}
