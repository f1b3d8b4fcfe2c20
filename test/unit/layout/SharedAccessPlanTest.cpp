// Tests buffers with a layout of their own: ldmatrix gives the registers of the layout, rows are spread over all banks.
// SPDX-License-Identifier: MIT
#include "compiler/layout/SharedAccessPlan.h"

#include "compiler/layout/Distributed.h"
#include "compiler/layout/Mma.h"

#include "gtest/gtest.h"

using namespace nereid;
using namespace nereid::layout;

/// Rows (or columns, if `isColumnMajor`) in sequence; chunks of `vec` elements of row r are permuted by XOR with r.
static LinearLayout swizzled(int64_t rows, int64_t columns, int64_t vec, int64_t perPhase, int64_t phases,
                             bool isColumnMajor = false) {
  const int64_t inner = isColumnMajor ? rows : columns, outer = isColumnMajor ? columns : rows;
  std::vector<LinearLayout::Coordinates> bases;
  auto add = [&](int32_t atOuter, int32_t atInner) {
    bases.push_back(isColumnMajor ? LinearLayout::Coordinates{atInner, atOuter}
                                  : LinearLayout::Coordinates{atOuter, atInner});
  };
  for (int64_t step = 1; step < inner; step *= 2)
    add(0, step);
  for (int64_t step = 1; step < outer; step *= 2)
    add(step, step / perPhase % phases * vec & (inner - 1));
  return LinearLayout::fromBases({{kOffset.str(), bases}, {kBlock.str(), {}}},
                                 {{"dim0", int32_t(rows)}, {"dim1", int32_t(columns)}});
}

/// The coordinate that lane `lane` gets as element `element` of matrix `matrix`, as the PTX ISA specifies.
static uint64_t loadedElement(const SharedAccessPattern &reach, const LinearLayout &buffer, const SharedAccess &access,
                              unsigned elemBytes, unsigned warp, unsigned lane, unsigned matrix, unsigned element) {
  const unsigned row = reach.matrix == MatrixForm::Transposed ? 2 * (lane % 4) + element : lane / 4;
  const unsigned column = reach.matrix == MatrixForm::Transposed ? lane / 4 : (lane % 4) * (4 / elemBytes) + element;
  const unsigned giver = 8 * matrix + row;
  uint32_t offset = access.offset;
  for (unsigned bit = 0; bit < 5; ++bit)
    if (giver >> bit & 1)
      offset ^= reach.laneBases[bit];
  for (unsigned bit = 0; bit < reach.warpBases.size(); ++bit)
    if (warp >> bit & 1)
      offset ^= reach.warpBases[bit];
  EXPECT_EQ(offset * elemBytes % 16, 0u) << "a row's address is not aligned";
  return buffer.applyFlat({{kOffset, int32_t(offset + column)}});
}

static void expectRight(const SharedAccessPattern &reach, const LinearLayout &registers, const LinearLayout &buffer,
                        unsigned elemBytes) {
  const unsigned perWord = 4 / elemBytes;
  std::vector<bool> isLoaded(registers.inSize(kRegister), false);
  for (const SharedAccess &access : reach.accesses) {
    ASSERT_EQ(access.registers.size() % perWord, 0u);
    for (unsigned index = 0; index < access.registers.size(); ++index) {
      isLoaded[access.registers[index]] = true;
      for (unsigned warp = 0; warp < 1u << reach.warpBases.size(); ++warp)
        for (unsigned lane = 0; lane < 32; ++lane)
          ASSERT_EQ(
              loadedElement(reach, buffer, access, elemBytes, warp, lane, index / perWord, index % perWord),
              registers.applyFlat(
                  {{kRegister, int32_t(access.registers[index])}, {kLane, int32_t(lane)}, {kWarp, int32_t(warp)}}));
    }
  }
  EXPECT_FALSE(llvm::is_contained(isLoaded, false)) << "a register gets nothing";
}

