// Tests conversion plans by executing them on plain arrays: each destination register gets its element.
// SPDX-License-Identifier: MIT
#include "test/unit/layout/PlanExecutor.h"
#include "test/unit/layout/RandomLayouts.h"

#include "compiler/layout/Distributed.h"
#include "compiler/layout/Mma.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include "gtest/gtest.h"

#include <map>

using namespace nereid;
using namespace nereid::layout;
using namespace nereid::test;

static uint64_t itself(uint64_t element) { return element; }

static void expectHolds(const Threads &threads, const LinearLayout &layout, llvm::StringRef what) {
  ASSERT_EQ(threads.numRegisters, unsigned(layout.inSize(kRegister))) << what.str();
  for (unsigned warp = 0; warp < threads.numWarps; ++warp)
    for (unsigned lane = 0; lane < threads.numLanes; ++lane)
      for (unsigned reg = 0; reg < threads.numRegisters; ++reg) {
        const uint64_t element =
            layout.applyFlat({{kRegister, int32_t(reg)}, {kLane, int32_t(lane)}, {kWarp, int32_t(warp)}});
        ASSERT_EQ(threads.at(warp, lane, reg), element) << what.str() << ": warp " << warp << ", lane " << lane
                                                        << ", register " << reg << " of " << layout.toString();
      }
}

static const unsigned kElemBits[] = {8, 16, 32, 64, 128};

TEST(Conversion, AnyPairOfLayoutsAgreesWithCoordinates) {
  RandomLayouts random(1);
  std::map<ConversionKind, unsigned> seen;
  for (unsigned trial = 0; trial < 3000; ++trial) {
    const TileSpec spec = random.spec(trial % 8 ? 9 : 12);
    const LinearLayout src = random.any(spec), dst = random.any(spec);
    SwizzleOptions options;
    options.hasLdmatrix = options.hasStmatrix = trial % 2;
    const ConversionPlan plan = planConversion(src, dst, kElemBits[trial % 5], options);
    ++seen[plan.kind];
    ASSERT_NO_FATAL_FAILURE(expectHolds(convert(plan, fill(src, itself), dst.inSize(kRegister)), dst, "plan"))
        << "trial " << trial << " from " << src.toString();
  }
  EXPECT_GT(seen[ConversionKind::Shared], 1000u);
  EXPECT_GT(seen[ConversionKind::Shuffle], 100u);
  EXPECT_GT(seen[ConversionKind::Registers], 20u);
}

TEST(Conversion, SharedMemoryServesEveryPair) {
  RandomLayouts random(2);
  for (unsigned trial = 0; trial < 2000; ++trial) {
    const TileSpec spec = random.spec(trial % 8 ? 9 : 12);
    const LinearLayout src = random.any(spec), dst = random.any(spec);
    const unsigned elemBits = kElemBits[trial % 5];
    SwizzleOptions options;
    options.maxBytes = trial % 3 ? 32 * 1024 : 256;
    const SharedPlan plan = swizzle(src, dst, elemBits, options);
    std::string broken;
    const Threads result = throughShared(plan, fill(src, itself), broken);
    ASSERT_EQ(broken, "") << "trial " << trial << " from " << src.toString() << " to " << dst.toString();
    ASSERT_NO_FATAL_FAILURE(expectHolds(result, dst, "shared")) << "trial " << trial << " from " << src.toString();
    const unsigned numLanes = 1u << spec.laneBits, numWarps = 1u << spec.warpBits;
    for (const SharedAccessPattern *side : {&plan.store, &plan.load}) {
      const Wavefronts counted = countWavefronts(*side, plan.elemBytes, numLanes, numWarps);
      ASSERT_EQ(counted.total, side->wavefronts) << "trial " << trial;
      ASSERT_EQ(counted.conflicts, side->conflicts) << "trial " << trial;
    }
  }
}

