// Tests loops whose loads are pipelined: short loops, masked ends, tiles in multi-buffered allocations and in
// registers, indirect addresses.
// SPDX-License-Identifier: MIT
#include "test/unit/lowering/Differential.h"

#include "llvm/Support/FormatVariadic.h"

#include "gtest/gtest.h"

namespace nereid::simt {
namespace {

/// C = A B of 32 x 32 tiles, K in steps of 16 with a masked end; B by rows, or transposed.
struct Loop {
  unsigned stages = 3;
  std::string element = "f16";
  std::string step = "%c1";     ///< of the loop, whose bounds follow
  bool transposesRight = false; ///< B is column-major, and is transposed after its load
  bool movesPointers = true;    ///< else each iteration computes them from its index
  std::string other = "0.0";
  bool hintsK = false; ///< hint that K is a multiple of 16, so that A's vectors are wide
};

std::string dots(const Loop &loop) {
  const std::string element = loop.element;
  const std::string rightLoaded = loop.transposesRight ? "32x16" : "16x32";
  std::string text = R"(
tt.func public @kernel(%a: !tt.ptr<$E> {tt.divisibility = 16 : i32}, %b: !tt.ptr<$E> {tt.divisibility = 16 : i32},
                       %o: !tt.ptr<f32>, %k: i32, %lda: i32 {tt.divisibility = 16 : i32}, %from: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c15 = arith.constant 15 : i32
  %c16 = arith.constant 16 : i32
  %zero = arith.constant dense<0.0> : tensor<32x32xf32>
  %otherA = arith.constant dense<$O> : tensor<32x16x$E>
  %otherB = arith.constant dense<$O> : tensor<$Rx$E>
  %r32 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32>
  %r16 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32>
  %m = tt.expand_dims %r32 {axis = 1 : i32} : tensor<32xi32> -> tensor<32x1xi32>
  %n = tt.expand_dims %r32 {axis = 0 : i32} : tensor<32xi32> -> tensor<1x32xi32>
  %ka = tt.expand_dims %r16 {axis = 0 : i32} : tensor<16xi32> -> tensor<1x16xi32>
  %kb = tt.expand_dims %r16 {axis = 1 : i32} : tensor<16xi32> -> tensor<16x1xi32>
  %lds = tt.splat %lda : i32 -> tensor<32x1xi32>
  %ldk = tt.splat %lda : i32 -> tensor<16x1xi32>
  %rowA = arith.muli %m, %lds : tensor<32x1xi32>
  %rowA2 = tt.broadcast %rowA : tensor<32x1xi32> -> tensor<32x16xi32>
  %colA2 = tt.broadcast %ka : tensor<1x16xi32> -> tensor<32x16xi32>
  %offA = arith.addi %rowA2, %colA2 : tensor<32x16xi32>
  %as = tt.splat %a : !tt.ptr<$E> -> tensor<32x16x!tt.ptr<$E>>
  %a0 = tt.addptr %as, %offA : tensor<32x16x!tt.ptr<$E>>, tensor<32x16xi32>
  $B0
  %stepA = tt.splat %c16 : i32 -> tensor<32x16xi32>
  %trips0 = arith.addi %k, %c15 : i32
  %trips = arith.divsi %trips0, %c16 : i32
  %r:3 = scf.for %i = %from to %trips step $S iter_args(%acc = %zero, %pa = %a0, %pb = %b0) -> (tensor<32x32xf32>, tensor<32x16x!tt.ptr<$E>>, tensor<$Rx!tt.ptr<$E>>) : i32 {
    %done = arith.muli %i, %c16 : i32
    %left = arith.subi %k, %done : i32
    %leftA = tt.splat %left : i32 -> tensor<1x16xi32>
    %isA = arith.cmpi slt, %ka, %leftA : tensor<1x16xi32>
    %maskA = tt.broadcast %isA : tensor<1x16xi1> -> tensor<32x16xi1>
    $BODY
    %x = tt.load $PA, %maskA, %otherA : tensor<32x16x!tt.ptr<$E>>
    %y0 = tt.load $PB, %maskB, %otherB : tensor<$Rx!tt.ptr<$E>>
    $TRANSPOSE
    %d = tt.dot %x, %y, %acc, inputPrecision = ieee : tensor<32x16x$E> * tensor<16x32x$E> -> tensor<32x32xf32>
    %na = tt.addptr %pa, %stepA : tensor<32x16x!tt.ptr<$E>>, tensor<32x16xi32>
    %nb = tt.addptr %pb, %stepB : tensor<$Rx!tt.ptr<$E>>, tensor<$Rxi32>
    scf.yield %d, %na, %nb : tensor<32x32xf32>, tensor<32x16x!tt.ptr<$E>>, tensor<$Rx!tt.ptr<$E>>
  } {tt.num_stages = $N : i32}
  // The final pointers are part of the result.
  %row = arith.muli %m, %m32 : tensor<32x1xi32>
  %row2 = tt.broadcast %row : tensor<32x1xi32> -> tensor<32x32xi32>
  %col2 = tt.broadcast %n : tensor<1x32xi32> -> tensor<32x32xi32>
  %off = arith.addi %row2, %col2 : tensor<32x32xi32>
  %os = tt.splat %o : !tt.ptr<f32> -> tensor<32x32x!tt.ptr<f32>>
  %op = tt.addptr %os, %off : tensor<32x32x!tt.ptr<f32>>, tensor<32x32xi32>
  tt.store %op, %r#0 : tensor<32x32x!tt.ptr<f32>>
  %ends = tt.ptr_to_int %r#1 : tensor<32x16x!tt.ptr<$E>> -> tensor<32x16xi64>
  %starts = tt.ptr_to_int %a0 : tensor<32x16x!tt.ptr<$E>> -> tensor<32x16xi64>
  %way = arith.subi %ends, %starts : tensor<32x16xi64>
  %ways = arith.trunci %way : tensor<32x16xi64> to tensor<32x16xi32>
  %wayf = arith.sitofp %ways : tensor<32x16xi32> to tensor<32x16xf32>
  %c1024 = arith.constant dense<1024> : tensor<32x16xi32>
  %row16 = arith.muli %m, %m16 : tensor<32x1xi32>
  %row162 = tt.broadcast %row16 : tensor<32x1xi32> -> tensor<32x16xi32>
  %woff0 = arith.addi %row162, %colA2 : tensor<32x16xi32>
  %woff = arith.addi %woff0, %c1024 : tensor<32x16xi32>
  %wos = tt.splat %o : !tt.ptr<f32> -> tensor<32x16x!tt.ptr<f32>>
  %wop = tt.addptr %wos, %woff : tensor<32x16x!tt.ptr<f32>>, tensor<32x16xi32>
  tt.store %wop, %wayf : tensor<32x16x!tt.ptr<f32>>
  tt.return
})";
  const std::string byRows = R"(%rowB = arith.muli %kb, %ldk : tensor<16x1xi32>
  %rowB2 = tt.broadcast %rowB : tensor<16x1xi32> -> tensor<16x32xi32>
  %colB2 = tt.broadcast %n : tensor<1x32xi32> -> tensor<16x32xi32>
  %offB = arith.addi %rowB2, %colB2 : tensor<16x32xi32>
  %bs = tt.splat %b : !tt.ptr<$E> -> tensor<16x32x!tt.ptr<$E>>
  %b0 = tt.addptr %bs, %offB : tensor<16x32x!tt.ptr<$E>>, tensor<16x32xi32>
  %jump = arith.muli %lda, %c16 : i32
  %stepB = tt.splat %jump : i32 -> tensor<16x32xi32>)";
  const std::string byColumns = R"(%offB = arith.addi %rowA2, %colA2 : tensor<32x16xi32>
  %bs = tt.splat %b : !tt.ptr<$E> -> tensor<32x16x!tt.ptr<$E>>
  %b0 = tt.addptr %bs, %offB : tensor<32x16x!tt.ptr<$E>>, tensor<32x16xi32>
  %stepB = tt.splat %c16 : i32 -> tensor<32x16xi32>)";
  const std::string constants = R"(
  %m32 = arith.constant dense<32> : tensor<32x1xi32>
  %m16 = arith.constant dense<16> : tensor<32x1xi32>)";
  const std::string maskRows = R"(%leftB = tt.splat %left : i32 -> tensor<16x1xi32>
    %isB = arith.cmpi slt, %kb, %leftB : tensor<16x1xi32>
    %maskB = tt.broadcast %isB : tensor<16x1xi1> -> tensor<16x32xi1>)";
  const std::string maskColumns = "%maskB = arith.ori %maskA, %maskA : tensor<32x16xi1>";
  const std::string computed = R"(
    %goneA = tt.splat %done : i32 -> tensor<32x16xi32>
    %qa = tt.addptr %a0, %goneA : tensor<32x16x!tt.ptr<$E>>, tensor<32x16xi32>
    %gone = arith.muli %done, %jumpB : i32
    %goneB = tt.splat %gone : i32 -> tensor<$Rxi32>
    %qb = tt.addptr %b0, %goneB : tensor<$Rx!tt.ptr<$E>>, tensor<$Rxi32>)";
  auto put = [&](const char *name, const std::string &value) { text = replaced(text, name, value); };
  put("$B0", (loop.transposesRight ? byColumns + "\n  %jumpB = arith.constant 1 : i32"
                                   : byRows + "\n  %jumpB = arith.addi %lda, %c0 : i32") +
                 constants);
  put("$BODY", (loop.transposesRight ? maskColumns : maskRows) + (loop.movesPointers ? "" : computed));
  put("$PA", loop.movesPointers ? "%pa" : "%qa");
  put("$PB", loop.movesPointers ? "%pb" : "%qb");
  put("$TRANSPOSE", loop.transposesRight
                        ? "%y = tt.trans %y0 {order = array<i32: 1, 0>} : tensor<32x16x$E> -> tensor<16x32x$E>"
                        : "%y = arith.addf %y0, %zeroB : tensor<16x32x$E>");
  if (!loop.transposesRight) // plain: the operand is the loaded tile
    text = replaced(replaced(text, "%y = arith.addf %y0, %zeroB : tensor<16x32x$E>", ""), "tt.dot %x, %y,",
                    "tt.dot %x, %y0,");
  if (loop.hintsK)
    put("%k: i32,", "%k: i32 {tt.divisibility = 16 : i32},");
  put("$S", loop.step);
  put("$N", std::to_string(loop.stages));
  put("$O", loop.other);
  put("$R", rightLoaded);
  put("$E", element);
  return text;
}

