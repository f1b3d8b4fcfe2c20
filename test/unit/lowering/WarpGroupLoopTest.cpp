// Tests loops of warp-group dots whose operands are pipelined, with masked ends, and chains of two dots.
// SPDX-License-Identifier: MIT
#include "test/unit/lowering/Differential.h"

#include "llvm/Support/FormatVariadic.h"

#include "gtest/gtest.h"

namespace nereid::simt {
namespace {

/// Pointers to `rows` x `columns` elements of f16, with a row pitch of `pitch`.
std::string pointers(const char *name, int64_t rows, int64_t columns, int64_t pitch, const char *element = "f16") {
  return llvm::formatv(R"(
  %i{0} = tt.make_range {{end = {1} : i32, start = 0 : i32} : tensor<{1}xi32>
  %j{0} = tt.make_range {{end = {2} : i32, start = 0 : i32} : tensor<{2}xi32>
  %row{0} = tt.expand_dims %i{0} {{axis = 1 : i32} : tensor<{1}xi32> -> tensor<{1}x1xi32>
  %column{0} = tt.expand_dims %j{0} {{axis = 0 : i32} : tensor<{2}xi32> -> tensor<1x{2}xi32>
  %pitch{0} = arith.constant dense<{3}> : tensor<{1}x1xi32>
  %start{0} = arith.muli %row{0}, %pitch{0} : tensor<{1}x1xi32>
  %starts{0} = tt.broadcast %start{0} : tensor<{1}x1xi32> -> tensor<{1}x{2}xi32>
  %columns{0} = tt.broadcast %column{0} : tensor<1x{2}xi32> -> tensor<{1}x{2}xi32>
  %at{0} = arith.addi %starts{0}, %columns{0} : tensor<{1}x{2}xi32>
  %base{0} = tt.splat %{0} : !tt.ptr<{4}> -> tensor<{1}x{2}x!tt.ptr<{4}>>
  %p{0} = tt.addptr %base{0}, %at{0} : tensor<{1}x{2}x!tt.ptr<{4}>>, tensor<{1}x{2}xi32>
)",
                       name, rows, columns, pitch, element)
      .str();
}

struct GroupLoop {
  unsigned stages = 3, warps = 4;
  int64_t m = 64, n = 32;
  bool transposesRight = false; ///< B's rows are contiguous along K
};

constexpr int64_t kDepth = 32, kMaxTrips = 5, kPitch = kDepth * kMaxTrips;

/// C = A B in steps of 32 along K; elements beyond `k` are masked.
std::string groupMatmul(const GroupLoop &loop) {
  const std::string right = loop.transposesRight ? std::to_string(loop.n) + "x32" : "32x" + std::to_string(loop.n);
  std::string text =
      R"(tt.func public @kernel(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32},
    %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %k: i32) {)";
  text += pointers("a", loop.m, kDepth, kPitch) + pointers("o", loop.m, loop.n, loop.n, "f32");
  text += loop.transposesRight ? pointers("b", loop.n, kDepth, kPitch) : pointers("b", kDepth, loop.n, loop.n);
  text += R"(
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %zero = arith.constant dense<0.0> : tensor<$Mx$Nxf32>
  %noA = arith.constant dense<0.0> : tensor<$Mx32xf16>
  %noB = arith.constant dense<0.0> : tensor<$Rxf16>
  %stepA = arith.constant dense<32> : tensor<$Mx32xi32>
  %stepB = arith.constant dense<$S> : tensor<$Rxi32>
  %r:3 = scf.for %i = %c0 to %k step %c32 iter_args(%acc = %zero, %x0 = %pa, %y0 = %pb) -> (tensor<$Mx$Nxf32>, tensor<$Mx32x!tt.ptr<f16>>, tensor<$Rx!tt.ptr<f16>>) : i32 {
    %left = arith.subi %k, %i : i32
    %leftA = tt.splat %left : i32 -> tensor<1x32xi32>
    %isA = arith.cmpi slt, %columna, %leftA : tensor<1x32xi32>
    %maskA = tt.broadcast %isA : tensor<1x32xi1> -> tensor<$Mx32xi1>
    %leftB = tt.splat %left : i32 -> tensor<$Dxi32>
    %isB = arith.cmpi slt, %$Cb, %leftB : tensor<$Dxi32>
    %maskB = tt.broadcast %isB : tensor<$Dxi1> -> tensor<$Rxi1>
    %x = tt.load %x0, %maskA, %noA : tensor<$Mx32x!tt.ptr<f16>>
    %y1 = tt.load %y0, %maskB, %noB : tensor<$Rx!tt.ptr<f16>>
    $TRANSPOSE
    %d = tt.dot %x, %y, %acc : tensor<$Mx32xf16> * tensor<32x$Nxf16> -> tensor<$Mx$Nxf32>
    %x2 = tt.addptr %x0, %stepA : tensor<$Mx32x!tt.ptr<f16>>, tensor<$Mx32xi32>
    %y2 = tt.addptr %y0, %stepB : tensor<$Rx!tt.ptr<f16>>, tensor<$Rxi32>
    scf.yield %d, %x2, %y2 : tensor<$Mx$Nxf32>, tensor<$Mx32x!tt.ptr<f16>>, tensor<$Rx!tt.ptr<f16>>
  } {tt.num_stages = $STAGES : i32}
  tt.store %po, %r#0 : tensor<$Mx$Nx!tt.ptr<f32>>
  tt.return
})";
  return withNames(
      text, {{"$TRANSPOSE", loop.transposesRight
                                ? "%y = tt.trans %y1 {order = array<i32: 1, 0>} : tensor<$Rxf16> -> tensor<32x$Nxf16>"
                                : "%y = arith.bitcast %y1 : tensor<$Rxf16> to tensor<$Rxf16>"},
             {"$STAGES", std::to_string(loop.stages)},
             {"$M", std::to_string(loop.m)},
             {"$N", std::to_string(loop.n)},
             {"$R", right},
             {"$S", std::to_string(loop.transposesRight ? kDepth : kDepth * loop.n)},
             {"$D", loop.transposesRight ? "1x32" : "32x1"},
             {"$C", loop.transposesRight ? "column" : "row"}});
}

void expectMatmul(const GroupLoop &loop, int32_t k) {
  SCOPED_TRACE(llvm::formatv("{0} x {1} x {2}, {3} stages, {4} warps, transposed {5}", loop.m, loop.n, k, loop.stages,
                             loop.warps, loop.transposesRight)
                   .str());
  expectSameAsCpu({.text = groupMatmul(loop),
                   .parameters = {smallNumbers(loop.m * kPitch, 1), smallNumbers(loop.n * kPitch, 2),
                                  Buffer::zeros(loop.m * loop.n * 4), k},
                   .warps = {loop.warps},
                   .hasWarpGroups = true,
                   .expected = {"ttng.warp_group_dot"}});
}

TEST(WarpGroupLoop, EveryNumberOfIterationsAndStages) {
  for (unsigned stages : {1u, 2u, 3u, 4u})
    for (int32_t k : {0, 1, 32, 33, 64, 160})
      expectMatmul({.stages = stages}, k);
}

TEST(WarpGroupLoop, SeveralGroupsShareBuffers) {
  for (unsigned stages : {2u, 3u, 4u})
    for (bool transposed : {false, true}) {
      expectMatmul({.stages = stages, .warps = 8, .m = 128, .transposesRight = transposed}, 160);
      expectMatmul({.stages = stages, .warps = 8, .m = 64, .transposesRight = transposed}, 100);
    }
}

/// Multiplies tiles of M rows of A by B, and stores each result as f16 in vectors of 16 bytes.
std::string storedTiles(int64_t m, unsigned columns) {
  return withNames(
      R"(tt.func public @kernel(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32},
    %o: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %tiles: i32) {)" +
          pointers("a", m, kDepth, kDepth) + pointers("b", kDepth, columns, columns) +
          pointers("o", m, columns, columns) + R"(
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<$Mx$Nxf32>
  %stepA = arith.constant dense<$A> : tensor<$Mx32xi32>
  %stepO = arith.constant dense<$O> : tensor<$Mx$Nxi32>
  %y = tt.load %pb : tensor<32x$Nx!tt.ptr<f16>>
  %r:2 = scf.for %i = %c0 to %tiles step %c1 iter_args(%x0 = %pa, %o0 = %po) -> (tensor<$Mx32x!tt.ptr<f16>>, tensor<$Mx$Nx!tt.ptr<f16>>) : i32 {
    %x = tt.load %x0 : tensor<$Mx32x!tt.ptr<f16>>
    %d = tt.dot %x, %y, %zero : tensor<$Mx32xf16> * tensor<32x$Nxf16> -> tensor<$Mx$Nxf32>
    %h = arith.truncf %d : tensor<$Mx$Nxf32> to tensor<$Mx$Nxf16>
    tt.store %o0, %h : tensor<$Mx$Nx!tt.ptr<f16>>
    %x1 = tt.addptr %x0, %stepA : tensor<$Mx32x!tt.ptr<f16>>, tensor<$Mx32xi32>
    %o1 = tt.addptr %o0, %stepO : tensor<$Mx$Nx!tt.ptr<f16>>, tensor<$Mx$Nxi32>
    scf.yield %x1, %o1 : tensor<$Mx32x!tt.ptr<f16>>, tensor<$Mx$Nx!tt.ptr<f16>>
  }
  tt.return
})",
      {{"$M", std::to_string(m)},
       {"$N", std::to_string(columns)},
       {"$A", std::to_string(m * kDepth)},
       {"$O", std::to_string(m * columns)}});
}