/// A layout whose warps hold the same elements as those of `layout`, with registers and lanes mixed by a random
/// invertible map.
static LinearLayout mixedInsideWarps(const LinearLayout &layout, RandomLayouts &random) {
  const unsigned registerBits = layout.inBits(kRegister), laneBits = layout.inBits(kLane);
  BitColumns columns(layout.columns(kRegister));
  columns.append(layout.columns(kLane).begin(), layout.columns(kLane).end());
  const unsigned steps = random.below(8);
  for (unsigned step = 0; step < steps; ++step) {
    const unsigned a = random.below(columns.size()), b = random.below(columns.size());
    if (random.below(2))
      std::swap(columns[a], columns[b]);
    else if (a != b)
      columns[a] ^= columns[b];
  }
  BitColumns warps(layout.columns(kWarp));
  for (BitVector &warp : warps)
    if (random.below(3) == 0)
      warp ^= columns[random.below(columns.size())];
  const LinearLayout flat = layout.flattenOuts("x");
  LinearLayout::Input inputs[] = {{"register", {}}, {"lane", {}}, {"warp", {}}, {"block", {}}};
  for (unsigned bit = 0; bit < registerBits + laneBits; ++bit)
    inputs[bit < registerBits ? 0 : 1].bases.push_back({int32_t(columns[bit])});
  for (BitVector warp : warps)
    inputs[2].bases.push_back({int32_t(warp)});
  LinearLayout mixed = LinearLayout::fromBases(inputs, flat.outputs());
  llvm::SmallVector<LinearLayout::Named, 4> shape;
  for (llvm::StringRef out : layout.outputNames())
    shape.push_back({out, layout.outSize(out)});
  return mixed.reshapeOuts(shape);
}

TEST(Conversion, ShufflesServeEveryMixOfRegistersAndLanes) {
  RandomLayouts random(3);
  unsigned mixes = 0, addedRounds = 0, packed = 0;
  for (unsigned trial = 0; trial < 3000; ++trial) {
    const TileSpec spec = random.spec(trial % 8 ? 9 : 12);
    const LinearLayout src = random.any(spec);
    const LinearLayout dst = random.below(2) ? mixedInsideWarps(src, random) : random.any(spec);
    const unsigned elemBits = kElemBits[trial % 5];
    const std::optional<ShufflePlan> plan = planShuffle(src, dst, elemBits);
    if (!plan)
      continue;
    ++mixes;
    addedRounds += plan->rounds.size() * plan->words.front().size() > plan->results.size();
    packed += plan->words.front().size() > 1;
    ASSERT_LE(plan->words.front().size() * elemBits, std::max(32u, elemBits));
    ASSERT_NO_FATAL_FAILURE(expectHolds(shuffle(*plan, fill(src, itself)), dst, "shuffle"))
        << "trial " << trial << " from " << src.toString();
  }
  EXPECT_GT(mixes, 1000u);
  EXPECT_GT(addedRounds, 5u);
  EXPECT_GT(packed, 50u);
}

TEST(Conversion, WarpsThatKeepTheirElementsShareNoBytes) {
  RandomLayouts random(8);
  unsigned within = 0, repeated = 0, across = 0;
  for (unsigned trial = 0; trial < 2000; ++trial) {
    const TileSpec spec = random.spec(trial % 8 ? 11 : 13);
    const LinearLayout src = random.any(spec);
    const LinearLayout dst = random.below(8) ? mixedInsideWarps(src, random) : random.any(spec);
    SwizzleOptions options;
    options.maxBytes = trial % 3 ? 32 * 1024 : 512;
    options.hasLdmatrix = options.hasStmatrix = trial % 2;
    const ConversionPlan plan = planConversion(src, dst, kElemBits[trial % 5], options);
    if (plan.kind != ConversionKind::Shared)
      continue;
    if (!plan.shared.isWithinWarps) {
      ++across;
      continue;
    }
    ++within;
    repeated += plan.shared.repetitions > 1;
    ASSERT_TRUE(staysInWarps(src, dst));
    ASSERT_EQ(plan.shared.barriers(), 0u);
    std::string broken;
    const Threads result = throughSharedByWarps(plan.shared, fill(src, itself), broken);
    ASSERT_EQ(broken, "") << "trial " << trial << " from " << src.toString() << " to " << dst.toString();
    ASSERT_NO_FATAL_FAILURE(expectHolds(result, dst, "by warps")) << "trial " << trial << " from " << src.toString();
  }
  EXPECT_GT(within, 50u);
  EXPECT_GT(repeated, 5u);
  EXPECT_GT(across, 50u);
}

