// Tests shared-memory buffers: widths, sizes and bank conflicts of common conversions.
// SPDX-License-Identifier: MIT
#include "test/unit/layout/PlanExecutor.h"
#include "test/unit/layout/RandomLayouts.h"

#include "compiler/layout/Distributed.h"

#include "gtest/gtest.h"

using namespace nereid;
using namespace nereid::layout;
using namespace nereid::test;

static LinearLayout rowMajor(int64_t rows, int64_t columns, unsigned vector, unsigned warps) {
  const unsigned lanes = std::min<unsigned>(32, columns / vector);
  return blockedLayout({1, vector}, {32 / lanes, lanes}, {warps, 1}, {1, 0}, {rows, columns});
}

static LinearLayout columnMajor(int64_t rows, int64_t columns, unsigned vector, unsigned warps) {
  const unsigned lanes = std::min<unsigned>(32, rows / vector);
  return blockedLayout({vector, 1}, {lanes, 32 / lanes}, {1, warps}, {0, 1}, {rows, columns});
}

TEST(Swizzle, TransposesAreFreeOfConflicts) {
  for (unsigned elemBits : {32u, 16u, 8u})
    for (int64_t rows : {32, 64, 128})
      for (int64_t columns : {32, 64, 128})
        for (unsigned warps : {1u, 4u, 8u}) {
          const unsigned vector = std::min<unsigned>(128 / elemBits, 16);
          const LinearLayout src = rowMajor(rows, columns, vector, warps),
                             dst = columnMajor(rows, columns, vector, warps);
          const SharedPlan plan = swizzle(src, dst, elemBits);
          const Wavefronts stores = countWavefronts(plan.store, elemBits / 8, 32, warps);
          const Wavefronts loads = countWavefronts(plan.load, elemBits / 8, 32, warps);
          EXPECT_EQ(stores.conflicts, 0u) << elemBits << " bits, " << rows << " x " << columns << ", " << warps;
          EXPECT_EQ(loads.conflicts, 0u) << elemBits << " bits, " << rows << " x " << columns << ", " << warps;
          EXPECT_EQ(stores.total, plan.store.wavefronts);
          EXPECT_EQ(loads.total, plan.load.wavefronts);
        }
}

TEST(Swizzle, OneSideOfATransposeIsWide) {
  const SharedPlan plan = swizzle(rowMajor(64, 64, 4, 4), columnMajor(64, 64, 4, 4), 32);
  EXPECT_EQ(std::max(plan.store.vectorElems, plan.load.vectorElems), 4u);
  EXPECT_EQ(plan.store.accesses.size() + plan.load.accesses.size(), 32u / 4 + 32u);
  EXPECT_EQ(plan.bytes, 64u * 64 * 4);
  EXPECT_EQ(plan.repetitions, 1u);
}

TEST(Swizzle, SameVectorsStayWholeOnBothSides) {
  // Rows of 8 halves stay in their thread; threads change.
  const LinearLayout src = blockedLayout({1, 8}, {4, 8}, {4, 1}, {1, 0}, {64, 64});
  const LinearLayout dst = blockedLayout({1, 8}, {32, 1}, {1, 4}, {1, 0}, {64, 64});
  const SharedPlan plan = swizzle(src, dst, 16);
  EXPECT_EQ(plan.store.vectorElems, 8u);
  EXPECT_EQ(plan.load.vectorElems, 8u);
  EXPECT_EQ(plan.store.wavefronts, 4u);
  EXPECT_EQ(plan.load.wavefronts, 4u);
  EXPECT_EQ(plan.store.accesses.front().registers, (llvm::SmallVector<uint32_t, 4>{0, 1, 2, 3, 4, 5, 6, 7}));
}

TEST(Swizzle, ThreadOffsetsAndRegisterOffsetsAreTheLayouts) {
  RandomLayouts random(4);
  for (unsigned trial = 0; trial < 300; ++trial) {
    const TileSpec spec = random.spec(11);
    const LinearLayout src = random.any(spec), dst = random.any(spec);
    const SharedPlan plan = swizzle(src, dst, 16);
    for (const SharedAccessPattern *side : {&plan.store, &plan.load})
      for (const SharedAccess &access : side->accesses)
        for (unsigned element = 0; element < access.registers.size(); ++element) {
          const auto coordinates = side->offsets.apply({{kRegister, int32_t(access.registers[element])}});
          ASSERT_EQ(unsigned(coordinates[0]), access.repetition);
          ASSERT_EQ(unsigned(coordinates[1]), access.offset + element);
        }
  }
}

