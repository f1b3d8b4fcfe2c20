// Tests kernels whose tiles are split over the CTAs of a cluster by executing the lowered code.
// SPDX-License-Identifier: MIT
#include "test/unit/lowering/Differential.h"

#include "gtest/gtest.h"

namespace nereid::simt {
namespace {

const std::vector<std::string> kSplit = {"ttng.cluster_split"};

/// %x and %o are arrays of T; the text is the body of the kernel, and %r a range of COLS.
std::string kernelOf(const std::string &parameters, const std::string &body) {
  return "tt.func public @kernel(" + parameters + ") {\n" + body + "  tt.return\n}";
}

const std::string kTwoPointers =
    "%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}";

/// Loads elements %start + 0 .. 2047 of %x as %a, where they are below %n; %mask says which.
const std::string kLoadRow = R"(  %width = arith.constant 2048 : i32
  %pid = tt.get_program_id x : i32
  %start = arith.muli %pid, %width : i32
  %r = tt.make_range {end = 2048 : i32, start = 0 : i32} : tensor<2048xi32>
  %bound = tt.splat %n : i32 -> tensor<2048xi32>
  %mask = arith.cmpi slt, %r, %bound : tensor<2048xi32>
  %row = tt.addptr %x, %start : !tt.ptr<f32>, i32
  %rows = tt.splat %row : !tt.ptr<f32> -> tensor<2048x!tt.ptr<f32>>
  %p = tt.addptr %rows, %r : tensor<2048x!tt.ptr<f32>>, tensor<2048xi32>
  %none = arith.constant dense<-1.0e30> : tensor<2048xf32>
  %a = tt.load %p, %mask, %none : tensor<2048x!tt.ptr<f32>>
)";
const std::string kStoreRow = R"(  %out = tt.addptr %o, %start : !tt.ptr<f32>, i32
  %outs = tt.splat %out : !tt.ptr<f32> -> tensor<2048x!tt.ptr<f32>>
  %q = tt.addptr %outs, %r : tensor<2048x!tt.ptr<f32>>, tensor<2048xi32>
  tt.store %q, %result, %mask : tensor<2048x!tt.ptr<f32>>
)";

std::string reduceOf(const std::string &result, const std::string &operand, const std::string &op, int axis,
                     const std::string &from, const std::string &to) {
  return "  " + result + " = \"tt.reduce\"(" + operand + ") <{axis = " + std::to_string(axis) +
         " : i32}> ({\n  ^bb0(%l: f32, %k: f32):\n    %c = " + op +
         " %l, %k : f32\n    tt.reduce.return %c : f32\n  }) : (" + from + ") -> " + to + "\n";
}

TEST(LoweringCluster, RowsAreSplitAndTheirReductionsExchanged) {
  const std::string body = kLoadRow + reduceOf("%max", "%a", "arith.maxnumf", 0, "tensor<2048xf32>", "f32") +
                           R"(  %maxes = tt.splat %max : f32 -> tensor<2048xf32>
  %below = arith.subf %a, %maxes : tensor<2048xf32>
  %e = math.exp %below : tensor<2048xf32>
)" + reduceOf("%sum", "%e", "arith.addf", 0, "tensor<2048xf32>", "f32") +
                           R"(  %sums = tt.splat %sum : f32 -> tensor<2048xf32>
  %result = arith.divf %e, %sums : tensor<2048xf32>
)" + kStoreRow;
  for (unsigned numCtas : {2, 4, 8, 16})
    expectSameAsCpu({.text = kernelOf(kTwoPointers + ", %n: i32", body),
                     .parameters = {Buffer::of(someNumbers<float>(3 * 2048)),
                                    Buffer::zeros(3 * 2048 * 4, Buffer::Kind::Single), 1999},
                     .grid = {3, 1, 1},
                     .maxUlp = 64,
                     .warps = {1, 4},
                     .numCtas = numCtas,
                     .expected = kSplit,
                     .counted = {{"ttng.cluster_gather", 2}, {"tensor<2048xf32", 0}}});
}

TEST(LoweringCluster, ScalarSideEffectsHappenOnce) {
  // In place: the scalar is read by all CTAs before the first one replaces it.
  const std::string body = kLoadRow + reduceOf("%sum", "%a", "arith.addf", 0, "tensor<2048xf32>", "f32") +
                           R"(  %old = tt.load %o : !tt.ptr<f32>
  %both = arith.addf %old, %sum : f32
  tt.store %o, %both : !tt.ptr<f32>
  %c1 = arith.constant 1 : i32
  %yes = arith.constant true
  %before = tt.atomic_rmw add, acq_rel, gpu, %count, %c1, %yes : (!tt.ptr<i32>, i32, i1) -> i32
  %place = tt.addptr %count, %c1 : !tt.ptr<i32>, i32
  %seen = arith.addi %before, %c1 : i32
  tt.store %place, %seen : !tt.ptr<i32>
)";
  expectSameAsCpu({.text = kernelOf(kTwoPointers + ", %n: i32, %count: !tt.ptr<i32>", body),
                   .parameters = {Buffer::of(std::vector<float>(2048, 3.0f)),
                                  Buffer::of(std::vector<float>{5.0f}, Buffer::Kind::Single), 2048,
                                  Buffer::of(std::vector<int32_t>{7, 0})},
                   .warps = {2},
                   .numCtas = 4,
                   .expected = {"ttng.cluster_split", "ttng.cluster_barrier", "ttng.cluster_broadcast"}});
}

