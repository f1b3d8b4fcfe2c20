// Tests blocked and slice layouts against coordinates computed by division.
// SPDX-License-Identifier: MIT
#include "test/unit/layout/RandomLayouts.h"

#include "compiler/layout/Distributed.h"

#include "llvm/Support/MathExtras.h"

#include "gtest/gtest.h"

using namespace nereid;
using namespace nereid::layout;
using Extents = llvm::SmallVector<unsigned, 4>;

/// Splits `value` into digits in the bases `extents`, with the dims of `order` from the fastest.
static Extents digits(unsigned value, const Extents &extents, const Extents &order) {
  Extents result(extents.size());
  for (unsigned dim : order) {
    result[dim] = value % extents[dim];
    value /= extents[dim];
  }
  return result;
}

struct Blocked {
  Extents sizePerThread, threadsPerWarp, warpsPerCta, order;

  LinearLayout layout(llvm::ArrayRef<int64_t> shape) const {
    return blockedLayout(sizePerThread, threadsPerWarp, warpsPerCta, order, shape);
  }

  LinearLayout::Coordinates coordinates(unsigned reg, unsigned lane, unsigned warp,
                                        llvm::ArrayRef<int64_t> shape) const {
    unsigned perThread = 1;
    Extents repeats;
    for (unsigned dim = 0; dim < shape.size(); ++dim) {
      perThread *= sizePerThread[dim];
      const unsigned tile = sizePerThread[dim] * threadsPerWarp[dim] * warpsPerCta[dim];
      repeats.push_back(std::max<int64_t>(1, shape[dim] / tile));
    }
    const Extents inThread = digits(reg % perThread, sizePerThread, order),
                  inWarp = digits(lane, threadsPerWarp, order), inCta = digits(warp, warpsPerCta, order),
                  repeat = digits(reg / perThread, repeats, order);
    LinearLayout::Coordinates coordinates;
    for (unsigned dim = 0; dim < shape.size(); ++dim) {
      const unsigned warpIndex = repeat[dim] * warpsPerCta[dim] + inCta[dim];
      const unsigned threadIndex = warpIndex * threadsPerWarp[dim] + inWarp[dim];
      coordinates.push_back((threadIndex * sizePerThread[dim] + inThread[dim]) % shape[dim]);
    }
    return coordinates;
  }
};

TEST(Distributed, BlockedAgreesWithDivision) {
  test::RandomLayouts random(20);
  for (unsigned trial = 0; trial < 400; ++trial) {
    const test::TileSpec spec = random.spec(13);
    const unsigned rank = spec.shape.size();
    Blocked blocked{Extents(rank, 1), Extents(rank, 1), Extents(rank, 1), {}};
    for (unsigned bit = random.below(5); bit; --bit)
      blocked.sizePerThread[random.below(rank)] *= 2;
    for (unsigned bit = spec.laneBits; bit; --bit)
      blocked.threadsPerWarp[random.below(rank)] *= 2;
    for (unsigned bit = spec.warpBits; bit; --bit)
      blocked.warpsPerCta[random.below(rank)] *= 2;
    for (unsigned dim = 0; dim < rank; ++dim)
      blocked.order.insert(blocked.order.begin() + random.below(dim + 1), dim);
    const LinearLayout layout = blocked.layout(spec.shape);
    ASSERT_EQ(layout.inBits("lane"), spec.laneBits);
    ASSERT_EQ(layout.inBits("warp"), spec.warpBits);
    ASSERT_TRUE(layout.isSurjective());
    for (unsigned probe = 0; probe < 64; ++probe) {
      const unsigned reg = random.below(layout.inSize("register")), lane = random.below(1u << spec.laneBits),
                     warp = random.below(1u << spec.warpBits);
      ASSERT_EQ(layout.apply({{"register", int(reg)}, {"lane", int(lane)}, {"warp", int(warp)}}),
                blocked.coordinates(reg, lane, warp, spec.shape))
          << layout.toString();
    }
  }
}

TEST(Distributed, OutputsAreInTheOrderOfDims) {
  const LinearLayout layout = blockedLayout({1, 1, 2}, {2, 4, 4}, {2, 1, 1}, {2, 0, 1}, {4, 4, 8});
  EXPECT_EQ(layout.outputNames(), (llvm::SmallVector<llvm::StringRef, 4>{"dim0", "dim1", "dim2"}));
  EXPECT_EQ(layout.inputNames(), (llvm::SmallVector<llvm::StringRef, 4>{"register", "lane", "warp", "block"}));
  EXPECT_EQ(layout.inBits("block"), 0u);
}

TEST(Distributed, SmallTilesAreHeldManyTimes) {
  const LinearLayout layout = blockedLayout({4}, {32}, {4}, {0}, {2});
  EXPECT_EQ(layout.toString(),
            "register = [[1], [0]], lane = [[0], [0], [0], [0], [0]], warp = [[0], [0]], block = [] -> dim0: 2");
  EXPECT_EQ(layout.freeVariableMask("lane"), 31u);
  EXPECT_EQ(layout.removeZeroBases("register").inSize("register"), 2);
}

TEST(Distributed, SliceForgetsADimAndItsRegisters) {
  const LinearLayout parent = blockedLayout({2, 4}, {8, 4}, {2, 2}, {1, 0}, {32, 64});
  const LinearLayout slice = sliceLayout(parent, 1);
  EXPECT_EQ(slice.toString(),
            "register = [[1]], lane = [[0], [0], [2], [4], [8]], warp = [[0], [16]], block = [] -> dim0: 32");
  const LinearLayout other = sliceLayout(parent, 0);
  EXPECT_EQ(other.outputNames().front(), "dim0");
  EXPECT_EQ(other.outSize("dim0"), 64);
}

TEST(Distributed, RankOneReducesToOneElement) {
  const LinearLayout scalar = sliceLayout(blockedLayout({2}, {32}, {4}, {0}, {256}), 0);
  EXPECT_EQ(scalar.numOutputs(), 0u);
  EXPECT_EQ(scalar.inSize("register"), 1);
  EXPECT_EQ(scalar.inSize("lane"), 32);
  EXPECT_TRUE(scalar.isSurjective());
}

TEST(Distributed, SixteenDims) {
  const llvm::SmallVector<unsigned, 16> ones(16, 1);
  llvm::SmallVector<unsigned, 16> threads(16, 1), order;
  for (unsigned dim = 0; dim < 16; ++dim)
    order.push_back(15 - dim);
  threads[15] = 32;
  const LinearLayout layout = blockedLayout(ones, threads, ones, order, llvm::SmallVector<int64_t, 16>(16, 2));
  EXPECT_EQ(layout.numOutputs(), 16u);
  EXPECT_EQ(layout.inSize("register"), 1 << 15);
  EXPECT_TRUE(layout.isSurjective());
}
