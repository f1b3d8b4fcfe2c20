// Tests tiles whose extents are not powers of two by executing the lowered code; the CPU does not pad such tiles.
// SPDX-License-Identifier: MIT
#include "test/unit/lowering/Differential.h"

#include "gtest/gtest.h"

namespace nereid::simt {
namespace {

/// Loads ROWS x COLS elements of type T as %a, row-major, and stores COUNT of type U, %r of type RESULT.
const std::string paddedText = R"(
tt.func public @kernel(%x: !tt.ptr<T> {tt.divisibility = 16 : i32}, %o: !tt.ptr<U> {tt.divisibility = 16 : i32}) {
  %n = tt.make_range {end = ALL : i32, start = 0 : i32} : tensor<ALLxi32>
  %xs = tt.splat %x : !tt.ptr<T> -> tensor<ALLx!tt.ptr<T>>
  %xp = tt.addptr %xs, %n : tensor<ALLx!tt.ptr<T>>, tensor<ALLxi32>
  %line = tt.load %xp : tensor<ALLx!tt.ptr<T>>
  %a = tt.reshape %line : tensor<ALLxT> -> tensor<ROWSxCOLSxT>
  BODY
)" + storeFlat + R"(  tt.return
})";

struct PaddedShape {
  int rows, cols;
};
constexpr PaddedShape paddedShapes[] = {{3, 5}, {1, 100}, {7, 33}, {100, 1}, {12, 17}, {8, 6}};

std::string filled(const std::string &text, PaddedShape shape) {
  return replaced(replaced(text, "ROWS", std::to_string(shape.rows)), "COLS", std::to_string(shape.cols));
}

void expectPadded(PaddedShape shape, const std::string &body, const std::string &result, int count,
                  const std::string &type = "i32", const std::string &resultType = "i32", double maxUlp = 0) {
  std::string text = replaced(replaced(paddedText, "BODY", body), "RESULT", result);
  const int all = shape.rows * shape.cols;
  text = replaced(replaced(filled(text, shape), "COUNT", std::to_string(count)), "ALL", std::to_string(all));
  const bool isFloat = type == "f32";
  Buffer input =
      isFloat ? Buffer::of(someNumbers<float>(all), Buffer::Kind::Single) : Buffer::of(someNumbers<int32_t>(all));
  const Buffer::Kind kind = resultType == "f32" ? Buffer::Kind::Single : Buffer::Kind::Bytes;
  expectSameAsCpu({.text = replaced(replaced(text, "T", type), "U", resultType),
                   .parameters = {input, Buffer::zeros(size_t(count) * 4, kind)},
                   .maxUlp = maxUlp,
                   .warps = {1, 4}});
}

TEST(Padding, ElementsKeepTheirIndices) {
  for (PaddedShape shape : paddedShapes)
    expectPadded(shape, "%r = arith.addi %a, %a : tensor<ROWSxCOLSxi32>", "tensor<ROWSxCOLSxi32>",
                 shape.rows * shape.cols);
}

TEST(Padding, ReshapesToOtherOddExtents) {
  const std::string body = R"(%b = tt.reshape %a : tensor<ROWSxCOLSxi32> -> tensor<DIMxi32>
  %t = tt.trans %b {order = array<i32: ORDER>} : tensor<DIMxi32> -> tensor<MIDxi32>
  %r = tt.reshape %t : tensor<MIDxi32> -> tensor<COUNTxi32>)";
  auto with = [&](const char *dims, const char *order, const char *transposed) {
    return replaced(replaced(replaced(body, "DIM", dims), "ORDER", order), "MID", transposed);
  };
  expectPadded({5, 6}, with("3x10", "1, 0", "10x3"), "tensor<COUNTxi32>", 30);
  expectPadded({6, 10}, with("3x4x5", "2, 0, 1", "5x3x4"), "tensor<COUNTxi32>", 60);
  expectPadded({3, 16}, with("6x8", "1, 0", "8x6"), "tensor<COUNTxi32>", 48); // no element moves before the transpose
  expectPadded({12, 1}, with("1x3x4", "0, 2, 1", "1x4x3"), "tensor<COUNTxi32>", 12);
}

const std::string reduction = R"(%r = "tt.reduce"(%a) <{axis = AXIS : i32}> ({
  ^bb0(%p: T, %q: T):
    %c = OP %p, %q : T
    tt.reduce.return %c : T
  }) : (tensor<ROWSxCOLSxT>) -> tensor<LEFTxT>)";

