// Tests scans and ops that move elements of tiles by executing the lowered code.
// SPDX-License-Identifier: MIT
#include "test/unit/lowering/Differential.h"

#include "gtest/gtest.h"

namespace nereid::simt {
namespace {

/// A kernel that loads ROWS x COLS elements of type T as %a, row-major, and stores OROWS x OCOLS of type U, %r.
const std::string rearrangedText = R"(
tt.func public @kernel(%x: !tt.ptr<T> {tt.divisibility = 16 : i32}, %o: !tt.ptr<U> {tt.divisibility = 16 : i32}) {
)" + loadTile + R"(  BODY
)" + storeFlat + R"(  tt.return
})";

struct RearrangedShape {
  int rows, cols;
};

/// `result` and `body` may refer to ROWS, COLS, T and U.
void expectRearranged(RearrangedShape shape, const std::string &body, const std::string &result, int count,
                      const std::string &type = "i32", unsigned bytes = 4, const std::string &resultType = "",
                      double maxUlp = 0) {
  std::string text = replaced(replaced(rearrangedText, "BODY", body), "RESULT", result);
  text = replaced(replaced(text, "ROWS", std::to_string(shape.rows)), "COLS", std::to_string(shape.cols));
  text = replaced(replaced(text, "COUNT", std::to_string(count)), "U", resultType.empty() ? type : resultType);
  const size_t elements = size_t(shape.rows) * shape.cols;
  const Buffer::Kind kind = maxUlp ? Buffer::Kind::Single : Buffer::Kind::Bytes;
  Buffer input = kind == Buffer::Kind::Single ? Buffer::of(someNumbers<float>(elements), kind)
                                              : Buffer::of(someNumbers<int8_t>(elements * bytes));
  const unsigned outBytes = resultType == "i32" ? 4 : bytes;
  expectSameAsCpu({.text = replaced(text, "T", type),
                   .parameters = {input, Buffer::zeros(size_t(count) * outBytes, kind)},
                   .maxUlp = maxUlp});
}

constexpr RearrangedShape rearrangedShapes[] = {{1, 1}, {1, 256}, {256, 1}, {16, 32}, {4, 512}, {512, 2}};

//--- scans ---------------------------------------------------------------------------------

/// Composes affine maps a * x + b, which is not commutative.
const std::string affineScan = R"(%three = arith.constant dense<3> : tensor<ROWSxCOLSxi32>
  %odd = arith.ori %a, %three : tensor<ROWSxCOLSxi32>
  %s:2 = "tt.scan"(%odd, %a) <{axis = AXIS : i32, reverse = REVERSE}> ({
  ^bb0(%a1: i32, %b1: i32, %a2: i32, %b2: i32):
    %a12 = arith.muli %a1, %a2 : i32
    %m = arith.muli %b1, %a2 : i32
    %b12 = arith.addi %m, %b2 : i32
    tt.scan.return %a12, %b12 : i32, i32
  }) : (tensor<ROWSxCOLSxi32>, tensor<ROWSxCOLSxi32>) -> (tensor<ROWSxCOLSxi32>, tensor<ROWSxCOLSxi32>)
  %r = arith.xori %s#0, %s#1 : tensor<ROWSxCOLSxi32>)";

TEST(LoweringScan, OrderOfOperandsInEveryShape) {
  for (RearrangedShape shape : rearrangedShapes)
    for (const char *axis : {"0", "1"})
      for (const char *reverse : {"false", "true"})
        expectRearranged(shape, replaced(replaced(affineScan, "AXIS", axis), "REVERSE", reverse),
                         "tensor<ROWSxCOLSxi32>", shape.rows * shape.cols);
}

TEST(LoweringScan, ElementsOfEveryWidth) {
  const std::string body = R"(%r = "tt.scan"(%a) <{axis = 1 : i32, reverse = false}> ({
  ^bb0(%p: T, %q: T):
    %s = arith.addi %p, %q : T
    tt.scan.return %s : T
  }) : (tensor<ROWSxCOLSxT>) -> tensor<ROWSxCOLSxT>)";
  expectRearranged({8, 128}, body, "tensor<ROWSxCOLSxT>", 1024, "i8", 1);
  expectRearranged({8, 128}, body, "tensor<ROWSxCOLSxT>", 1024, "i16", 2);
  expectRearranged({8, 128}, body, "tensor<ROWSxCOLSxT>", 1024, "i64", 8);
}

