// Tests layouts of AMD's matrix instructions against formulas, computed by division; also those of CDNA4.
// SPDX-License-Identifier: MIT
//
// test/unit/target_amd compares those that AMD's calculator knows with its maps.
#include "compiler/layout/AmdMatrix.h"

#include "gtest/gtest.h"

#include <map>
#include <tuple>

using namespace nereid::layout;

namespace {
/// Where an element is: lane, and its number among the lane's elements.
using Place = std::pair<unsigned, unsigned>;

/// One instruction of the tables.
struct Instruction {
  const char *name;
  AmdMatrix kind;
  unsigned extent;  ///< rows and columns
  unsigned depth;   ///< elements along k
  unsigned perLane; ///< elements along k of a lane
};
} // namespace

static const Instruction instructions[] = {
    {"v_mfma_f32_32x32x8_f16, _bf16", AmdMatrix::Mfma, 32, 8, 4},
    {"v_mfma_f32_16x16x16_f16, _bf16", AmdMatrix::Mfma, 16, 16, 4},
    {"v_mfma_f32_32x32x16_f16, _bf16 (gfx950)", AmdMatrix::Mfma, 32, 16, 8},
    {"v_mfma_f32_16x16x32_f16, _bf16 (gfx950)", AmdMatrix::Mfma, 16, 32, 8},
    {"v_mfma_i32_32x32x8_i8 (gfx90a)", AmdMatrix::Mfma, 32, 8, 4},
    {"v_mfma_i32_16x16x16_i8 (gfx90a)", AmdMatrix::Mfma, 16, 16, 4},
    {"v_mfma_i32_32x32x16_i8, f32 of fp8 and bf8", AmdMatrix::Mfma, 32, 16, 8},
    {"v_mfma_i32_16x16x32_i8, f32 of fp8 and bf8", AmdMatrix::Mfma, 16, 32, 8},
    {"v_mfma_i32_32x32x32_i8 (gfx950)", AmdMatrix::Mfma, 32, 32, 16},
    {"v_mfma_i32_16x16x64_i8 (gfx950)", AmdMatrix::Mfma, 16, 64, 16},
    {"v_mfma_f32_32x32x4_xf32", AmdMatrix::Mfma, 32, 4, 2},
    {"v_mfma_f32_16x16x8_xf32", AmdMatrix::Mfma, 16, 8, 2},
    {"v_mfma_f32_32x32x2_f32", AmdMatrix::Mfma, 32, 2, 1},
    {"v_mfma_f32_16x16x4_f32", AmdMatrix::Mfma, 16, 4, 1},
    {"v_mfma_f64_16x16x4_f64", AmdMatrix::MfmaF64, 16, 4, 1},
    {"v_wmma_*_16x16x16_* (gfx11)", AmdMatrix::WmmaReplicated, 16, 16, 16},
    {"v_wmma_*_16x16x16_* (gfx12)", AmdMatrix::Wmma, 16, 16, 8},
};

/// The row of the result that a lane's accumulator `index` belongs to; its column is lane % extent.
static unsigned rowOf(const Instruction &instruction, unsigned lane, unsigned index) {
  switch (instruction.kind) {
  case AmdMatrix::Mfma:
    return instruction.extent == 32 ? 8 * (index / 4) + 4 * (lane / 32) + index % 4 : 4 * (lane / 16) + index;
  case AmdMatrix::MfmaF64:
    return 4 * index + lane / 16;
  case AmdMatrix::WmmaReplicated:
    return 2 * index + lane / 16;
  case AmdMatrix::Wmma:
    return 8 * (lane / 16) + index;
  }
  return 0;
}

/// The k of a lane's operand element `index`; its row of the left (column of the right) operand is lane % extent.
static unsigned kOf(const Instruction &instruction, unsigned lane, unsigned index) {
  return instruction.kind == AmdMatrix::WmmaReplicated ? index
                                                       : instruction.perLane * (lane / instruction.extent) + index;
}