TEST(Padding, ReductionsWithNeutralElements) {
  for (const char *op : {"arith.addi", "arith.muli", "arith.andi", "arith.ori", "arith.xori", "arith.maxsi",
                         "arith.minsi", "arith.maxui", "arith.minui"})
    for (int axis : {0, 1}) {
      const PaddedShape shape = {7, 33};
      const int left = axis ? shape.rows : shape.cols;
      std::string body = replaced(replaced(reduction, "AXIS", std::to_string(axis)), "OP", op);
      expectPadded(shape, replaced(body, "LEFT", std::to_string(left)), "tensor<COUNTxi32>", left);
    }
  for (const char *op : {"arith.maxnumf", "arith.minnumf", "arith.maximumf", "arith.minimumf"}) {
    std::string body = replaced(replaced(reduction, "AXIS", "1"), "OP", op);
    expectPadded({5, 12}, replaced(body, "LEFT", "5"), "tensor<COUNTxf32>", 5, "f32", "f32");
  }
}

/// The sum of -0 is -0; the maximum of NaNs is NaN.
TEST(Padding, NeutralElementsLeaveSignsAndNaN) {
  for (auto [op, value] : {std::pair("arith.addf", "0x80000000"), {"arith.maxnumf", "0x7FC00000"}}) {
    std::string body = replaced(replaced(reduction, "AXIS", "1"), "OP", op);
    body = replaced(body, "(%a)", "(%same)");
    body = replaced("%same = arith.constant dense<VALUE> : tensor<ROWSxCOLSxf32>\n  ", "VALUE", value) + body;
    expectPadded({3, 5}, replaced(body, "LEFT", "3"), "tensor<COUNTxf32>", 3, "f32", "f32");
  }
}

/// The last of two elements, which is associative but has no neutral element, and argmax.
TEST(Padding, ReductionsWithoutNeutralElement) {
  const std::string indices = R"(%i = tt.make_range {end = COLS : i32, start = 0 : i32} : tensor<COLSxi32>
  %i1 = tt.expand_dims %i {axis = 0 : i32} : tensor<COLSxi32> -> tensor<1xCOLSxi32>
  %is = tt.broadcast %i1 : tensor<1xCOLSxi32> -> tensor<ROWSxCOLSxi32>
  %low = arith.constant dense<-2147483648> : tensor<ROWSxCOLSxi32>
  %v = arith.ori %a, %low : tensor<ROWSxCOLSxi32>
  %g:2 = "tt.reduce"(%v, %is) <{axis = 1 : i32}> ({
  ^bb0(%p: i32, %pi: i32, %q: i32, %qi: i32):
    %more = arith.cmpi sgt, %p, %q : i32
    %same = arith.cmpi eq, %p, %q : i32
    %before = arith.cmpi slt, %pi, %qi : i32
    %tie = arith.andi %same, %before : i1
    %first = arith.ori %more, %tie : i1
    %w = arith.select %first, %p, %q : i32
    %wi = arith.select %first, %pi, %qi : i32
    tt.reduce.return %w, %wi : i32, i32
  }) : (tensor<ROWSxCOLSxi32>, tensor<ROWSxCOLSxi32>) -> (tensor<ROWSxi32>, tensor<ROWSxi32>)
  %r = arith.addi %g#0, %g#1 : tensor<ROWSxi32>)";
  for (PaddedShape shape : paddedShapes)
    expectPadded(shape, indices, "tensor<ROWSxi32>", shape.rows);
}

TEST(Padding, ScansFromBothEnds) {
  const std::string sums = R"(%r = "tt.scan"(%a) <{axis = AXIS : i32, reverse = REVERSE}> ({
  ^bb0(%p: i32, %q: i32):
    %c = arith.addi %p, %q : i32
    tt.scan.return %c : i32
  }) : (tensor<ROWSxCOLSxi32>) -> tensor<ROWSxCOLSxi32>)";
  const std::string firsts = R"(%r = "tt.scan"(%a) <{axis = AXIS : i32, reverse = REVERSE}> ({
  ^bb0(%p: i32, %q: i32):
    tt.scan.return %p : i32
  }) : (tensor<ROWSxCOLSxi32>) -> tensor<ROWSxCOLSxi32>)";
  for (const std::string &body : {sums, firsts})
    for (const char *axis : {"0", "1"})
      for (const char *reverse : {"false", "true"})
        expectPadded({7, 33}, replaced(replaced(body, "AXIS", axis), "REVERSE", reverse), "tensor<ROWSxCOLSxi32>",
                     7 * 33);
}

