// Tests layouts of matrix instructions against the fragments that PTX describes, computed by division.
// SPDX-License-Identifier: MIT
#include "test/unit/layout/RandomLayouts.h"

#include "compiler/layout/Distributed.h"
#include "compiler/layout/Mma.h"

#include "gtest/gtest.h"

#include <set>

using namespace nereid;
using namespace nereid::layout;

/// The coordinates that (lane, warp) holds.
static std::set<std::vector<int32_t>> held(const LinearLayout &layout, int32_t lane, int32_t warp) {
  std::set<std::vector<int32_t>> elements;
  for (int32_t index = 0; index < layout.inSize(kRegister); ++index) {
    const auto coordinates = layout.apply({{kRegister, index}, {kLane, lane}, {kWarp, warp}});
    EXPECT_TRUE(elements.insert({coordinates.begin(), coordinates.end()}).second) << "a register is a copy of another";
  }
  return elements;
}

struct DotCase {
  unsigned warpRows, warpColumns;
  int64_t m, n, k;
};

static std::vector<DotCase> dotCases() {
  std::vector<DotCase> all;
  for (unsigned rows : {1, 2, 4})
    for (unsigned columns : {1, 2})
      for (int64_t m : {1, 8, 16, 64})
        for (int64_t n : {1, 4, 8, 32})
          for (int64_t k : {1, 4, 16, 64})
            all.push_back({rows, columns, m, n, k});
  return all;
}

TEST(Mma, AccumulatorIsThatOfPtx) {
  for (const DotCase &dot : dotCases()) {
    const LinearLayout layout = mmaAccumulator({dot.warpRows, dot.warpColumns}, {dot.m, dot.n});
    ASSERT_TRUE(layout.isSurjective());
    for (int32_t warp = 0; warp < int32_t(dot.warpRows * dot.warpColumns); ++warp)
      for (int32_t lane = 0; lane < 32; ++lane) {
        std::set<std::vector<int32_t>> expected;
        const unsigned warpRow = warp / dot.warpColumns, warpColumn = warp % dot.warpColumns;
        const int64_t stepM = 16 * dot.warpRows, stepN = 8 * dot.warpColumns;
        for (int64_t row = 0; row < std::max(dot.m, stepM); row += stepM)
          for (int64_t column = 0; column < std::max(dot.n, stepN); column += stepN)
            for (unsigned half : {0, 8})
              for (unsigned next : {0, 1})
                expected.insert({int32_t((row + warpRow * 16 + lane / 4 + half) % dot.m),
                                 int32_t((column + warpColumn * 8 + lane % 4 * 2 + next) % dot.n)});
        EXPECT_EQ(held(layout, lane, warp), expected);
      }
  }
}

TEST(Mma, OperandsAreThoseOfPtx) {
  for (unsigned kWidth : {1, 2, 4})
    for (const DotCase &dot : dotCases())
      for (unsigned operand : {0, 1}) {
        const int64_t other = operand == 0 ? dot.m : dot.n;
        const LinearLayout layout =
            mmaOperand(operand, kWidth, {dot.warpRows, dot.warpColumns},
                       operand == 0 ? llvm::ArrayRef<int64_t>{dot.m, dot.k} : llvm::ArrayRef<int64_t>{dot.k, dot.n});
        ASSERT_TRUE(layout.isSurjective());
        const unsigned box = operand == 0 ? 16 : 8, warps = operand == 0 ? dot.warpRows : dot.warpColumns;
        for (int32_t warp = 0; warp < int32_t(dot.warpRows * dot.warpColumns); ++warp)
          for (int32_t lane = 0; lane < 32; ++lane) {
            const unsigned here = operand == 0 ? warp / dot.warpColumns : warp % dot.warpColumns;
            std::set<std::vector<int32_t>> expected;
            for (int64_t first = 0; first < std::max<int64_t>(other, box * warps); first += box * warps)
              for (unsigned half = 0; half < box; half += 8)
                for (int64_t step = 0; step < std::max<int64_t>(dot.k, 8 * kWidth); step += 8 * kWidth)
                  for (unsigned word : {0, 4})
                    for (unsigned next = 0; next < kWidth; ++next) {
                      const auto outer = int32_t((first + here * box + lane / 4 + half) % other);
                      const auto along = int32_t((step + (lane % 4 + word) * kWidth + next) % dot.k);
                      expected.insert(operand == 0 ? std::vector{outer, along} : std::vector{along, outer});
                    }
            EXPECT_EQ(held(layout, lane, warp), expected);
          }
      }
}

