// Tests the algebra of layouts: products, inverses, composition, division and views.
// SPDX-License-Identifier: MIT
#include "test/unit/layout/RandomLayouts.h"

#include "compiler/layout/Distributed.h"
#include "compiler/layout/Layout.h"

#include "llvm/ADT/STLExtras.h"

#include "gtest/gtest.h"

using namespace nereid;
using namespace nereid::layout;
using nereid::test::RandomLayouts;
using nereid::test::TileSpec;

using Coordinates = LinearLayout::Coordinates;

TEST(Layout, ProductStacksTheRightOperandAbove) {
  const LinearLayout product = LinearLayout::identity1D(4, "register", "dim1") *
                               LinearLayout::identity1D(8, "lane", "dim1") *
                               LinearLayout::identity1D(2, "lane", "dim0");
  EXPECT_EQ(product.inBits("lane"), 4u);
  EXPECT_EQ(product.apply({{"register", 3}, {"lane", 5}}), (Coordinates{23, 0}));
  EXPECT_EQ(product.apply({{"lane", 8}}), (Coordinates{0, 1}));
  EXPECT_EQ(product.toString(),
            "register = [[1, 0], [2, 0]], lane = [[4, 0], [8, 0], [16, 0], [0, 1]] -> dim1: 32, dim0: 2");
  EXPECT_EQ(LinearLayout() * product, product);
  EXPECT_EQ(product * LinearLayout(), product);
}

TEST(Layout, OneDimensionalMaps) {
  EXPECT_EQ(LinearLayout::strided1D(4, 8, "in", "out").apply({{"in", 3}}), Coordinates{24});
  EXPECT_EQ(LinearLayout::strided1D(4, 8, "in", "out").outSize("out"), 32);
  EXPECT_EQ(LinearLayout::zeros1D(8, "in", "out", 4).apply({{"in", 7}}), Coordinates{0});
  EXPECT_EQ(LinearLayout::zeros1D(8, "in", "out", 4).freeVariableMask("in"), 7u);
  EXPECT_EQ(LinearLayout::identity1D(1, "in", "out").totalInBits(), 0u);
}

TEST(Layout, SizesUpTo2To30) {
  const LinearLayout layout =
      LinearLayout::identity1D(1 << 25, "register", "dim0") * LinearLayout::identity1D(32, "lane", "dim0");
  EXPECT_EQ(layout.outSize("dim0"), 1 << 30);
  EXPECT_EQ(layout.apply({{"register", (1 << 25) - 1}, {"lane", 31}}), Coordinates{(1 << 30) - 1});
  EXPECT_TRUE(layout.isInvertible());
  EXPECT_EQ(layout.invert().apply({{"dim0", (1 << 30) - 2}}), (Coordinates{(1 << 25) - 2, 31}));
}

TEST(Layout, WrongBasesAreExplained) {
  auto why = [](std::vector<LinearLayout::Input> inputs, std::vector<LinearLayout::Output> outputs) {
    std::string reason;
    EXPECT_FALSE(LinearLayout::tryFromBases(inputs, outputs, reason));
    return reason;
  };
  EXPECT_EQ(why({{"lane", {{4}}}}, {{"dim0", 4}}), "a basis of `lane` has coordinate 4; output `dim0` has size 4");
  EXPECT_EQ(why({{"lane", {{-1}}}}, {{"dim0", 4}}), "a basis of `lane` has coordinate -1; output `dim0` has size 4");
  EXPECT_EQ(why({{"lane", {{1, 0}}}}, {{"dim0", 4}}), "a basis of `lane` has 2 coordinates; there are 1 outputs");
  EXPECT_EQ(why({{"lane", {}}}, {{"dim0", 3}}), "output `dim0` has size 3; it must be a power of two");
  EXPECT_EQ(why({{"lane", {}}, {"lane", {}}}, {}), "input `lane` is given twice");
  EXPECT_EQ(why({}, {{"dim0", 1}, {"dim0", 1}}), "output `dim0` is given twice");
  EXPECT_EQ(why({}, {{"a", 1 << 30}, {"b", 1 << 30}, {"c", 16}}), "inputs or outputs have more than 63 bits");
  EXPECT_EQ(why({{"lane", std::vector<Coordinates>(31, {0})}}, {{"a", 1}}),
            "input `lane` has 31 bases; 30 are the most");
}

static LinearLayout swizzled() {
  return LinearLayout::fromBases({{"row", {{1, 1}, {2, 2}}}, {"column", {{0, 1}, {0, 2}}}}, {{"dim0", 4}, {"dim1", 4}});
}

TEST(Layout, BasesAddByXor) {
  EXPECT_EQ(swizzled().apply({{"row", 3}, {"column", 1}}), (Coordinates{3, 2}));
  EXPECT_EQ(swizzled().applyFlat({{"row", 3}, {"column", 1}}), 14u);
  EXPECT_EQ(swizzled().basis("row", 1), (Coordinates{2, 2}));
  EXPECT_EQ(swizzled().basis("row", 1, "dim1"), 2);
  EXPECT_EQ(swizzled().invert().apply({{"dim0", 3}, {"dim1", 2}}), (Coordinates{3, 1}));
}