TEST(Swizzle, LargeTilesAreConvertedInRepetitions) {
  const LinearLayout src = rowMajor(128, 128, 4, 1), dst = columnMajor(128, 128, 4, 1);
  SwizzleOptions options;
  options.maxBytes = 16 * 1024;
  const SharedPlan plan = swizzle(src, dst, 32, options);
  EXPECT_EQ(plan.bytes, 16u * 1024);
  EXPECT_EQ(plan.repetitions, 4u);
  EXPECT_EQ(plan.store.conflicts, 0u);
  EXPECT_EQ(plan.load.conflicts, 0u);
  std::string broken;
  const Threads result = throughShared(plan, fill(src, [](uint64_t element) { return element; }), broken);
  EXPECT_EQ(broken, "");
  EXPECT_EQ(result.at(0, 17, 500), dst.applyFlat({{kRegister, 500}, {kLane, 17}}));
}

TEST(Swizzle, BuffersTooLargeForABlockDoWithoutWideAccesses) {
  const LinearLayout src = rowMajor(256, 256, 4, 4), dst = columnMajor(256, 256, 4, 4);
  const SharedPlan plan = swizzle(src, dst, 32);
  EXPECT_LE(plan.bytes, 64u * 1024);
  EXPECT_EQ(plan.bytes * plan.repetitions, 256u * 1024);
  std::string broken;
  const Threads result = throughShared(plan, fill(src, [](uint64_t element) { return element; }), broken);
  EXPECT_EQ(broken, "");
  EXPECT_EQ(result.at(3, 17, 500), dst.applyFlat({{kRegister, 500}, {kLane, 17}, {kWarp, 3}}));
}

TEST(Swizzle, CopiesAreStoredByOneThread) {
  // 64 elements, 4 warps of 32 lanes: half a warp's lanes and three warps hold copies.
  const LinearLayout src = blockedLayout({4}, {32}, {4}, {0}, {64});
  const LinearLayout dst = blockedLayout({1}, {32}, {4}, {0}, {64});
  const SharedPlan plan = swizzle(src, dst, 32);
  EXPECT_EQ(plan.store.idleLanes, 16u);
  EXPECT_EQ(plan.store.idleWarps, 3u);
  EXPECT_EQ(plan.load.idleLanes, 0u);
  EXPECT_EQ(plan.load.idleWarps, 0u);
}

TEST(Swizzle, NaiveTransposeWouldConflict) {
  // Tests the counter itself: a column of 32 words in rows of 32 lies in one bank.
  SharedAccessPattern side;
  side.laneBases = {32, 64, 128, 256, 512};
  side.accesses.push_back({0, 0, {0}});
  EXPECT_EQ(countWavefronts(side, 4, 32, 1).total, 32u);
  EXPECT_EQ(countWavefronts(side, 4, 32, 1).conflicts, 31u);
  EXPECT_EQ(countWavefronts(side, 2, 32, 1).total, 16u);
  // Copies of one address are free.
  side.laneBases.assign(5, 0);
  EXPECT_EQ(countWavefronts(side, 4, 32, 1).total, 1u);
}

TEST(Swizzle, PairsOfEqualWidthNeverConflict) {
  RandomLayouts random(5);
  SwizzleOptions options;
  options.mayWidenLoads = options.mayWidenStores = false;
  for (unsigned trial = 0; trial < 1500; ++trial) {
    TileSpec spec = random.spec(13);
    spec.laneBits = 5;
    const LinearLayout src = random.any(spec), dst = random.any(spec);
    const unsigned elemBits = 8u << trial % 5;
    const SharedPlan plan = swizzle(src, dst, elemBits, options);
    ASSERT_EQ(plan.store.conflicts, 0u) << "trial " << trial << src.toString() << dst.toString();
    ASSERT_EQ(plan.load.conflicts, 0u) << "trial " << trial << src.toString() << dst.toString();
  }
}