static AmdMatrixTile tileOf(const Instruction &instruction, bool isTransposed) {
  return {.kind = instruction.kind, .extent = instruction.extent, .isTransposed = isTransposed};
}

TEST(AmdMatrix, AccumulatorsAreThoseOfTheTables) {
  for (const Instruction &instruction : instructions)
    for (bool isTransposed : {false, true}) {
      SCOPED_TRACE(instruction.name);
      const AmdMatrixTile tile = tileOf(instruction, isTransposed);
      const unsigned extent = instruction.extent, perLane = extent * extent / tile.lanes();
      const LinearLayout layout = amdAccumulator(tile, {1, 1}, {extent, extent});
      ASSERT_EQ(layout.inSize(kRegister), int32_t(perLane));
      ASSERT_EQ(layout.inSize(kLane), int32_t(tile.lanes()));
      ASSERT_EQ(tile.run().size(), perLane);
      for (unsigned lane = 0; lane < tile.lanes(); ++lane)
        for (unsigned index = 0; index < perLane; ++index) {
          int32_t row = rowOf(instruction, lane, index), column = lane % extent;
          if (isTransposed)
            std::swap(row, column);
          const auto at = layout.apply({{kRegister, int32_t(index)}, {kLane, int32_t(lane)}, {kWarp, 0}});
          EXPECT_EQ(at[0], row) << lane << ", " << index;
          EXPECT_EQ(at[1], column) << lane << ", " << index;
        }
    }
}

TEST(AmdMatrix, OperandsAreThoseOfTheTables) {
  for (const Instruction &instruction : instructions) {
    SCOPED_TRACE(instruction.name);
    const AmdMatrixTile tile = tileOf(instruction, false);
    const int64_t extent = instruction.extent, depth = instruction.depth;
    const LinearLayout left = amdOperand(tile, 0, instruction.perLane, {1, 1}, {extent, depth});
    const LinearLayout right = amdOperand(tile, 1, instruction.perLane, {1, 1}, {depth, extent});
    ASSERT_EQ(left.inSize(kRegister), int32_t(instruction.perLane));
    ASSERT_EQ(right.inSize(kRegister), int32_t(instruction.perLane));
    for (unsigned lane = 0; lane < tile.lanes(); ++lane)
      for (unsigned index = 0; index < instruction.perLane; ++index) {
        const int32_t other = lane % extent, k = kOf(instruction, lane, index);
        const auto a = left.apply({{kRegister, int32_t(index)}, {kLane, int32_t(lane)}, {kWarp, 0}});
        const auto b = right.apply({{kRegister, int32_t(index)}, {kLane, int32_t(lane)}, {kWarp, 0}});
        EXPECT_EQ(std::tuple(a[0], a[1]), std::tuple(other, k)) << lane << ", " << index;
        EXPECT_EQ(std::tuple(b[0], b[1]), std::tuple(k, other)) << lane << ", " << index;
      }
  }
}

/// Tiles larger and smaller than all waves together: every element is held, and the waves' parts follow the last dim
/// first.
TEST(AmdMatrix, WavesCoverTheTile) {
  for (const Instruction &instruction : instructions)
    for (int64_t m : {8, 16, 64, 128})
      for (int64_t n : {16, 32, 128}) {
        SCOPED_TRACE(instruction.name);
        const AmdMatrixTile tile = tileOf(instruction, true);
        const LinearLayout layout = amdAccumulator(tile, {2, 2}, {m, n});
        EXPECT_TRUE(layout.isSurjective());
        if (n >= 2 * int64_t(instruction.extent)) {
          const auto second = layout.apply({{kRegister, 0}, {kLane, 0}, {kWarp, 1}});
          EXPECT_EQ(second[0], 0);
          EXPECT_EQ(second[1], int32_t(instruction.extent));
        }
        const LinearLayout left = amdOperand(tile, 0, 4, {2, 2}, {m, 64});
        EXPECT_TRUE(left.isSurjective());
      }
}

