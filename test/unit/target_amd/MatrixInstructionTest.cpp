// Tests the layouts of every matrix instruction of the table against the maps that AMD's calculator prints.
// SPDX-License-Identifier: MIT
#include "compiler/target/amd/dialect/MatrixInstruction.h"
#include "compiler/layout/AmdMatrix.h"
#include "test/unit/layout/AmdMatrixMaps.h"

#include "gtest/gtest.h"

#include <algorithm>
#include <map>

using namespace nereid;
using namespace nereid::amd;
using namespace nereid::layout;

namespace {
struct Generation {
  const char *arch, *name;
};
/// The calculator does not know CDNA4.
const Generation kGenerations[] = {
    {"gfx90a", "CDNA2"}, {"gfx942", "CDNA3"}, {"gfx1100", "RDNA3"}, {"gfx1200", "RDNA4"}};

const std::pair<MatrixKind, const char *> kKinds[] = {
    {MatrixKind::F16, "f16"}, {MatrixKind::BF16, "bf16"}, {MatrixKind::F32, "f32"}, {MatrixKind::XF32, "xf32"},
    {MatrixKind::F64, "f64"}, {MatrixKind::Int8, "i8"},   {MatrixKind::Fp8, "fp8"}, {MatrixKind::Fp8, "bf8"}};
} // namespace

static bool hasKind(const Arch &arch, MatrixKind kind) {
  const bool isMfma = arch.matrixUnit == MatrixUnit::Mfma;
  switch (kind) {
  case MatrixKind::F16:
  case MatrixKind::BF16:
  case MatrixKind::Int8:
    return true;
  case MatrixKind::F32:
    return isMfma;
  case MatrixKind::XF32:
    return arch.hasXf32;
  case MatrixKind::F64:
    return arch.hasF64Matrix;
  case MatrixKind::Fp8:
    return arch.fp8 != Fp8Format::None;
  case MatrixKind::Mx:
    return arch.hasScaledMatrix;
  }
  return false;
}

static AmdMatrixTile tileOf(const Arch &arch, const MatrixInstruction &instruction, bool isTransposed) {
  const AmdMatrix ofMfma = instruction.kind == MatrixKind::F64 ? AmdMatrix::MfmaF64 : AmdMatrix::Mfma;
  const AmdMatrix kind = arch.matrixUnit == MatrixUnit::Mfma             ? ofMfma
                         : arch.matrixUnit == MatrixUnit::WmmaReplicated ? AmdMatrix::WmmaReplicated
                                                                         : AmdMatrix::Wmma;
  return {.kind = kind, .extent = instruction.extent, .isTransposed = isTransposed};
}

static MatrixElement elementAt(const LinearLayout &layout, unsigned lane, unsigned index) {
  const auto at = layout.apply({{kRegister, int32_t(index)}, {kLane, int32_t(lane)}, {kWarp, 0}});
  return {unsigned(at[0]), unsigned(at[1])};
}

static void expectResult(const AmdMatrixTile &tile, const AmdMatrixMap &map) {
  const LinearLayout layout = amdAccumulator(tile, {1, 1}, {tile.extent, tile.extent});
  ASSERT_EQ(layout.inSize(kRegister), int32_t(map.numRegisters()));
  ASSERT_EQ(layout.inSize(kLane), int32_t(map.numLanes()));
  for (unsigned lane = 0; lane < map.numLanes(); ++lane)
    for (unsigned index = 0; index < map.numRegisters(); ++index) {
      MatrixElement element = map.elementAt(lane, index);
      if (tile.isTransposed)
        std::swap(element.first, element.second);
      EXPECT_EQ(elementAt(layout, lane, index), element) << "lane " << lane << ", register " << index;
    }
}