/// Small integers, whose sums are exact.
template <typename T> std::vector<T> halves(size_t count, uint64_t seed) {
  std::vector<T> values(count);
  for (auto [value, number] : llvm::zip_equal(values, someNumbers<int32_t>(count, seed))) {
    static constexpr uint16_t whole[] = {0xC000, 0xBC00, 0x0000, 0x3C00, 0x4000, 0x4200, 0x4400, 0x3800};
    value = whole[number % 8];
  }
  return values;
}

void expectRight(const Loop &loop, int32_t k, int32_t from = 0) {
  SCOPED_TRACE(llvm::formatv("{0} stages, k = {1} from {2}", loop.stages, k, from).str());
  expectSameAsCpu({.text = dots(loop),
                   .parameters = {Buffer::of(halves<uint16_t>(32 * 112, 1)), Buffer::of(halves<uint16_t>(112 * 112, 2)),
                                  Buffer::zeros(4 * (1024 + 512), Buffer::Kind::Single), k, int32_t(112), from},
                   .warps = {1, 4}});
}

TEST(Pipeline, EveryNumberOfIterationsAndStages) {
  for (unsigned stages : {2u, 3u, 5u})
    for (int32_t k : {0, 1, 16, 40, 96})
      expectRight({.stages = stages}, k);
}