TEST(AmdMatrix, LanesBeyondASmallKHoldCopies) {
  const AmdMatrixTile tile = {.kind = AmdMatrix::Mfma, .extent = 16};
  EXPECT_EQ(amdLanesBeyond(tile, 4, 16), 0u);
  EXPECT_EQ(amdLanesBeyond(tile, 4, 8), 32u);
  EXPECT_EQ(amdLanesBeyond(tile, 4, 4), 48u);
  EXPECT_EQ(amdLanesBeyond({.kind = AmdMatrix::WmmaReplicated, .extent = 16}, 16, 4), 0u);
}

/// A wave's tiles are adjacent, and its registers go through all of a row of tiles before the next row.
TEST(AmdMatrix, AWaveHoldsABoxOfTiles) {
  const AmdMatrixTile tile = {.kind = AmdMatrix::Mfma, .extent = 16, .isTransposed = true};
  const std::vector<unsigned> warps = {2, 2}, tiles = {2, 2};
  const LinearLayout layout = amdAccumulator(tile, {warps, tiles}, {64, 128});
  EXPECT_EQ(layout.inSize(kRegister), 4 * 4 * 2);
  const auto at = [&](int32_t index, int32_t warp) {
    return layout.apply({{kRegister, index}, {kLane, 0}, {kWarp, warp}});
  };
  EXPECT_EQ(at(4, 0), (LinearLayout::Coordinates{0, 16}));  // the second tile of the box
  EXPECT_EQ(at(8, 0), (LinearLayout::Coordinates{0, 64}));  // the box repeats along the row
  EXPECT_EQ(at(16, 0), (LinearLayout::Coordinates{16, 0})); // the second row of tiles
  EXPECT_EQ(at(0, 1), (LinearLayout::Coordinates{0, 32}));
  EXPECT_EQ(at(0, 2), (LinearLayout::Coordinates{32, 0}));
  const LinearLayout left = amdOperand(tile, 0, 4, {warps, tiles}, {64, 32});
  const auto ofLeft = [&](int32_t index, int32_t warp) {
    return left.apply({{kRegister, index}, {kLane, 0}, {kWarp, warp}});
  };
  EXPECT_EQ(ofLeft(4, 0), (LinearLayout::Coordinates{0, 16})); // k first
  EXPECT_EQ(ofLeft(8, 0), (LinearLayout::Coordinates{16, 0}));
  EXPECT_EQ(ofLeft(0, 1), (LinearLayout::Coordinates{0, 0})); // waves of a row hold the same
  EXPECT_EQ(ofLeft(0, 2), (LinearLayout::Coordinates{32, 0}));
}

/// wmma: the author gives the steps of registers and waves, in tiles.
TEST(AmdMatrix, BasesOfRegistersAndWaves) {
  const AmdMatrixTile tile = {.kind = AmdMatrix::Wmma, .extent = 16, .isTransposed = true};
  AmdDistribution distribution;
  distribution.registers = {{1, 0}};
  distribution.warps = {{0, 1}, {2, 0}};
  const LinearLayout layout = amdAccumulator(tile, distribution, {64, 64});
  const auto at = [&](int32_t index, int32_t warp) {
    return layout.apply({{kRegister, index}, {kLane, 0}, {kWarp, warp}});
  };
  EXPECT_EQ(at(8, 0), (LinearLayout::Coordinates{16, 0}));
  EXPECT_EQ(at(16, 0), (LinearLayout::Coordinates{0, 32}));
  EXPECT_EQ(at(0, 1), (LinearLayout::Coordinates{0, 16}));
  EXPECT_EQ(at(0, 2), (LinearLayout::Coordinates{32, 0}));
  const LinearLayout right = amdOperand(tile, 1, 8, distribution, {16, 64});
  EXPECT_EQ(right.apply({{kRegister, 0}, {kLane, 0}, {kWarp, 1}}), (LinearLayout::Coordinates{0, 16}));
  EXPECT_EQ(right.apply({{kRegister, 0}, {kLane, 0}, {kWarp, 2}}), (LinearLayout::Coordinates{0, 0}));
}