TEST(Layout, InverseUndoes) {
  RandomLayouts random(10);
  for (unsigned trial = 0; trial < 300; ++trial) {
    TileSpec spec = random.spec(14);
    const LinearLayout layout = random.any(spec);
    if (layout.isInjective()) {
      ASSERT_TRUE(layout.isInvertible());
      ASSERT_EQ(layout.invert().invert(), layout);
    }
    // A right inverse of any surjective layout: composing both gives the identity.
    const LinearLayout there = layout.pseudoInvert().compose(layout);
    for (llvm::StringRef out : layout.outputNames())
      for (unsigned bit = 0; bit < layout.outBits(out); ++bit)
        for (llvm::StringRef other : layout.outputNames())
          ASSERT_EQ(there.basis(out, bit, other), out == other ? 1 << bit : 0) << layout.toString();
  }
}

TEST(Layout, ComposeIsApplicationInTurn) {
  RandomLayouts random(11);
  for (unsigned trial = 0; trial < 200; ++trial) {
    const TileSpec spec = random.spec(10);
    const LinearLayout inner = random.any(spec), back = random.any(spec).pseudoInvert();
    const LinearLayout both = inner.compose(back);
    const int32_t reg = random.below(inner.inSize("register")), lane = random.below(32);
    llvm::SmallVector<LinearLayout::Named, 4> middle;
    const Coordinates coordinates = inner.apply({{"register", reg}, {"lane", lane}});
    const auto names = inner.outputNames();
    for (auto [name, value] : llvm::zip(names, coordinates))
      middle.push_back({name, value});
    ASSERT_EQ(both.apply({{"register", reg}, {"lane", lane}}), back.apply(middle));
  }
}

TEST(Layout, InvertAndComposeFindsTheSameElement) {
  RandomLayouts random(12);
  for (unsigned trial = 0; trial < 500; ++trial) {
    const TileSpec spec = random.spec(12);
    const LinearLayout a = random.any(spec), b = random.any(spec);
    const LinearLayout map = a.invertAndCompose(b);
    ASSERT_EQ(map.inputNames(), a.inputNames());
    ASSERT_EQ(map.outputNames(), b.inputNames());
    ASSERT_EQ(map.compose(b), a) << a.toString() << " and " << b.toString();
  }
}

TEST(Layout, InvertAndComposeKeepsThreadsThatHoldCopies) {
  const LinearLayout everywhere = blockedLayout({1}, {32}, {4}, {0}, {8});
  const LinearLayout map = everywhere.invertAndCompose(everywhere);
  EXPECT_EQ(map.apply({{"lane", 31}, {"warp", 3}}), (Coordinates{0, 31, 3, 0}));
}

TEST(Layout, ListsFlattenWithTheLastDimFastest) {
  const LinearLayout layout = LinearLayout::identity1D(8, "a", "dim1") * LinearLayout::identity1D(4, "b", "dim0");
  const LinearLayout tile = layout.transposeOuts({"dim0", "dim1"});
  EXPECT_EQ(tile.applyFlat({{"a", 5}, {"b", 2}}), 21u);
  EXPECT_EQ(tile.flattenOuts("x").apply({{"a", 5}, {"b", 2}}), Coordinates{21});
  EXPECT_EQ(tile.reshapeOuts({{"p", 2}, {"q", 16}}).apply({{"a", 5}, {"b", 2}}), (Coordinates{1, 5}));
  EXPECT_EQ(tile.transposeIns({"b", "a"}).reshapeIns(LinearLayout::Named("i", 32)).applyFlat({{"i", 21}}), 21u);
  EXPECT_EQ(tile.transposeIns({"b", "a"}).reshapeIns({{"x", 2}, {"y", 16}}).applyFlat({{"x", 1}, {"y", 5}}), 21u);
}

TEST(Layout, SublayoutsSeeTheirDimsOnly) {
  const LinearLayout part = swizzled().sublayout({"row"}, {"dim1"});
  EXPECT_EQ(part.toString(), "row = [[1], [2]] -> dim1: 4");
  EXPECT_TRUE(swizzled().sublayoutIsZero({"column"}, {"dim0"}));
  EXPECT_FALSE(swizzled().sublayoutIsZero({"row"}, {"dim1"}));
  EXPECT_EQ(part.renameOut("dim1", "d").toString(), "row = [[1], [2]] -> d: 4");
}

TEST(Layout, FreeVariablesAreZeroOrDependentBits) {
  const LinearLayout layout =
      LinearLayout::fromBases({{"register", {{0}, {1}}}, {"lane", {{2}, {3}, {4}}}}, {{"dim0", 8}});
  EXPECT_EQ(layout.freeVariableMask("register"), 1u);
  EXPECT_EQ(layout.freeVariableMask("lane"), 2u);
  EXPECT_TRUE(layout.isSurjective());
  EXPECT_FALSE(layout.isInjective());
  EXPECT_EQ(layout.removeZeroBases("register").inSize("register"), 2);
}

TEST(Layout, EqualLayoutsHashAlike) {
  EXPECT_EQ(hash_value(swizzled()), hash_value(swizzled()));
  EXPECT_NE(swizzled(), swizzled().renameOut("dim1", "d"));
  EXPECT_NE(swizzled(), swizzled().transposeOuts({"dim1", "dim0"}));
}