TEST(Conversion, CopiesInOtherWarpsAreNotWithinWarps) {
  const LinearLayout rows = blockedLayout({1, 8}, {4, 8}, {4, 1}, {1, 0}, {64, 64});
  EXPECT_TRUE(staysInWarps(rows, rows));
  EXPECT_FALSE(staysInWarps(rows, blockedLayout({1, 8}, {4, 8}, {1, 4}, {1, 0}, {64, 64})));
  const LinearLayout copied = blockedLayout({1, 8}, {4, 8}, {4, 1}, {1, 0}, {8, 64});
  EXPECT_FALSE(staysInWarps(copied, copied));
}

TEST(Conversion, ALayoutBetweenTwoLeavesRoomForRepetitions) {
  RandomLayouts random(6);
  unsigned large = 0;
  for (unsigned trial = 0; trial < 60; ++trial) {
    TileSpec spec = random.spec(16);
    spec.laneBits = 5, spec.warpBits = 3 + trial % 3;
    const LinearLayout src = random.any(spec), dst = random.any(spec);
    const LinearLayout between = intermediateLayout(src, dst);
    ASSERT_TRUE(between.isSurjective());
    ASSERT_EQ(between.outputNames(), src.outputNames());
    ASSERT_EQ(between.inBits(kLane), src.inBits(kLane));
    ASSERT_EQ(between.inBits(kWarp), src.inBits(kWarp));
    // Of 10 thread bits, at most 5 per conversion do not come from the side's layout: 15 of 16 directions are used.
    for (const ConversionPlan &plan : {planConversion(src, between, 32), planConversion(between, dst, 32)})
      ASSERT_LE(plan.sharedBytes(), 128u * 1024)
          << "trial " << trial << " from " << src.toString() << " to " << dst.toString();
    large += planConversion(src, dst, 32).sharedBytes() > 64 * 1024;
  }
  EXPECT_GT(large, 0u);
}

TEST(Conversion, TwoStepsHoldTheSameElements) {
  RandomLayouts random(7);
  for (unsigned trial = 0; trial < 200; ++trial) {
    const TileSpec spec = random.spec(10);
    const LinearLayout src = random.any(spec), dst = random.any(spec), between = intermediateLayout(src, dst);
    const Threads middle = convert(planConversion(src, between, 32), fill(src, itself), between.inSize(kRegister));
    ASSERT_NO_FATAL_FAILURE(
        expectHolds(convert(planConversion(between, dst, 32), middle, dst.inSize(kRegister)), dst, "two steps"))
        << "trial " << trial;
  }
}

/// An accumulator of m x n by `warps` warps along rows, and rows of 16 bytes a thread, for a store to global memory.
static LinearLayout accumulator(int64_t m, int64_t n, int64_t warps) {
  return warpGroupAccumulator(n, {unsigned(warps), 1}, {m, n});
}
static LinearLayout storedRows(int64_t m, int64_t n, int64_t warps, int64_t elems) {
  const auto lanes = unsigned(std::min<int64_t>(32, n / elems));
  return blockedLayout({1, unsigned(elems)}, {32 / lanes, lanes}, {unsigned(warps), 1}, {1, 0}, {m, n});
}

static SharedPlan matrixConversion(const LinearLayout &src, const LinearLayout &dst, unsigned elemBits) {
  SwizzleOptions options;
  options.hasLdmatrix = options.hasStmatrix = true;
  const ConversionPlan plan = planConversion(src, dst, elemBits, options);
  EXPECT_EQ(plan.kind, ConversionKind::Shared);
  expectHolds(convert(plan, fill(src, itself), dst.inSize(kRegister)), dst, "matrices");
  for (const SharedAccessPattern *side : {&plan.shared.store, &plan.shared.load})
    EXPECT_EQ(countWavefronts(*side, plan.shared.elemBytes, 32, dst.inSize(kWarp)).conflicts, 0u);
  return plan.shared;
}

