// Tests reductions of tiles by executing the lowered code.
// SPDX-License-Identifier: MIT
#include "test/unit/lowering/Differential.h"

#include "gtest/gtest.h"

namespace nereid::simt {
namespace {

/// Reduces a tile of ROWS x COLS along AXIS to REST elements with `OP`.
const std::string reductionText = R"(
tt.func public @kernel(%x: !tt.ptr<T> {tt.divisibility = 16 : i32}, %o: !tt.ptr<T> {tt.divisibility = 16 : i32}) {
)" + loadTile + R"(  %s = "tt.reduce"(%a) <{axis = AXIS : i32}> ({
  ^bb0(%l: T, %r: T):
    %c = OP %l, %r : T
    tt.reduce.return %c : T
  }) : (tensor<ROWSxCOLSxT>) -> tensor<RESTxT>
  %k = tt.make_range {end = REST : i32, start = 0 : i32} : tensor<RESTxi32>
  %os = tt.splat %o : !tt.ptr<T> -> tensor<RESTx!tt.ptr<T>>
  %op = tt.addptr %os, %k : tensor<RESTx!tt.ptr<T>>, tensor<RESTxi32>
  tt.store %op, %s : tensor<RESTx!tt.ptr<T>>
  %again = "tt.reduce"(%s) <{axis = 0 : i32}> ({
  ^bb0(%l: T, %r: T):
    %c = OP %l, %r : T
    tt.reduce.return %c : T
  }) : (tensor<RESTxT>) -> T
  %end = arith.constant REST : i32
  %last = tt.addptr %o, %end : !tt.ptr<T>, i32
  tt.store %last, %again : !tt.ptr<T>
  tt.return
})";

template <typename T>
void expectReduced(const std::string &type, const std::string &op, Buffer::Kind kind, double maxUlp) {
  for (auto [rows, cols] : {std::pair(16, 64), {64, 16}, {2, 256}, {256, 2}})
    for (int axis : {0, 1}) {
      const int rest = axis == 0 ? cols : rows;
      std::string text = replaced(replaced(reductionText, "ROWS", std::to_string(rows)), "COLS", std::to_string(cols));
      text = replaced(replaced(text, "REST", std::to_string(rest)), "AXIS", std::to_string(axis));
      expectSameAsCpu({.text = replaced(replaced(text, "OP", op), "T", type),
                       .parameters = {Buffer::of(someNumbers<T>(size_t(rows) * cols), kind),
                                      Buffer::zeros((rest + 1) * sizeof(T), kind)},
                       .maxUlp = maxUlp});
    }
}

TEST(LoweringReduce, IntegersOfEveryWidth) {
  expectReduced<int32_t>("i32", "arith.addi", Buffer::Kind::Bytes, 0);
  expectReduced<int64_t>("i64", "arith.xori", Buffer::Kind::Bytes, 0);
  expectReduced<int16_t>("i16", "arith.maxsi", Buffer::Kind::Bytes, 0);
  expectReduced<int8_t>("i8", "arith.minui", Buffer::Kind::Bytes, 0);
}

TEST(LoweringReduce, WholeWarpInstructionsOfEveryKind) {
  for (const char *op : {"arith.addi", "arith.minsi", "arith.maxsi", "arith.minui", "arith.maxui", "arith.andi",
                         "arith.ori", "arith.xori"})
    expectReduced<int32_t>("i32", op, Buffer::Kind::Bytes, 0);
}

TEST(LoweringReduce, FloatsWithinRounding) {
  expectReduced<float>("f32", "arith.maximumf", Buffer::Kind::Single, 0);
  expectReduced<float>("f32", "arith.minnumf", Buffer::Kind::Single, 0);
  // Sums with cancellation have large errors in ulps.
  expectReduced<float>("f32", "arith.addf", Buffer::Kind::Single, 4000);
  expectReduced<double>("f64", "arith.addf", Buffer::Kind::Double, 4000);
}

TEST(LoweringReduce, PairsOfOperandsKeepTogether) {
  const std::string text = R"(
tt.func public @kernel(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32>, %p: !tt.ptr<i32>) {
  %i = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
  %j = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %i1 = tt.expand_dims %i {axis = 1 : i32} : tensor<8xi32> -> tensor<8x1xi32>
  %j1 = tt.expand_dims %j {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
  %cols = arith.constant dense<128> : tensor<8x1xi32>
  %row = arith.muli %i1, %cols : tensor<8x1xi32>
  %rows = tt.broadcast %row : tensor<8x1xi32> -> tensor<8x128xi32>
  %columns = tt.broadcast %j1 : tensor<1x128xi32> -> tensor<8x128xi32>
  %offs = arith.addi %rows, %columns : tensor<8x128xi32>
  %xs = tt.splat %x : !tt.ptr<f32> -> tensor<8x128x!tt.ptr<f32>>
  %xp = tt.addptr %xs, %offs : tensor<8x128x!tt.ptr<f32>>, tensor<8x128xi32>
  %a = tt.load %xp : tensor<8x128x!tt.ptr<f32>>
  %best:2 = "tt.reduce"(%a, %columns) <{axis = 1 : i32}> ({
  ^bb0(%v1: f32, %k1: i32, %v2: f32, %k2: i32):
    %greater = arith.cmpf ogt, %v1, %v2 : f32
    %same = arith.cmpf oeq, %v1, %v2 : f32
    %before = arith.cmpi slt, %k1, %k2 : i32
    %tie = arith.andi %same, %before : i1
    %first = arith.ori %greater, %tie : i1
    %v, %k = scf.if %first -> (f32, i32) {
      scf.yield %v1, %k1 : f32, i32
    } else {
      scf.yield %v2, %k2 : f32, i32
    }
    tt.reduce.return %v, %k : f32, i32
  }) : (tensor<8x128xf32>, tensor<8x128xi32>) -> (tensor<8xf32>, tensor<8xi32>)
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<8x!tt.ptr<f32>>
  %op = tt.addptr %os, %i : tensor<8x!tt.ptr<f32>>, tensor<8xi32>
  tt.store %op, %best#0 : tensor<8x!tt.ptr<f32>>
  %ps = tt.splat %p : !tt.ptr<i32> -> tensor<8x!tt.ptr<i32>>
  %pp = tt.addptr %ps, %i : tensor<8x!tt.ptr<i32>>, tensor<8xi32>
  tt.store %pp, %best#1 : tensor<8x!tt.ptr<i32>>
  tt.return
})";
  std::vector<float> values = someNumbers<float>(1024);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = static_cast<float>(static_cast<int>(values[i])); // with ties
  expectSameAsCpu({.text = text, .parameters = {Buffer::of(values), Buffer::zeros(32), Buffer::zeros(32)}});
}

TEST(LoweringReduce, ReductionsInLoopsDoNotMixTheirIterations) {
  expectSameAsCpu({.text = R"(
tt.func public @kernel(%x: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %o: !tt.ptr<i32>, %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %r = tt.make_range {end = 512 : i32, start = 0 : i32} : tensor<512xi32>
  %width = arith.constant 512 : i32
  %xs = tt.splat %x : !tt.ptr<i32> -> tensor<512x!tt.ptr<i32>>
  scf.for %i = %c0 to %n step %c1 : i32 {
    %start = arith.muli %i, %width : i32
    %s = tt.splat %start : i32 -> tensor<512xi32>
    %offs = arith.addi %s, %r : tensor<512xi32>
    %p = tt.addptr %xs, %offs : tensor<512x!tt.ptr<i32>>, tensor<512xi32>
    %v = tt.load %p : tensor<512x!tt.ptr<i32>>
    %max = "tt.reduce"(%v) <{axis = 0 : i32}> ({
    ^bb0(%l: i32, %q: i32):
      %c = arith.maxsi %l, %q : i32
      tt.reduce.return %c : i32
    }) : (tensor<512xi32>) -> i32
    %ms = tt.splat %max : i32 -> tensor<512xi32>
    %d = arith.subi %ms, %v : tensor<512xi32>
    %sum = "tt.reduce"(%d) <{axis = 0 : i32}> ({
    ^bb0(%l: i32, %q: i32):
      %c = arith.addi %l, %q : i32
      tt.reduce.return %c : i32
    }) : (tensor<512xi32>) -> i32
    %op = tt.addptr %o, %i : !tt.ptr<i32>, i32
    tt.store %op, %sum : !tt.ptr<i32>
  }
  tt.return
})",
                   .parameters = {Buffer::of(someNumbers<int32_t>(512 * 6)), Buffer::zeros(24), 6}});
}

} // namespace
} // namespace nereid::simt