TEST(Pipeline, WidePiecesAreCopied) {
  for (unsigned stages : {2u, 3u, 4u})
    for (int32_t k : {0, 16, 32, 96})
      expectRight({.stages = stages, .hintsK = true}, k);
}

TEST(Pipeline, TransposedOperandsComeThroughRings) {
  expectRight({.stages = 3, .transposesRight = true, .hintsK = true}, 80);
  for (int32_t k : {0, 24, 80})
    expectRight({.stages = 4, .transposesRight = true}, k);
}

TEST(Pipeline, AddressesFromTheIndex) {
  expectRight({.stages = 3, .step = "%c2", .movesPointers = false}, 100);
  expectRight({.stages = 4, .step = "%c2", .movesPointers = false}, 70, 1);
  expectRight({.stages = 4, .movesPointers = false}, 16, 1);
}

TEST(Pipeline, WhatIsMaskedIsNotAlwaysZero) { expectRight({.stages = 3, .transposesRight = true, .other = "1.0"}, 40); }

/// The same with 64 x 64 tiles, for wgmma.
std::string wideDots(const Loop &loop) {
  std::string text = dots(loop);
  for (auto [from, to] : {std::pair("tensor<32x32x", "tensor<64x64x"),
                          {"tensor<32x16x", "tensor<64x16x"},
                          {"tensor<16x32x", "tensor<16x64x"},
                          {"tensor<32x1x", "tensor<64x1x"},
                          {"tensor<1x32x", "tensor<1x64x"},
                          {"tensor<32xi32>", "tensor<64xi32>"},
                          {"{end = 32 :", "{end = 64 :"},
                          {"dense<32>", "dense<64>"},
                          {"dense<1024>", "dense<4096>"}})
    text = replaced(text, from, to);
  return text;
}