TEST(Padding, DotsSumWhatExists) {
  const std::string body =
      R"(%t = tt.trans %a {order = array<i32: 1, 0>} : tensor<ROWSxCOLSxf32> -> tensor<COLSxROWSxf32>
  %zero = arith.constant dense<0.0> : tensor<ROWSxROWSxf32>
  %r = tt.dot %a, %t, %zero : tensor<ROWSxCOLSxf32> * tensor<COLSxROWSxf32> -> tensor<ROWSxROWSxf32>)";
  expectPadded({12, 17}, body, "tensor<ROWSxROWSxf32>", 144, "f32", "f32", 64);
  expectPadded({3, 40}, body, "tensor<ROWSxROWSxf32>", 9, "f32", "f32", 64);
}

TEST(Padding, CountsAndConcatenationsHoldNothingElse) {
  const std::string counted = R"(%line2 = tt.reshape %a : tensor<ROWSxCOLSxi32> -> tensor<ALLxi32>
  %three = arith.constant dense<3> : tensor<ALLxi32>
  %few = arith.andi %line2, %three : tensor<ALLxi32>
  %r = tt.histogram %few : tensor<ALLxi32> -> tensor<5xi32>)";
  expectPadded({7, 3}, counted, "tensor<5xi32>", 5);
  const std::string sides = R"(%line2 = tt.reshape %a : tensor<ROWSxCOLSxi32> -> tensor<ALLxi32>
  %twice = arith.addi %line2, %line2 : tensor<ALLxi32>
  %both = tt.cat %line2, %twice : tensor<ALLxi32> -> tensor<30xi32>
  %s = "tt.reduce"(%both) <{axis = 0 : i32}> ({
  ^bb0(%p: i32, %q: i32):
    %c = arith.addi %p, %q : i32
    tt.reduce.return %c : i32
  }) : (tensor<30xi32>) -> i32
  %r = tt.splat %s : i32 -> tensor<1xi32>)";
  expectPadded({5, 3}, sides, "tensor<1xi32>", 1);
}

TEST(Padding, LoopsCarryAndGathersPick) {
  const std::string body = R"(%c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c3 = arith.constant 3 : i32
  %j = tt.make_range {end = COLS : i32, start = 0 : i32} : tensor<COLSxi32>
  %last = arith.constant dense<LAST> : tensor<COLSxi32>
  %back = arith.subi %last, %j : tensor<COLSxi32>
  %b1 = tt.expand_dims %back {axis = 0 : i32} : tensor<COLSxi32> -> tensor<1xCOLSxi32>
  %bs = tt.broadcast %b1 : tensor<1xCOLSxi32> -> tensor<ROWSxCOLSxi32>
  %r = scf.for %i = %c0 to %c3 step %c1 iter_args(%v = %a) -> (tensor<ROWSxCOLSxi32>) : i32 {
    %g = tt.gather %v[%bs] {axis = 1 : i32} : (tensor<ROWSxCOLSxi32>, tensor<ROWSxCOLSxi32>) -> tensor<ROWSxCOLSxi32>
    %s = arith.addi %g, %a : tensor<ROWSxCOLSxi32>
    scf.yield %s : tensor<ROWSxCOLSxi32>
  })";
  for (PaddedShape shape : paddedShapes)
    expectPadded(shape, replaced(body, "LAST", std::to_string(shape.cols - 1)), "tensor<ROWSxCOLSxi32>",
                 shape.rows * shape.cols);
}

TEST(Padding, SwapsReachOnlyWhatExists) {
  const std::string text = R"(
tt.func public @kernel(%x: !tt.ptr<i32>, %o: !tt.ptr<i32>) {
  %n = tt.make_range {end = 13 : i32, start = 0 : i32} : tensor<13xi32>
  %xs = tt.splat %x : !tt.ptr<i32> -> tensor<13x!tt.ptr<i32>>
  %xp = tt.addptr %xs, %n : tensor<13x!tt.ptr<i32>>, tensor<13xi32>
  %old = tt.atomic_cas acq_rel, gpu, %xp, %n, %n : (tensor<13x!tt.ptr<i32>>, tensor<13xi32>, tensor<13xi32>) -> tensor<13xi32>
  %one = arith.constant dense<1> : tensor<13xi32>
  %more = tt.atomic_rmw add, acq_rel, gpu, %xp, %one : (tensor<13x!tt.ptr<i32>>, tensor<13xi32>) -> tensor<13xi32>
  %sum = arith.addi %old, %more : tensor<13xi32>
  %os = tt.splat %o : !tt.ptr<i32> -> tensor<13x!tt.ptr<i32>>
  %op = tt.addptr %os, %n : tensor<13x!tt.ptr<i32>>, tensor<13xi32>
  tt.store %op, %sum : tensor<13x!tt.ptr<i32>>
  tt.return
})";
  expectSameAsCpu(
      {.text = text, .parameters = {Buffer::of(someNumbers<int32_t>(13)), Buffer::zeros(13 * 4)}, .warps = {1, 4}});
}

} // namespace
} // namespace nereid::simt