/// The sums down to each row of 4 x 2048 numbers; each of four warps has a row, and its totals need two rounds.
const char *const kRowsOfWarps = R"(
#rows = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [1, 32], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
tt.func public @kernel(%x: !tt.ptr<i64>, %o: !tt.ptr<i64>) {
  %i = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32, #ttg.slice<{dim = 1, parent = #rows}>>
  %j = tt.make_range {end = 2048 : i32, start = 0 : i32} : tensor<2048xi32, #ttg.slice<{dim = 0, parent = #rows}>>
  %i1 = tt.expand_dims %i {axis = 1 : i32} : tensor<4xi32, #ttg.slice<{dim = 1, parent = #rows}>> -> tensor<4x1xi32, #rows>
  %j1 = tt.expand_dims %j {axis = 0 : i32} : tensor<2048xi32, #ttg.slice<{dim = 0, parent = #rows}>> -> tensor<1x2048xi32, #rows>
  %pitch = arith.constant dense<2048> : tensor<4x1xi32, #rows>
  %row = arith.muli %i1, %pitch : tensor<4x1xi32, #rows>
  %rows = tt.broadcast %row : tensor<4x1xi32, #rows> -> tensor<4x2048xi32, #rows>
  %columns = tt.broadcast %j1 : tensor<1x2048xi32, #rows> -> tensor<4x2048xi32, #rows>
  %at = arith.addi %rows, %columns : tensor<4x2048xi32, #rows>
  %xs = tt.splat %x : !tt.ptr<i64> -> tensor<4x2048x!tt.ptr<i64>, #rows>
  %xp = tt.addptr %xs, %at : tensor<4x2048x!tt.ptr<i64>, #rows>, tensor<4x2048xi32, #rows>
  %a = tt.load %xp : tensor<4x2048x!tt.ptr<i64>, #rows>
  %r = "tt.scan"(%a) <{axis = 0 : i32, reverse = false}> ({
  ^bb0(%p: i64, %q: i64):
    %s = arith.addi %p, %q : i64
    tt.scan.return %s : i64
  }) : (tensor<4x2048xi64, #rows>) -> tensor<4x2048xi64, #rows>
  %os = tt.splat %o : !tt.ptr<i64> -> tensor<4x2048x!tt.ptr<i64>, #rows>
  %op = tt.addptr %os, %at : tensor<4x2048x!tt.ptr<i64>, #rows>, tensor<4x2048xi32, #rows>
  tt.store %op, %r : tensor<4x2048x!tt.ptr<i64>, #rows>
  tt.return
}
})";

TEST(LoweringScan, TotalsOfWarpsInSeveralRounds) {
  constexpr size_t kRows = 4, kColumns = 2048;
  std::string error;
  const auto kernel = SimtKernel::compile(kRowsOfWarps, 4, &error);
  ASSERT_TRUE(kernel) << error;
  EXPECT_EQ(kernel->sharedBytes, 32u * 1024);
  EXPECT_EQ(kernel->barriers(), 3u) << "one in each round, one between them";
  const std::vector<int64_t> input = someNumbers<int64_t>(kRows * kColumns);
  std::vector<int64_t> sums = input;
  for (size_t index = kColumns; index < sums.size(); ++index)
    sums[index] += sums[index - kColumns];
  for (Order order : {Order::Ascending, Order::AtOnce, Order::Mixed, Order::OtherMixed}) {
    std::vector<int64_t> output(kRows * kColumns, -1);
    Arguments arguments;
    arguments.add(input.data()).add(output.data());
    std::string failure;
    ASSERT_TRUE(kernel->run({1, 1, 1}, arguments, order, &failure)) << failure;
    EXPECT_EQ(output, sums) << "order " << int(order);
  }
}

//--- indices -------------------------------------------------------------------------------

TEST(LoweringRearrange, ExchangesAtEveryDistance) {
  const std::string body = R"(%rowIndices = tt.broadcast %i1 : tensor<ROWSx1xi32> -> tensor<ROWSxCOLSxi32>
  %d = arith.constant dense<DISTANCE> : tensor<ROWSxCOLSxi32>
  %p = arith.xori %INDICES, %d : tensor<ROWSxCOLSxi32>
  %r = tt.gather %a[%p] {axis = AXIS : i32} : (tensor<ROWSxCOLSxT>, tensor<ROWSxCOLSxi32>) -> tensor<ROWSxCOLSxT>)";
  for (const char *distance : {"0", "2", "8", "64", "128", "37"})
    expectRearranged({4, 256},
                     replaced(replaced(replaced(body, "DISTANCE", distance), "INDICES", "columns"), "AXIS", "1"),
                     "tensor<ROWSxCOLSxT>", 1024);
  for (const char *distance : {"4", "31"})
    expectRearranged({32, 32},
                     replaced(replaced(replaced(body, "DISTANCE", distance), "INDICES", "rowIndices"), "AXIS", "0"),
                     "tensor<ROWSxCOLSxT>", 1024, "i8", 1);
}

TEST(LoweringRearrange, GathersAtAnyIndex) {
  // Indices from -128 to 127 are out of range for most of these; they are taken modulo the extent.
  const std::string body =
      R"(%g = tt.gather %a[%a] {axis = AXIS : i32} : (tensor<ROWSxCOLSxT>, tensor<ROWSxCOLSxT>) -> tensor<ROWSxCOLSxT>
  %r = arith.subi %g, %a : tensor<ROWSxCOLSxT>)";
  for (RearrangedShape shape : rearrangedShapes)
    for (const char *axis : {"0", "1"})
      expectRearranged(shape, replaced(body, "AXIS", axis), "tensor<ROWSxCOLSxT>", shape.rows * shape.cols, "i8", 1);
  expectRearranged({16, 32}, replaced(body, "AXIS", "1"), "tensor<ROWSxCOLSxT>", 512, "i64", 8);
}