/// The second run of a conversion overwrites what the first one's lanes have read, with barriers of the warp alone.
TEST(WarpGroupLoop, WarpsStoreTheRowsThatTheyComputed) {
  for (unsigned warps : {4u, 8u})
    for (unsigned columns : {64u, 128u}) {
      const std::string text = storedTiles(16 * warps, columns);
      for (int32_t tiles : {1, 3})
        expectSameAsCpu({.text = text,
                         .parameters = {smallNumbers(16 * warps * kDepth * tiles, 1), smallNumbers(kDepth * columns, 2),
                                        Buffer::zeros(16 * warps * columns * tiles * 2, Buffer::Kind::Half), tiles},
                         .warps = {warps},
                         .hasWarpGroups = true,
                         .expected = {"ttng.warp_group_dot", "ttg.convert_layout"}});
      const auto kernel = SimtKernel::compile(text, warps, nullptr, true);
      ASSERT_TRUE(kernel);
      EXPECT_EQ(kernel->countOf("bar.warp.sync"), 2u);
    }
}

/// One loop of `chain`, from key 0 to `%n`, that adds to %acc; its values have `suffix` in their names.
std::string chainLoop(const std::string &suffix, const std::string &keys, const std::string &init) {
  return withNames(R"(
  %rSUF:3 = scf.for %iSUF = %c0 to KEYS step %c32 iter_args(%acc = INIT, %k0 = %pk, %v0 = %pv) -> (tensor<$Mx32xf32>, tensor<32x32x!tt.ptr<f16>>, tensor<32x32x!tt.ptr<f16>>) : i32 {
    %y1 = tt.load %k0 : tensor<32x32x!tt.ptr<f16>>
    %y = tt.trans %y1 {order = array<i32: 1, 0>} : tensor<32x32xf16> -> tensor<32x32xf16>
    %s = tt.dot %x, %y, %zero : tensor<$Mx32xf16> * tensor<32x32xf16> -> tensor<$Mx32xf32>
    %p = arith.truncf %s : tensor<$Mx32xf32> to tensor<$Mx32xf16>
    %w = tt.load %v0 : tensor<32x32x!tt.ptr<f16>>
    %less = arith.mulf %acc, %half : tensor<$Mx32xf32>
    %d = tt.dot %p, %w, %less : tensor<$Mx32xf16> * tensor<32x32xf16> -> tensor<$Mx32xf32>
    %k2 = tt.addptr %k0, %step : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
    %v2 = tt.addptr %v0, %step : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
    scf.yield %d, %k2, %v2 : tensor<$Mx32xf32>, tensor<32x32x!tt.ptr<f16>>, tensor<32x32x!tt.ptr<f16>>
  } {tt.num_stages = $STAGES : i32}
)",
                   {{"SUF", suffix}, {"KEYS", keys}, {"INIT", init}});
}