TEST(LoweringCluster, ArgmaxKeepsPairsTogether) {
  const std::string body = kLoadRow + R"(  %v, %k = "tt.reduce"(%a, %r) <{axis = 0 : i32}> ({
  ^bb0(%v1: f32, %k1: i32, %v2: f32, %k2: i32):
    %greater = arith.cmpf ogt, %v1, %v2 : f32
    %same = arith.cmpf oeq, %v1, %v2 : f32
    %before = arith.cmpi slt, %k1, %k2 : i32
    %tie = arith.andi %same, %before : i1
    %first = arith.ori %greater, %tie : i1
    %vb = arith.select %first, %v1, %v2 : f32
    %kb = arith.select %first, %k1, %k2 : i32
    tt.reduce.return %vb, %kb : f32, i32
  }) : (tensor<2048xf32>, tensor<2048xi32>) -> (f32, i32)
  %ov = tt.addptr %o, %pid : !tt.ptr<f32>, i32
  tt.store %ov, %v : !tt.ptr<f32>
  %oi = tt.addptr %index, %pid : !tt.ptr<i32>, i32
  tt.store %oi, %k : !tt.ptr<i32>
)";
  std::vector<float> values = someNumbers<float>(2 * 2048);
  for (float &value : values)
    value = static_cast<float>(static_cast<int>(value)); // with ties
  expectSameAsCpu({.text = kernelOf(kTwoPointers + ", %n: i32, %index: !tt.ptr<i32>", body),
                   .parameters = {Buffer::of(values), Buffer::zeros(8), 2000, Buffer::zeros(8)},
                   .grid = {2, 1, 1},
                   .warps = {1, 4},
                   .numCtas = 2,
                   .expected = kSplit,
                   .counted = {{"ttng.cluster_gather", 1}}});
}

/// A tile of 64 x 128 that is reduced along both dimensions; one of them is split.
TEST(LoweringCluster, TilesAreReducedAlongBothDimensions) {
  std::string body = loadTile + reduceOf("%s0", "%a", "arith.addf", 0, "tensor<ROWSxCOLSxf32>", "tensor<COLSxf32>") +
                     reduceOf("%s1", "%a", "arith.addf", 1, "tensor<ROWSxCOLSxf32>", "tensor<ROWSxf32>") +
                     R"(  %os = tt.splat %o : !tt.ptr<f32> -> tensor<COLSx!tt.ptr<f32>>
  %op = tt.addptr %os, %j : tensor<COLSx!tt.ptr<f32>>, tensor<COLSxi32>
  tt.store %op, %s0 : tensor<COLSx!tt.ptr<f32>>
  %end = arith.constant COLS : i32
  %rest = tt.addptr %o, %end : !tt.ptr<f32>, i32
  %rs = tt.splat %rest : !tt.ptr<f32> -> tensor<ROWSx!tt.ptr<f32>>
  %rp = tt.addptr %rs, %i : tensor<ROWSx!tt.ptr<f32>>, tensor<ROWSxi32>
  tt.store %rp, %s1 : tensor<ROWSx!tt.ptr<f32>>
)";
  for (auto [rows, cols] : {std::pair(64, 128), {16, 512}, {512, 16}}) {
    std::string text = replaced(replaced(body, "ROWS", std::to_string(rows)), "COLS", std::to_string(cols));
    std::vector<float> values = someNumbers<float>(size_t(rows) * cols);
    for (float &value : values)
      value = static_cast<float>(static_cast<int>(value)); // sums are exact
    expectSameAsCpu({.text = kernelOf(kTwoPointers, replaced(text, "<T>", "<f32>")),
                     .parameters = {Buffer::of(values), Buffer::zeros((rows + cols) * 4)},
                     .warps = {1, 4},
                     .numCtas = 4,
                     .expected = kSplit});
  }
}

/// The scan needs whole rows, so that the tile is split along the other dimension, or exchanged.
TEST(LoweringCluster, ScansKeepTheirDimensionWhole) {
  std::string body = loadTile + R"(  %r = "tt.scan"(%a) <{axis = 1 : i32, reverse = false}> ({
  ^bb0(%l: i32, %k: i32):
    %c = arith.addi %l, %k : i32
    tt.scan.return %c : i32
  }) : (tensor<ROWSxCOLSxi32>) -> tensor<ROWSxCOLSxi32>
  %os = tt.splat %o : !tt.ptr<i32> -> tensor<ROWSxCOLSx!tt.ptr<i32>>
  %op = tt.addptr %os, %offs : tensor<ROWSxCOLSx!tt.ptr<i32>>, tensor<ROWSxCOLSxi32>
  tt.store %op, %r : tensor<ROWSxCOLSx!tt.ptr<i32>>
)";
  body = replaced(replaced(replaced(body, "ROWS", "32"), "COLS", "128"), "<T>", "<i32>");
  expectSameAsCpu({.text = kernelOf("%x: !tt.ptr<i32>, %o: !tt.ptr<i32>", body),
                   .parameters = {Buffer::of(someNumbers<int32_t>(32 * 128)), Buffer::zeros(32 * 128 * 4)},
                   .warps = {1, 4},
                   .numCtas = 4,
                   .expected = kSplit,
                   .counted = {{"ttng.cluster_gather", 0}}});
}

} // namespace
} // namespace nereid::simt