TEST(Pipeline, WarpGroupDotsRunBesideTheThreads) {
  for (bool transposesRight : {false, true})
    for (unsigned stages : {2u, 4u})
      for (int32_t k : {0, 16, 96}) {
        SCOPED_TRACE(llvm::formatv("{0} stages, k = {1}, {2}", stages, k, transposesRight).str());
        expectSameAsCpu(
            {.text = wideDots({.stages = stages, .transposesRight = transposesRight, .hintsK = true}),
             .parameters = {Buffer::of(halves<uint16_t>(64 * 112, 1)), Buffer::of(halves<uint16_t>(112 * 112, 2)),
                            Buffer::zeros(4 * (4096 + 1024), Buffer::Kind::Single), k, int32_t(112), int32_t(0)},
             .warps = {4, 8},
             .hasWarpGroups = true});
      }
  auto kernel = SimtKernel::compile(wideDots({.transposesRight = true, .hintsK = true}), 4, nullptr, true);
  ASSERT_TRUE(kernel);
  EXPECT_NE(kernel->ttgir.find("isAsync = true"), std::string::npos) << kernel->ttgir;
  EXPECT_NE(kernel->ttgir.find("pendings = 1"), std::string::npos) << kernel->ttgir;
}

/// The first loop of the PTX: from its label to the last branch back to it.
std::string loopOf(const std::string &ptx) {
  constexpr const char *kLabel = "\n$L__BB";
  for (size_t label = ptx.find(kLabel); label != std::string::npos; label = ptx.find(kLabel, label + 1)) {
    const std::string name = ptx.substr(label + 1, ptx.find(':', label) - label - 1);
    const size_t branch = ptx.rfind("\t" + name + ";");
    if (branch != std::string::npos && branch > label)
      return ptx.substr(label, branch - label);
  }
  return "";
}

TEST(Pipeline, RingsAreFilledByCopiesAndReadAsMatricesBehindOneBarrier) {
  auto kernel = SimtKernel::compile(dots({.stages = 3, .hintsK = true}), 4);
  ASSERT_TRUE(kernel);
  EXPECT_NE(kernel->ttgir.find("tt.scheduled_max_stage = 2"), std::string::npos) << kernel->ttgir;
  EXPECT_EQ(kernel->sharedBytes, 3u * 2 * 32 * 16 * 2);
  EXPECT_EQ(kernel->asyncCopies(), 3u * 2) << "in the first two iterations and in the loop";
  EXPECT_GT(kernel->countOf("ldmatrix"), 0u);
  const std::string loop = loopOf(kernel->ptx);
  EXPECT_EQ(llvm::StringRef(loop).count("bar.sync"), 1u) << kernel->ptx;
  EXPECT_GT(llvm::StringRef(loop).count("ldmatrix"), 0u) << kernel->ptx;
}

} // namespace
} // namespace nereid::simt
