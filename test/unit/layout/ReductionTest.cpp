// Tests reduction plans on plain arrays: every element of the axis is combined once, and results are valid everywhere.
// SPDX-License-Identifier: MIT
#include "test/unit/layout/PlanExecutor.h"
#include "test/unit/layout/RandomLayouts.h"

#include "compiler/layout/Distributed.h"

#include "llvm/ADT/STLExtras.h"

#include "gtest/gtest.h"

#include <map>

using namespace nereid;
using namespace nereid::layout;
using namespace nereid::test;

static uint64_t add(uint64_t a, uint64_t b) { return a + b; }

/// Random values by index, and their sums by the index in the result.
struct Sums {
  std::vector<uint64_t> values, sums;

  Sums(const LinearLayout &src, unsigned axis, RandomLayouts &random) {
    const auto outs = src.outputs();
    const uint64_t extent = outs[axis].size;
    uint64_t below = 1;
    for (const LinearLayout::Output &out : llvm::ArrayRef(outs).drop_front(axis + 1))
      below *= out.size;
    const uint64_t total = uint64_t(1) << src.totalOutBits();
    sums.assign(total / extent, 0);
    for (uint64_t element = 0; element < total; ++element) {
      values.push_back(random.word());
      sums[element / (below * extent) * below + element % below] += values.back();
    }
  }
};

static void expectReduces(const LinearLayout &src, unsigned axis, RandomLayouts &random) {
  const Sums sums(src, axis, random);
  const unsigned operandBits[] = {32, 8, 64};
  const ReductionPlan plan = planReduction(src, axis, operandBits);
  ASSERT_EQ(plan.result, sliceLayout(src, axis));
  for (unsigned operand = 0; operand < 3; ++operand) {
    std::string broken;
    const Threads source = fill(src, [&](uint64_t element) { return sums.values[element]; });
    const Threads result = reduce(plan, operand, source, add, broken);
    ASSERT_EQ(broken, "");
    const Threads expected = fill(plan.result, [&](uint64_t element) { return sums.sums[element]; });
    for (unsigned warp = 0; warp < result.numWarps; ++warp)
      for (unsigned lane = 0; lane < result.numLanes; ++lane)
        for (unsigned reg = 0; reg < result.numRegisters; ++reg)
          ASSERT_EQ(result.at(warp, lane, reg), expected.at(warp, lane, reg))
              << "warp " << warp << ", lane " << lane << ", register " << reg;
    if (!plan.crossesWarps)
      return;
    const ExchangeBuffer &slots = plan.exchange.operands[operand];
    ASSERT_EQ(slots.byteOffset % 16, 0u);
    ASSERT_LE(slots.byteOffset + slots.plan.bytes, plan.bytes);
    ASSERT_EQ(slots.plan.repetitions, 1u);
    if (operand)
      ASSERT_GE(slots.byteOffset,
                plan.exchange.operands[operand - 1].byteOffset + plan.exchange.operands[operand - 1].plan.bytes);
  }
}

TEST(Reduction, AnyLayoutAndAxis) {
  RandomLayouts random(6);
  std::map<std::pair<bool, bool>, unsigned> seen;
  for (unsigned trial = 0; trial < 3000; ++trial) {
    const TileSpec spec = random.spec(trial % 8 ? 9 : 12);
    const LinearLayout src = random.any(spec);
    const unsigned axis = random.below(spec.shape.size());
    ASSERT_NO_FATAL_FAILURE(expectReduces(src, axis, random))
        << "trial " << trial << ", axis " << axis << " of " << src.toString();
    const ReductionPlan plan = planReduction(src, axis, {32});
    ++seen[{plan.crossesWarps, !plan.laneSteps.empty()}];
  }
  EXPECT_EQ(seen.size(), 4u);
  for (auto &[kind, count] : seen)
    EXPECT_GT(count, 100u);
}

TEST(Reduction, InsideAThreadNeedsNothingElse) {
  const LinearLayout src = blockedLayout({4, 1}, {1, 32}, {1, 4}, {0, 1}, {4, 128});
  const ReductionPlan plan = planReduction(src, 0, {32});
  EXPECT_TRUE(plan.laneSteps.empty());
  EXPECT_FALSE(plan.crossesWarps);
  EXPECT_EQ(plan.numBarriers(), 0u);
  EXPECT_EQ(plan.bytes, 0u);
  ASSERT_EQ(plan.groups.size(), 1u);
  EXPECT_EQ(plan.groups[0], (llvm::SmallVector<uint32_t, 8>{0, 1, 2, 3}));
}

TEST(Reduction, RowInOneWarpIsFiveButterflies) {
  const LinearLayout src = blockedLayout({1, 4}, {1, 32}, {4, 1}, {1, 0}, {8, 128});
  const ReductionPlan plan = planReduction(src, 1, {32});
  EXPECT_EQ(plan.groups.size(), 2u);
  EXPECT_EQ(plan.groups[1], (llvm::SmallVector<uint32_t, 8>{4, 5, 6, 7}));
  EXPECT_FALSE(plan.crossesWarps);
  uint32_t lanes = 0;
  for (const ReductionStep &step : plan.laneSteps) {
    EXPECT_EQ(step.partialXor, 0u);
    lanes |= step.laneXor;
  }
  EXPECT_EQ(plan.laneSteps.size(), 5u);
  EXPECT_EQ(lanes, 31u);
}

TEST(Reduction, CopiesAreNotCounted) {
  // 16 elements over 32 lanes and 4 warps: lanes 16.. and warps hold copies.
  const LinearLayout src = blockedLayout({1}, {32}, {4}, {0}, {16});
  const ReductionPlan plan = planReduction(src, 0, {32});
  EXPECT_EQ(plan.laneSteps.size(), 4u);
  EXPECT_FALSE(plan.crossesWarps);
}

TEST(Reduction, WarpsMeetInOneSmallBuffer) {
  const LinearLayout src = blockedLayout({4}, {32}, {8}, {0}, {1024});
  const ReductionPlan plan = planReduction(src, 0, {32, 64});
  ASSERT_TRUE(plan.crossesWarps);
  EXPECT_EQ(plan.numBarriers(), 1u);
  EXPECT_EQ(plan.exchange.fanIn, 8u);
  EXPECT_TRUE(plan.exchange.laneSteps.empty());
  ASSERT_EQ(plan.exchange.operands.size(), 2u);
  const SharedPlan &slots = plan.exchange.operands[0].plan;
  EXPECT_EQ(slots.bytes, 32u);
  EXPECT_EQ(slots.store.idleLanes, 31u);
  EXPECT_EQ(slots.store.idleWarps, 0u);
  EXPECT_EQ(slots.load.vectorElems, 4u);
  EXPECT_EQ(slots.load.accesses.size(), 2u);
  EXPECT_EQ(slots.load.conflicts, 0u);
  EXPECT_EQ(plan.exchange.operands[1].byteOffset, 32u);
  EXPECT_EQ(plan.bytes, 32u + 64u);
}

TEST(Reduction, ManyWarpsShareTheReadingAmongLanes) {
  const LinearLayout src = blockedLayout({4}, {32}, {32}, {0}, {4096});
  const ReductionPlan plan = planReduction(src, 0, {32});
  EXPECT_EQ(plan.exchange.fanIn, 8u);
  EXPECT_EQ(plan.exchange.laneSteps.size(), 2u);
  EXPECT_EQ(plan.bytes, 32u * 4);
}