/// Attention without its softmax: O = sum of (Q K^T, narrowed) V over blocks of 32 keys, then over those of a second
/// loop.
std::string chain(const GroupLoop &loop) {
  std::string text =
      R"(tt.func public @kernel(%q: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %k: !tt.ptr<f16> {tt.divisibility = 16 : i32},
    %v: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32, %m: i32) {)";
  text += pointers("q", loop.m, 32, 32) + pointers("k", 32, 32, 32) + pointers("v", 32, 32, 32) +
          pointers("o", loop.m, 32, 32, "f32");
  text += R"(
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %zero = arith.constant dense<0.0> : tensor<$Mx32xf32>
  %half = arith.constant dense<0.5> : tensor<$Mx32xf32>
  %step = arith.constant dense<1024> : tensor<32x32xi32>
  %x = tt.load %pq : tensor<$Mx32x!tt.ptr<f16>>)" +
          chainLoop("", "%n", "%zero") + chainLoop("2", "%m", "%r#0") + R"(
  tt.store %po, %r2#0 : tensor<$Mx32x!tt.ptr<f32>>
  tt.return
})";
  return withNames(text, {{"$STAGES", std::to_string(loop.stages)}, {"$M", std::to_string(loop.m)}});
}

TEST(WarpGroupLoop, DotsOfDots) {
  for (unsigned stages : {1u, 2u, 3u})
    for (auto [keys, more] : {std::pair(0, 0), {32, 0}, {0, 32}, {64, 32}, {160, 96}})
      for (unsigned warps : {4u, 8u}) {
        const GroupLoop loop = {.stages = stages, .m = warps == 4 ? 64 : 128};
        const bool isSpecialised = warps == 8 && stages > 1;
        SCOPED_TRACE(llvm::formatv("{0} and {1} keys, {2} stages, {3} warps", keys, more, stages, warps).str());
        expectSameAsCpu(
            {.text = chain(loop),
             .parameters = {smallNumbers(loop.m * 32, 1), smallNumbers(32 * 32 * kMaxTrips, 2),
                            smallNumbers(32 * 32 * kMaxTrips, 3), Buffer::zeros(loop.m * 32 * 4), keys, more},
             .warps = {warps},
             .hasWarpGroups = true,
             .expected = {"ttng.warp_group_dot", "#ttg.dot_op<{opIdx = 0", isSpecialised ? "scf.while" : "scf.for"}});
      }
}

