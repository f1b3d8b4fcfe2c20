// Follows programs through the choice of the tiles that they keep.
// SPDX-License-Identifier: MIT
extern "C" {
#include "compiler/target/cpu/library/KeptTiles.c"
}

#include "compiler/target/cpu/plan/LoopPlan.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

using nereid::cpu::KeptOperand;

static_assert(sizeof(Kept) == 8 * KeptOperand::stateWords);
static_assert(offsetof(Kept, sets) == 8 * 1 && offsetof(Kept, isOff) == 8 * 7); // as KeptOperandEmitter.cpp
static_assert(KEPT_MOST_SETS == KeptOperand::mostSets);

namespace {
/// One thread's programs; each iteration's tile depends on one number.
class KeptTiles : public testing::Test {
protected:
  void begin(uint64_t count, bool isOneProgram = false) {
    tiles = count;
    keys.assign(KeptOperand::keyCount(count) * words, ~0ull); // what an arena holds
    kept = Kept{};
    kept.isOff = isOneProgram;
  }

  /// Runs a program whose tiles depend on `number` and the iteration; returns how many it makes.
  unsigned run(uint64_t number, uint64_t iterations) {
    unsigned made = 0;
    used.clear();
    for (uint64_t iteration = 0; iteration < iterations; ++iteration) {
      const uint64_t key[words] = {1, 1000 * number + iteration};
      const uint64_t found = nereid_kept_tile(&kept, keys.data(), words, tiles, key, iteration);
      used.push_back(found / 2);
      EXPECT_LT(used.back(), tiles);
      made += found % 2 == 0;
    }
    return made;
  }

  static constexpr uint64_t words = 2;
  uint64_t tiles = 0;
  Kept kept{};
  std::vector<uint64_t> keys;
  std::vector<uint64_t> used; ///< the tiles of the last program
};
} // namespace

TEST_F(KeptTiles, AProgramMakesItsTilesAndTheNextFindsThem) {
  begin(256);
  EXPECT_EQ(run(1, 4), 4u);
  EXPECT_EQ(used, (std::vector<uint64_t>{0, 1, 2, 3}));
  EXPECT_EQ(run(1, 4), 0u);
  EXPECT_EQ(run(1, 3), 0u);
  EXPECT_EQ(run(1, 6), 2u) << "the set grows with the iterations";
}

TEST_F(KeptTiles, TheNextColumnTakesTheSameSet) {
  begin(256);
  for (uint64_t column = 0; column < 5; ++column) {
    EXPECT_EQ(run(column, 4), 4u);
    EXPECT_EQ(used.front(), 0u);
    EXPECT_EQ(run(column, 4), 0u);
  }
}

TEST_F(KeptTiles, ProgramsThatComeBackHaveSetsOfTheirOwn) {
  begin(256);
  unsigned made = 0;
  for (unsigned round = 0; round < 6; ++round) {
    made = 0;
    for (uint64_t row = 0; row < 4; ++row)
      made += run(row, 4);
  }
  EXPECT_EQ(made, 0u);
}

TEST_F(KeptTiles, NoMoreSetsThanThereIsRoomFor) {
  begin(8); // two sets of four
  for (unsigned round = 0; round < 6; ++round)
    for (uint64_t row = 0; row < 2; ++row)
      run(row, 4);
  EXPECT_EQ(kept.sets, 2u);
  EXPECT_EQ(run(0, 4) + run(1, 4), 0u);
  for (unsigned round = 0; round < 6; ++round)
    for (uint64_t row = 0; row < 8; ++row)
      run(row, 4);
  EXPECT_LE(kept.sets, 2u);
}

TEST_F(KeptTiles, NoMoreSetsThanKeysAreCompared) {
  begin(256);
  for (unsigned round = 0; round < 6; ++round)
    for (uint64_t row = 0; row < 40; ++row)
      run(row % 20, 1);
  EXPECT_LE(kept.sets, static_cast<uint64_t>(KEPT_MOST_SETS));
}

TEST_F(KeptTiles, ProgramsThatFindNothingUseTheLastTile) {
  begin(256);
  for (uint64_t row = 0; row < 10; ++row)
    run(row, 4);
  EXPECT_TRUE(kept.isOff);
  EXPECT_EQ(used, (std::vector<uint64_t>{255, 255, 255, 255}));
  EXPECT_EQ(run(9, 4), 4u);
}

TEST_F(KeptTiles, IterationsWithoutATileUseTheLast) {
  begin(4);
  EXPECT_EQ(run(1, 6), 6u);
  EXPECT_EQ(used, (std::vector<uint64_t>{0, 1, 2, 3, 3, 3}));
  EXPECT_EQ(run(1, 6), 3u);
}

TEST_F(KeptTiles, IterationsBeyondASetLeaveTheNextOne) {
  begin(9); // two sets of four
  for (unsigned round = 0; round < 6; ++round)
    for (uint64_t row = 0; row < 2; ++row)
      run(row, 4);
  ASSERT_EQ(kept.sets, 2u);
  for (uint64_t row = 0; row < 2; ++row) {
    EXPECT_EQ(run(row, 6), 2u);
    EXPECT_EQ(used[4], 8u);
    EXPECT_EQ(used[5], 8u);
  }
  EXPECT_EQ(run(0, 4) + run(1, 4), 0u);
}

TEST_F(KeptTiles, ALaunchOfOneProgramKeepsNothing) {
  begin(256, /*isOneProgram=*/true);
  EXPECT_EQ(run(1, 3), 3u);
  EXPECT_EQ(used, (std::vector<uint64_t>{255, 255, 255}));
}

TEST_F(KeptTiles, EveryWordOfAKeyCounts) {
  begin(4);
  EXPECT_EQ(run(1, 2), 2u);
  const uint64_t other[words] = {1, 1002};
  EXPECT_EQ(nereid_kept_tile(&kept, keys.data(), words, tiles, other, 1) % 2, 0u);
  EXPECT_EQ(nereid_kept_tile(&kept, keys.data(), words, tiles, other, 1) % 2, 1u);
}