TEST(Conversion, AccumulatorsAreStoredAsMatricesAndReadAsRows) {
  for (int64_t warps : {4, 8})
    for (int64_t n : {64, 128, 256}) {
      const int64_t elems = 128 * n / (32 * warps);
      const SharedPlan halves = matrixConversion(accumulator(128, n, warps), storedRows(128, n, warps, 8), 16);
      EXPECT_EQ(int64_t(halves.store.accesses.size()), elems / 8) << n;
      EXPECT_EQ(int64_t(halves.load.accesses.size()), elems / 8) << n;
      const SharedPlan bytes = matrixConversion(accumulator(128, n, warps), storedRows(128, n, warps, 16), 8);
      EXPECT_EQ(int64_t(bytes.load.accesses.size()), elems / 16) << n;
      EXPECT_EQ(int64_t(bytes.store.accesses.size()), elems / 16) << n;
      const SharedPlan singles = matrixConversion(accumulator(128, n, warps), storedRows(128, n, warps, 4), 32);
      EXPECT_LE(int64_t(singles.store.accesses.size() + singles.load.accesses.size()), 3 * elems / 4) << n;
    }
}

TEST(Conversion, TransposedAccumulatorsAreStoredAsTransposedMatrices) {
  for (unsigned warps : {4, 8}) {
    const LinearLayout columns = blockedLayout({8, 1}, {16, 2}, {1, warps}, {0, 1}, {128, 128});
    const SharedPlan plan = matrixConversion(accumulator(128, 128, warps), columns, 16);
    EXPECT_EQ(plan.store.matrix, MatrixForm::Transposed);
    EXPECT_EQ(plan.store.accesses.size(), 64 / warps);
    EXPECT_EQ(plan.load.accesses.size(), 64 / warps);
  }
}

TEST(Conversion, OperandsOfMatrixInstructionsPassThroughMatrices) {
  const SharedPlan plan = matrixConversion(storedRows(128, 64, 4, 8), mmaOperand(0, 2, {4, 1}, {128, 64}), 16);
  EXPECT_TRUE(plan.store.matrix == MatrixForm::Rows || plan.load.matrix == MatrixForm::Rows);
  EXPECT_EQ(plan.store.accesses.size(), 8u);
  EXPECT_EQ(plan.load.accesses.size(), 8u);
}

// One warp, a row of 64: lanes hold pairs, or lanes hold every 32nd.
static LinearLayout pairs() { return blockedLayout({2}, {32}, {1}, {0}, {64}); }
static LinearLayout strided() { return blockedLayout({1}, {32}, {1}, {0}, {64}); }

TEST(Conversion, OneTranspositionIsHalfAShuffleARegister) {
  const LinearLayout src = blockedLayout({1, 4}, {8, 4}, {1, 1}, {1, 0}, {8, 16});
  // Register bit 0 and lane bit 0 are swapped.
  const LinearLayout dst = LinearLayout::fromBases(
      {{"register", {{0, 4}, {0, 2}}}, {"lane", {{0, 1}, {0, 8}, {1, 0}, {2, 0}, {4, 0}}}, {"warp", {}}, {"block", {}}},
      {{"dim0", 8}, {"dim1", 16}});
  const ConversionPlan plan = planConversion(src, dst, 32);
  ASSERT_EQ(plan.kind, ConversionKind::Shuffle);
  EXPECT_TRUE(plan.shuffle.isButterfly());
  EXPECT_EQ(plan.shuffle.rounds.size(), 4u);
  EXPECT_EQ(llvm::count_if(plan.shuffle.rounds, [](const ShuffleRound &round) { return round.moves; }), 2);
  EXPECT_EQ(plan.shuffle.before.size(), 1u);
  EXPECT_EQ(plan.shuffle.after.size(), 1u);
}