/// One of two loops over blocks of 32 keys, from `from` to `to`, that adds to %acc; `middle` computes %u from %t.
std::string rangeLoop(const std::string &suffix, const std::string &from, const std::string &to,
                      const std::string &init, const std::string &middle) {
  return withNames(R"(
  %rSUF = scf.for %iSUF = FROM to TO step %c32 iter_args(%acc = INIT) -> (tensor<128x32xf32>) : i32 {
    %offset = arith.muli %iSUF, %c32 : i32
    %offsets = tt.splat %offset : i32 -> tensor<32x32xi32>
    %k0 = tt.addptr %pk, %offsets : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
    %v0 = tt.addptr %pv, %offsets : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
    %y1 = tt.load %k0 : tensor<32x32x!tt.ptr<f16>>
    %y = tt.trans %y1 {order = array<i32: 1, 0>} : tensor<32x32xf16> -> tensor<32x32xf16>
    %s = tt.dot %x, %y, %zero : tensor<128x32xf16> * tensor<32x32xf16> -> tensor<128x32xf32>
    %t = arith.mulf %s, %half : tensor<128x32xf32>
    MIDDLE
    %p = arith.truncf %u : tensor<128x32xf32> to tensor<128x32xf16>
    %w = tt.load %v0 : tensor<32x32x!tt.ptr<f16>>
    %less = arith.mulf %acc, %half : tensor<128x32xf32>
    %d = tt.dot %p, %w, %less : tensor<128x32xf16> * tensor<32x32xf16> -> tensor<128x32xf32>
    scf.yield %d : tensor<128x32xf32>
  } {tt.num_stages = 2 : i32}
)",
                   {{"SUF", suffix}, {"FROM", from}, {"TO", to}, {"INIT", init}, {"MIDDLE", middle}});
}