TEST(LdStMatrixPlan, OperandsOfHalvesComeFromRowsAndFromColumns) {
  for (unsigned operand : {0, 1})
    for (int64_t m : {16, 64, 128})
      for (int64_t k : {16, 32, 64, 128})
        for (bool alongK : {true, false}) {
          const int64_t rows = operand == 0 ? m : k, columns = operand == 0 ? k : m;
          const bool isColumnMajor = (operand == 0) != alongK;
          const int64_t inner = alongK ? k : m, phases = std::min<int64_t>(inner, 64) / 8;
          const LinearLayout registers = mmaOperand(operand, 2, {2, 2}, {rows, columns}),
                             buffer =
                                 swizzled(rows, columns, 8, std::max<int64_t>(1, 64 / inner), phases, isColumnMajor);
          const auto reach = planLdStMatrix(registers, buffer, 2);
          ASSERT_TRUE(reach) << operand << " " << rows << " x " << columns;
          EXPECT_EQ(reach->matrix == MatrixForm::Transposed, !alongK);
          expectRight(*reach, registers, buffer, 2);
          EXPECT_EQ(reach->conflicts, 0u);
          const Wavefronts counted = countWavefronts(*reach, 2, 4 * reach->accesses.front().registers.size(), 4);
          EXPECT_EQ(counted.conflicts, 0u) << operand << " " << rows << " x " << columns;
        }
}

TEST(LdStMatrixPlan, OtherWidthsComeAlongK) {
  for (auto [elemBytes, kWidth] : {std::pair(1u, 4u), std::pair(4u, 1u)}) {
    const LinearLayout registers = mmaOperand(0, kWidth, {4, 1}, {128, 64});
    const LinearLayout rows = swizzled(128, 64, 16 / elemBytes, elemBytes == 1 ? 2 : 1, elemBytes == 1 ? 4 : 8);
    const auto reach = planLdStMatrix(registers, rows, elemBytes);
    ASSERT_TRUE(reach) << elemBytes;
    expectRight(*reach, registers, rows, elemBytes);
    EXPECT_EQ(reach->conflicts, 0u) << elemBytes;
    EXPECT_FALSE(planLdStMatrix(registers, swizzled(128, 64, 16 / elemBytes, 1, 4, true), elemBytes)) << elemBytes;
  }
}

TEST(LdStMatrixPlan, RowsThatAreCutAreNoMatrices) {
  // The swizzle permutes vectors of 8 bytes, so that no 16 bytes stay together.
  EXPECT_FALSE(planLdStMatrix(mmaOperand(0, 2, {4, 1}, {64, 64}), swizzled(64, 64, 4, 1, 8), 2));
  // Each row is in a lane of its own.
  EXPECT_FALSE(planLdStMatrix(blockedLayout({1, 8}, {32, 1}, {4, 1}, {1, 0}, {64, 64}), swizzled(64, 64, 8, 1, 8), 2));
}

TEST(SharedAccessPlan, RegistersThatAreSideBySideInTheBufferGoTogether) {
  // Four elements of a column are the first registers of a thread; the buffer is row-major.
  const LinearLayout registers = blockedLayout({4, 4}, {8, 4}, {1, 1}, {0, 1}, {32, 16});
  const LinearLayout buffer = swizzled(32, 16, 1, 1, 1);
  EXPECT_EQ(planSharedAccesses(registers, buffer, 4, 4, RegisterOrder::Kept).vectorElems, 1u);
  const SharedAccessPattern side = planSharedAccesses(registers, buffer, 4, 4);
  ASSERT_EQ(side.vectorElems, 4u);
  ASSERT_EQ(side.accesses.size(), 4u);
  for (const SharedAccess &access : side.accesses)
    for (unsigned index = 0; index < 4; ++index)
      EXPECT_EQ(side.offsets.apply({{kRegister, int32_t(access.registers[index])}}).front(),
                int32_t(access.offset + index));
}

TEST(SharedAccessPlan, FillingBuffersWithRowsIsWideAndFreeOfConflicts) {
  for (int64_t columns : {16, 32, 64, 128, 256}) {
    const unsigned lanes = std::min<int64_t>(32, columns / 8);
    const LinearLayout registers = blockedLayout({1, 8}, {32 / lanes, lanes}, {4, 1}, {1, 0}, {64, columns});
    const int64_t phases = std::min<int64_t>(columns, 64) / 8;
    const LinearLayout buffer = swizzled(64, columns, 8, std::max<int64_t>(1, 64 / columns), phases);
    const SharedAccessPattern side = planSharedAccesses(registers, buffer, 2, 8);
    EXPECT_EQ(side.vectorElems, 8u) << columns;
    EXPECT_EQ(side.conflicts, 0u) << columns;
    EXPECT_EQ(countWavefronts(side, 2, 32, 4).conflicts, 0u) << columns;
  }
}