TEST(Conversion, LanePermutationNeedsNoSelects) {
  const LinearLayout src = blockedLayout({4, 1}, {4, 8}, {1, 4}, {0, 1}, {16, 32});
  const LinearLayout permuted = LinearLayout::fromBases({{"register", {{1, 0}, {2, 0}}},
                                                         {"lane", {{0, 4}, {8, 0}, {0, 1}, {0, 2}, {4, 0}}},
                                                         {"warp", {{0, 8}, {0, 16}}},
                                                         {"block", {}}},
                                                        {{"dim0", 16}, {"dim1", 32}});
  const std::optional<ShufflePlan> plan = planShuffle(src, permuted, 32);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->rounds.size(), 4u);
  EXPECT_TRUE(plan->before.empty());
  EXPECT_TRUE(plan->after.empty());
  EXPECT_FALSE(plan->isButterfly());
}

TEST(Conversion, BytesThatTravelTogetherShareAWord) {
  const LinearLayout src = blockedLayout({1, 16}, {8, 4}, {1, 1}, {1, 0}, {8, 64});
  const LinearLayout dst = blockedLayout({1, 4}, {2, 16}, {1, 1}, {1, 0}, {8, 64});
  const std::optional<ShufflePlan> plan = planShuffle(src, dst, 8);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->words.size(), 4u);
  EXPECT_EQ(plan->words.front(), (llvm::SmallVector<uint32_t, 4>{0, 1, 2, 3}));
  EXPECT_EQ(plan->rounds.size(), 4u);
}

TEST(Conversion, KindFollowsWhatMoves) {
  EXPECT_EQ(planConversion(pairs(), pairs(), 32).kind, ConversionKind::None);
  EXPECT_EQ(planConversion(pairs(), strided(), 32).kind, ConversionKind::Shuffle);
  EXPECT_EQ(planConversion(pairs(), strided(), 32).sharedBytes(), 0u);
  const LinearLayout rows = blockedLayout({1, 4}, {1, 32}, {4, 1}, {1, 0}, {64, 128});
  const LinearLayout columns = blockedLayout({4, 1}, {32, 1}, {1, 4}, {0, 1}, {64, 128});
  const ConversionPlan shared = planConversion(rows, columns, 32);
  EXPECT_EQ(shared.kind, ConversionKind::Shared);
  EXPECT_EQ(shared.sharedBytes(), 64u * 128 * 4);
  // The order of lanes and registers changes, warps keep their rows.
  const LinearLayout other = blockedLayout({2, 2}, {8, 4}, {4, 1}, {0, 1}, {64, 8});
  const LinearLayout first = blockedLayout({2, 2}, {8, 4}, {4, 1}, {1, 0}, {64, 8});
  EXPECT_EQ(planConversion(first, other, 32).kind, ConversionKind::Shuffle);
}

TEST(Conversion, RegistersAreRenamedWithoutMoving) {
  const LinearLayout src = blockedLayout({2, 2}, {32, 1}, {1, 1}, {1, 0}, {64, 2});
  const LinearLayout dst = blockedLayout({2, 2}, {32, 1}, {1, 1}, {0, 1}, {64, 2});
  const ConversionPlan plan = planConversion(src, dst, 32);
  ASSERT_EQ(plan.kind, ConversionKind::Registers);
  EXPECT_EQ(plan.sourceRegister, (llvm::SmallVector<uint32_t, 16>{0, 2, 1, 3}));
}

TEST(Conversion, CopiesInRegistersAreDroppedAndMadeAgain) {
  const LinearLayout once = blockedLayout({1}, {32}, {1}, {0}, {32});
  const LinearLayout fourTimes = blockedLayout({4}, {32}, {1}, {0}, {32});
  const ConversionPlan plan = planConversion(fourTimes, once, 32);
  EXPECT_EQ(plan.kind, ConversionKind::Shuffle);
  expectHolds(convert(plan, fill(fourTimes, itself), 1), once, "fewer");
  expectHolds(convert(planConversion(once, fourTimes, 32), fill(once, itself), 4), fourTimes, "more");
}