/// Loops as of a causal mask: the second one begins where the first one ends, and computes a part of its body
/// otherwise.
std::string ranges(bool endsAtBlock) {
  std::string text =
      R"(tt.func public @kernel(%q: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %k: !tt.ptr<f16> {tt.divisibility = 16 : i32},
    %v: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %b: i32, %n: i32, %m: i32) {)";
  text += pointers("q", 128, 32, 32) + pointers("k", 32, 32, 32) + pointers("v", 32, 32, 32) +
          pointers("o", 128, 32, 32, "f32");
  text += R"(
  %c0 = arith.constant 0 : i32
  %c32 = arith.constant 32 : i32
  %zero = arith.constant dense<0.0> : tensor<128x32xf32>
  %half = arith.constant dense<0.5> : tensor<128x32xf32>
  %one = arith.constant dense<1.0> : tensor<128x32xf32>
  %three = arith.constant dense<3.0> : tensor<128x32xf32>
  %x = tt.load %pq : tensor<128x32x!tt.ptr<f16>>
  %begin = arith.muli %b, %c32 : i32
  %middle = arith.muli %n, %UNIT : i32
  %more = arith.muli %m, %c32 : i32)" +
          rangeLoop("", "%begin", "%middle", "%zero", "%u = arith.subf %t, %one : tensor<128x32xf32>") + R"(
  %end = arith.addi %middle, %more : i32)" +
          rangeLoop("2", "%middle", "%end", "%r", R"(%masked = arith.addf %t, %three : tensor<128x32xf32>
    %u = arith.subf %masked, %one : tensor<128x32xf32>)") +
          R"(
  tt.store %po, %r2 : tensor<128x32x!tt.ptr<f32>>
  tt.return
})";
  return withNames(text, {{"%UNIT", endsAtBlock ? "%c32" : "%n"}});
}

TEST(WarpGroupLoop, LoopsThatFollowEachOther) {
  struct Blocks {
    int32_t begin, middle, more;
  };
  for (bool endsAtBlock : {true, false})
    for (auto [begin, middle, more] :
         {Blocks{0, 0, 0}, {0, 1, 0}, {0, 0, 1}, {0, 1, 1}, {0, 3, 2}, {0, 2, -1}, {2, 1, 2}, {1, 2, 1}}) {
      SCOPED_TRACE(llvm::formatv("{0} to {1}, {2} more, ends at a block: {3}", begin, middle, more, endsAtBlock).str());
      expectSameAsCpu(
          {.text = ranges(endsAtBlock),
           .parameters = {smallNumbers(128 * 32, 1), smallNumbers(32 * 32 * kMaxTrips, 2),
                          smallNumbers(32 * 32 * kMaxTrips, 3), Buffer::zeros(128 * 32 * 4), begin, middle, more},
           .warps = {8},
           .hasWarpGroups = true,
           .expected = {"partition0 num_warps(4)"},
           .counted = {{"scf.while", endsAtBlock ? 1 : 2}}});
    }
}