/// Adds to `order` which k the layout has for each k of the instruction. The layouts of both operands must agree: then
/// the instruction multiplies elements of one k, though it may number them differently.
static void expectOperand(const LinearLayout &layout, unsigned operand, const AmdMatrixMap &map,
                          std::map<unsigned, unsigned> &order) {
  ASSERT_EQ(layout.inSize(kRegister), int32_t(map.numRegisters()));
  ASSERT_EQ(layout.inSize(kLane), int32_t(map.numLanes()));
  for (unsigned lane = 0; lane < map.numLanes(); ++lane)
    for (unsigned index = 0; index < map.numRegisters(); ++index) {
      MatrixElement wanted = map.elementAt(lane, index), got = elementAt(layout, lane, index);
      if (operand == 1)
        std::swap(wanted.first, wanted.second), std::swap(got.first, got.second);
      EXPECT_EQ(got.first, wanted.first) << "lane " << lane << ", register " << index;
      EXPECT_EQ(order.emplace(wanted.second, got.second).first->second, got.second)
          << "lane " << lane << ", register " << index << " of operand " << operand;
    }
}

static void expectMaps(const Arch &arch, const MatrixInstruction &instruction, const AmdInstructionMaps &maps) {
  SCOPED_TRACE(maps.generation + " " + maps.instruction);
  for (bool isTransposed : {false, true})
    expectResult(tileOf(arch, instruction, isTransposed), maps.d);
  const AmdMatrixTile tile = tileOf(arch, instruction, false);
  const int64_t extent = instruction.extent, depth = instruction.depth;
  std::map<unsigned, unsigned> order;
  expectOperand(amdOperand(tile, 0, instruction.perLane, {1, 1}, {extent, depth}), 0, maps.a, order);
  expectOperand(amdOperand(tile, 1, instruction.perLane, {1, 1}, {depth, extent}), 1, maps.b, order);
  std::vector<bool> isReached(depth);
  for (auto [ofInstruction, ofLayout] : order)
    isReached[ofLayout] = true;
  EXPECT_EQ(std::count(isReached.begin(), isReached.end(), true), depth);
  // RDNA4's halves of a wave hold every second run of four 16-bit elements; the compiler gives each half a run of
  // eight.
  const bool isReordered = maps.generation == "RDNA4" && (maps.left == "f16" || maps.left == "bf16");
  for (auto [ofInstruction, ofLayout] : order)
    if (!isReordered)
      EXPECT_EQ(ofInstruction, ofLayout);
}

TEST(AmdMatrixInstruction, LayoutsAreThoseOfTheCalculator) {
  unsigned numCompared = 0;
  for (const Generation &generation : kGenerations) {
    std::string reason;
    const Arch arch = *findArch(generation.arch, reason);
    for (auto [kind, element] : kKinds)
      for (unsigned extent : {16u, 32u}) {
        const auto instruction = matrixInstruction(arch, kind, extent, /*depth=*/1024);
        if (!hasKind(arch, kind) || !instruction)
          continue;
        unsigned numFound = 0;
        for (const AmdInstructionMaps &maps : amdInstructionMaps()) {
          const bool isSame = maps.generation == generation.name && maps.left == element && maps.rows() == extent;
          if (!isSame || maps.depth() != instruction->depth)
            continue;
          expectMaps(arch, *instruction, maps);
          ++numFound;
        }
        EXPECT_EQ(numFound, kind == MatrixKind::Fp8 ? 2u : 1u)
            << generation.name << " " << element << " " << extent << " x " << instruction->depth;
        numCompared += numFound;
      }
  }
  EXPECT_EQ(numCompared, amdInstructionMaps().size());
}