TEST(Mma, LanesBeyondTheExtentHoldCopies) {
  EXPECT_EQ(mmaLanesBeyond(2, 16), 0u);
  EXPECT_EQ(mmaLanesBeyond(2, 4), 2u);
  EXPECT_EQ(mmaLanesBeyond(2, 2), 3u);
  EXPECT_EQ(mmaLanesBeyond(4, 1), 3u);
}

TEST(Mma, WarpsOverBatches) {
  const LinearLayout sums = mmaAccumulator({4, 1, 1}, {4, 16, 8});
  EXPECT_EQ(sums.inSize(kRegister), 4);
  for (int32_t warp = 0; warp < 4; ++warp)
    EXPECT_EQ(sums.apply({{kWarp, warp}}).front(), warp);
}

TEST(Mma, OperandsOfBlockedSumsHoldWholeRows) {
  const LinearLayout rows = blockedLayout({2, 2}, {4, 8}, {2, 1}, {1, 0}, {16, 1}).removeZeroBases(kRegister);
  const LinearLayout left = fmaOperand(rows, 0, 32);
  EXPECT_EQ(left.outSize(dimName(1)), 32);
  EXPECT_EQ(left.inSize(kRegister), 2 * 32);
  const LinearLayout sums = blockedLayout({2, 2}, {4, 8}, {2, 1}, {1, 0}, {16, 16});
  for (int32_t lane = 0; lane < 32; ++lane)
    for (int32_t index : {0, 1}) {
      // The first register of each row of the accumulator, and of the operand.
      const int32_t row = sums.apply({{kRegister, index * 2}, {kLane, lane}, {kWarp, 1}}).front();
      EXPECT_EQ(left.apply({{kRegister, index}, {kLane, lane}, {kWarp, 1}}).front(), row);
    }
}

// Warps of a group are stacked along M: warp w is the (w % rows)th of its column of warps.

TEST(Mma, AccumulatorOfWarpGroupsIsThatOfPtx) {
  for (unsigned columns : {8, 32, 256})
    for (const DotCase &dot : {DotCase{4, 1, 64, 256, 0}, DotCase{8, 1, 256, 256, 0}, DotCase{4, 2, 128, 512, 0},
                               DotCase{8, 2, 128, 512, 0}}) {
      const LinearLayout layout = warpGroupAccumulator(columns, {dot.warpRows, dot.warpColumns}, {dot.m, dot.n});
      ASSERT_TRUE(layout.isInvertible());
      const unsigned stepM = 16 * dot.warpRows, stepN = columns * dot.warpColumns;
      for (int32_t warp = 0; warp < int32_t(dot.warpRows * dot.warpColumns); ++warp)
        for (int32_t lane = 0; lane < 32; ++lane)
          for (int32_t index = 0; index < layout.inSize(kRegister); ++index) {
            // PTX ISA: d[i] of a thread, and instructions in sequence along the columns.
            const unsigned step = index / (columns / 2), i = index % (columns / 2), along = dot.n / stepN;
            const unsigned row = step / along * stepM + warp % dot.warpRows * 16 + lane / 4 + 8 * (i / 2 % 2);
            const unsigned column =
                step % along * stepN + warp / dot.warpRows * columns + i / 4 * 8 + lane % 4 * 2 + i % 2;
            ASSERT_EQ(layout.apply({{kRegister, index}, {kLane, lane}, {kWarp, warp}}),
                      (LinearLayout::Coordinates{int32_t(row), int32_t(column)}));
          }
    }
}

TEST(Mma, OperandOfWarpGroupsIsThatOfPtx) {
  for (unsigned kWidth : {1, 2, 4})
    for (const DotCase &dot : {DotCase{4, 1, 64, 0, 64}, DotCase{8, 1, 256, 0, 32}, DotCase{4, 2, 128, 0, 64}}) {
      const LinearLayout layout = warpGroupOperand(kWidth, {dot.warpRows, dot.warpColumns}, {dot.m, dot.k});
      for (int32_t warp = 0; warp < int32_t(dot.warpRows * dot.warpColumns); ++warp)
        for (int32_t lane = 0; lane < 32; ++lane) {
          std::set<std::vector<int32_t>> expected;
          for (int64_t first = warp % dot.warpRows * 16; first < dot.m; first += 16 * dot.warpRows)
            for (int64_t step = 0; step < dot.k; step += 8 * kWidth)
              for (unsigned half : {0, 8})
                for (unsigned word : {0, 4})
                  for (unsigned next = 0; next < kWidth; ++next)
                    expected.insert(
                        {int32_t(first + lane / 4 + half), int32_t(step + (lane % 4 + word) * kWidth + next)});
          EXPECT_EQ(held(layout, lane, warp), expected);
        }
    }
}