/// Two dots that do not depend on each other, one of their sum's narrowed result, and values computed in between.
std::string independentDots(const std::string &unit) {
  std::string text =
      R"(tt.func public @kernel(%q: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %k: !tt.ptr<f16> {tt.divisibility = 16 : i32},
    %v: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {)";
  text += pointers("q", 64, 32, 32) + pointers("k", 32, 32, 32) + pointers("v", 32, 32, 32) +
          pointers("o", 64, 32, 32, "f32");
  text += R"(
  %c0 = arith.constant 0 : i32
  %c1024 = arith.constant 1024 : i32
  %c32 = arith.constant 32 : i32
  %zero = arith.constant dense<0.0> : tensor<64x32xf32>
  %half = arith.constant dense<0.5> : tensor<64x32xf32>
  %small = arith.constant dense<0.015625> : tensor<64x32xf32>
  %x = tt.load %pq : tensor<64x32x!tt.ptr<f16>>
  %r:2 = scf.for %i = %c0 to %n step %c32 iter_args(%a = %zero, %b = %zero) -> (tensor<64x32xf32>, tensor<64x32xf32>) : i32 {
    %offset = arith.muli %i, %c32 : i32
    %offsets = tt.splat %offset : i32 -> tensor<32x32xi32>
    %k0 = tt.addptr %pk, %offsets : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
    %v0 = tt.addptr %pv, %offsets : tensor<32x32x!tt.ptr<f16>>, tensor<32x32xi32>
    %y = tt.load %k0 : tensor<32x32x!tt.ptr<f16>>
    %w = tt.load %v0 : tensor<32x32x!tt.ptr<f16>>
    %s = tt.dot %x, %y, %zero : tensor<64x32xf16> * tensor<32x32xf16> -> tensor<64x32xf32>
    %t = arith.mulf %s, %half : tensor<64x32xf32>
    %p = arith.truncf %t : tensor<64x32xf32> to tensor<64x32xf16>
    %d = tt.dot %p, %w, %a : tensor<64x32xf16> * tensor<32x32xf16> -> tensor<64x32xf32>
    %u = tt.dot %x, %w, %zero : tensor<64x32xf16> * tensor<32x32xf16> -> tensor<64x32xf32>
    %e = arith.mulf %t, %u : tensor<64x32xf32>
    %h = arith.mulf %e, %small : tensor<64x32xf32>
    %f = arith.truncf %h : tensor<64x32xf32> to tensor<64x32xf16>
    %g = tt.dot %f, %y, %b : tensor<64x32xf16> * tensor<32x32xf16> -> tensor<64x32xf32>
    scf.yield %d, %g : tensor<64x32xf32>, tensor<64x32xf32>
  } {tt.num_stages = UNIT : i32}
  %sum = arith.addf %r#0, %r#1 : tensor<64x32xf32>
  tt.store %po, %sum : tensor<64x32x!tt.ptr<f32>>
  tt.return
})";
  return withNames(text, {{"UNIT", unit}});
}

TEST(WarpGroupLoop, DotsInFlightUntilTheyAreUsed) {
  for (const char *stages : {"2", "3"})
    for (int32_t n : {0, 32, 64, 160})
      for (unsigned warps : {4u, 8u}) {
        SCOPED_TRACE(llvm::formatv("{0} stages, {1} keys, {2} warps", stages, n, warps).str());
        // One warp group leaves the last two dots of an iteration in flight when the next one starts.
        expectSameAsCpu({.text = independentDots(stages),
                         .parameters = {smallNumbers(64 * 32, 1), smallNumbers(32 * 32 * kMaxTrips, 2),
                                        smallNumbers(32 * 32 * kMaxTrips, 3), Buffer::zeros(64 * 32 * 4), n},
                         .warps = {warps},
                         .hasWarpGroups = true,
                         .expected = {"{pendings = 1 : i32}"},
                         .counted = {{"isAsync = true", 4},
                                     {"ttng.warp_group_dot %", 4},
                                     {"{pendings = 2 : i32}", warps == 4 ? 1 : 0}}});
      }
}

} // namespace
} // namespace nereid::simt