/// Operands of `v_mfma_scale_f32_*_f8f6f4`: 32 elements along k a lane. Of fp8 the groups of lanes have 16 each, then
/// another 16; of e2m1 all 32 are next to each other, as 16 bytes. Scale g of a row is in the lane of the row in group
/// g.
TEST(AmdMatrixInstruction, ScaledOperands) {
  for (unsigned extent : {16u, 32u}) {
    const AmdMatrixTile tile = {.kind = AmdMatrix::Mfma, .extent = extent};
    const unsigned groups = 64 / extent;
    const int64_t rows = extent, depth = 32 * groups;
    const LinearLayout fp8[] = {amdOperand(tile, 0, kMxWidth, {1, 1}, {rows, depth}),
                                amdOperand(tile, 1, kMxWidth, {1, 1}, {depth, rows})};
    const LinearLayout e2m1 = amdOperand(tile, 0, kMxWidth, {1, 1}, {rows, depth / 2});
    const LinearLayout scales[] = {amdScale(tile, 0, {1, 1}, {rows, depth / 32}),
                                   amdScale(tile, 1, {1, 1}, {rows, depth / 32})};
    for (unsigned lane = 0; lane < 64; ++lane) {
      const unsigned row = lane % extent, group = lane / extent;
      for (unsigned index = 0; index < 32; ++index) {
        const unsigned k = 16 * group + index % 16 + 16 * groups * (index / 16);
        EXPECT_EQ(elementAt(fp8[0], lane, index), MatrixElement(row, k));
        EXPECT_EQ(elementAt(fp8[1], lane, index), MatrixElement(k, row));
      }
      for (unsigned index = 0; index < 16; ++index)
        EXPECT_EQ(elementAt(e2m1, lane, index), MatrixElement(row, 16 * group + index));
      for (const LinearLayout &scale : scales)
        EXPECT_EQ(elementAt(scale, lane, 0), MatrixElement(row, group));
    }
  }
}

/// Scales of larger tiles lie in the lanes and warps of the rows and columns that they belong to.
TEST(AmdMatrixInstruction, ScalesFollowTheirOperands) {
  const AmdMatrixTile tile = {.kind = AmdMatrix::Mfma, .extent = 16};
  const LinearLayout left = amdOperand(tile, 0, kMxWidth, {2, 4}, {64, 256});
  const LinearLayout right = amdOperand(tile, 1, kMxWidth, {2, 4}, {256, 128});
  const LinearLayout ofLeft = amdScale(tile, 0, {2, 4}, {64, 8}), ofRight = amdScale(tile, 1, {2, 4}, {128, 8});
  for (int32_t warp = 0; warp < 8; ++warp)
    for (int32_t lane = 0; lane < 64; ++lane) {
      auto at = [&](const LinearLayout &layout) {
        return layout.apply({{kRegister, 0}, {kLane, lane}, {kWarp, warp}});
      };
      EXPECT_EQ(at(ofLeft)[0], at(left)[0]);
      EXPECT_EQ(at(ofRight)[0], at(right)[1]);
    }
  EXPECT_EQ(ofLeft.inSize(kRegister), 4); // two tiles of rows, two steps along k
  EXPECT_EQ(ofRight.inSize(kRegister), 4);
}

/// An operand in vectors of another width: lanes of both operands hold the same k, register by register.
TEST(AmdMatrixInstruction, OperandsHoldTheSameK) {
  for (unsigned kWidth : {1u, 2u, 4u, 8u, 16u})
    for (AmdMatrix kind : {AmdMatrix::Mfma, AmdMatrix::MfmaF64, AmdMatrix::WmmaReplicated, AmdMatrix::Wmma}) {
      const AmdMatrixTile tile = {.kind = kind, .extent = 16};
      const LinearLayout left = amdOperand(tile, 0, kWidth, {1, 1}, {16, 64});
      const LinearLayout right = amdOperand(tile, 1, kWidth, {1, 1}, {64, 16});
      ASSERT_EQ(left.inSize(kRegister), right.inSize(kRegister));
      for (unsigned lane = 0; lane < tile.lanes(); ++lane)
        for (unsigned index = 0; index < unsigned(left.inSize(kRegister)); ++index)
          EXPECT_EQ(elementAt(left, lane, index).second, elementAt(right, lane, index).first);
    }
}
