// Tests how a scan exchanges the totals of warps: in rounds that fit into the buffer, with barriers between them.
// SPDX-License-Identifier: MIT
#include "compiler/layout/Scan.h"
#include "compiler/layout/Distributed.h"

#include "gtest/gtest.h"

using namespace nereid::layout;

TEST(ScanPlan, totals_that_do_not_fit_at_once_take_turns) {
  struct Tile {
    int64_t columns;
    unsigned rounds, barriers;
  };
  for (const Tile &tile : {Tile{64, 1, 1}, Tile{1024, 1, 1}, Tile{2048, 2, 3}, Tile{8192, 8, 15}}) {
    SCOPED_TRACE(tile.columns);
    // Each of four warps has a row. A column's totals are four numbers of 8 bytes.
    const LinearLayout rows = blockedLayout({1, 2}, {1, 32}, {4, 1}, {1, 0}, {4, tile.columns});
    const ScanPlan plan = planScan(rows, 0, {64}, 32 * 1024);
    ASSERT_EQ(plan.runs.size(), 1u);
    EXPECT_EQ(plan.runs[0].kind, ScanRun::Kind::Warps);
    EXPECT_EQ(plan.runs[0].exchange.numBlocks, 4u);
    EXPECT_EQ(plan.runs[0].exchange.rounds(), tile.rounds);
    EXPECT_EQ(plan.barriers(), tile.barriers) << "two for each round, but none before the first";
    EXPECT_EQ(plan.bytes * tile.rounds, tile.columns * 4 * 8);
    // Along the columns lanes and registers are combined, without shared memory.
    EXPECT_EQ(planScan(rows, 1, {64}).barriers(), 0u);
  }
}

TEST(ScanPlan, two_runs_of_warps_are_exchanged_one_after_the_other) {
  // From the lowest bit of the axis on: a warp, a register, a warp.
  const LinearLayout split = LinearLayout::fromBases(
      {{"register", {{2}}}, {"lane", {{0}, {0}, {0}, {0}, {0}}}, {"warp", {{1}, {4}}}}, {{"dim0", 8}});
  const ScanPlan plan = planScan(split, 0, {32});
  ASSERT_EQ(plan.runs.size(), 3u);
  EXPECT_EQ(plan.barriers(), 3u);
}