TEST(LoweringRearrange, JoinsAndSplits) {
  const std::string interleaved = R"(%b = arith.addi %a, %a : tensor<ROWSxCOLSxT>
  %r = tt.join %a, %b : tensor<ROWSxCOLSxT> -> tensor<ROWSxCOLSx2xT>)";
  const std::string pairs = R"(%w = tt.reshape %a : tensor<ROWSxCOLSxT> -> tensor<COUNTx2xT>
  %p, %q = tt.split %w : tensor<COUNTx2xT> -> tensor<COUNTxT>
  %twice = arith.addi %q, %q : tensor<COUNTxT>
  %r = arith.subi %p, %twice : tensor<COUNTxT>)";
  for (RearrangedShape shape : rearrangedShapes) {
    const int count = shape.rows * shape.cols;
    expectRearranged(shape, interleaved, "tensor<ROWSxCOLSx2xT>", 2 * count);
    if (count > 1)
      expectRearranged(shape, pairs, "tensor<COUNTxT>", count / 2, "i16", 2);
  }
}

TEST(LoweringRearrange, TilesBehindOneAnother) {
  const std::string body = R"(%f = tt.reshape %a : tensor<ROWSxCOLSxT> -> tensor<HALFxT>
  %b = arith.addi %f, %f : tensor<HALFxT>
  %r = tt.cat %f, %b : tensor<HALFxT> -> tensor<COUNTxT>)";
  for (RearrangedShape shape : rearrangedShapes) {
    const int half = shape.rows * shape.cols;
    expectRearranged(shape, replaced(body, "HALF", std::to_string(half)), "tensor<COUNTxT>", 2 * half);
  }
}

TEST(LoweringRearrange, HistogramsCountEachElementOnce) {
  const std::string body = R"(%f = tt.reshape %a : tensor<ROWSxCOLSxT> -> tensor<HALFxT>
  %zero = arith.constant dense<0> : tensor<HALFxT>
  %m = arith.cmpi sgt, %f, %zero : tensor<HALFxT>
  %all = tt.histogram %f : tensor<HALFxT> -> tensor<COUNTxi32>
  %some = tt.histogram %f, %m : tensor<HALFxT> -> tensor<COUNTxi32>
  %r = arith.muli %all, %some : tensor<COUNTxi32>)";
  for (RearrangedShape shape : {RearrangedShape{1, 4}, {1, 256}, {16, 64}})
    for (int bins : {1, 16, 128, 1024}) // bytes below zero are in no bin
      expectRearranged(shape, replaced(body, "HALF", std::to_string(shape.rows * shape.cols)), "tensor<COUNTxi32>",
                       bins, "i8", 1, "i32");
}

TEST(LoweringRearrange, SumsByIndexAddEachElementOnce) {
  const std::string body = R"(%f = tt.reshape %a : tensor<ROWSxCOLSxT> -> tensor<HALFxT>
  %zero = arith.constant dense<0> : tensor<HALFxT>
  %m = arith.cmpi sgt, %f, %zero : tensor<HALFxT>
  %wide = arith.extsi %f : tensor<HALFxT> to tensor<HALFxi32>
  %all = tt.scatter_add %wide[%f] : (tensor<HALFxi32>, tensor<HALFxT>) -> tensor<COUNTxi32>
  %some = tt.scatter_add %wide[%f], %m : (tensor<HALFxi32>, tensor<HALFxT>, tensor<HALFxi1>) -> tensor<COUNTxi32>
  %r = arith.addi %all, %some : tensor<COUNTxi32>)";
  for (RearrangedShape shape : {RearrangedShape{1, 4}, {1, 256}, {16, 64}})
    for (int sums : {1, 16, 128, 1024}) // bytes below zero are no index
      expectRearranged(shape, replaced(body, "HALF", std::to_string(shape.rows * shape.cols)), "tensor<COUNTxi32>",
                       sums, "i8", 1, "i32");
}

TEST(LoweringRearrange, FunctionsWithBranches) {
  const std::string one = R"(%r = "tt.map_elementwise"(%a) <{pack = 1 : i32}> ({
  ^bb0(%v: T):
    %c = arith.constant 7 : T
    %big = arith.cmpi sgt, %v, %c : T
    %w = scf.if %big -> (T) {
      %s = arith.subi %v, %c : T
      scf.yield %s : T
    } else {
      %p = arith.muli %v, %v : T
      scf.yield %p : T
    }
    tt.map_elementwise.return %w : T
  }) : (tensor<ROWSxCOLSxT>) -> tensor<ROWSxCOLSxT>)";
  for (RearrangedShape shape : rearrangedShapes)
    expectRearranged(shape, one, "tensor<ROWSxCOLSxT>", shape.rows * shape.cols);
}

} // namespace
} // namespace nereid::simt
