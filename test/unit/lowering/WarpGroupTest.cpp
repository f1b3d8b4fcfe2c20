// Tests warp-group dots on a simulated tensor core that reads shared memory by descriptor.
// SPDX-License-Identifier: MIT
#include "test/unit/lowering/Differential.h"

#include "llvm/Support/FormatVariadic.h"

#include "gtest/gtest.h"

namespace nereid::simt {
namespace {

struct GroupCase {
  int64_t m = 64, n = 16, k = 32;
  std::string element = "f16", right = "";
  bool leftTransposed = false, rightTransposed = false; ///< rows in memory run along M, along K
  bool isChained = false;                               ///< the dot is the left operand of a second one
  unsigned warps = 4;
  std::string imprecise = "1073741824 : i32";
  std::vector<std::string> expected = {"ttng.warp_group_dot"};

  bool isInteger() const { return element == "i8"; }
  std::string accumulatorType() const { return isInteger() ? "i32" : "f32"; }
  const std::string &rightElement() const { return right.empty() ? element : right; }
};

std::string tile(int64_t rows, int64_t columns, const std::string &element) {
  return llvm::formatv("tensor<{0}x{1}x{2}>", rows, columns, element).str();
}

/// Integers in another type.
std::string converted(const char *name, const char *from, int64_t rows, int64_t columns, const std::string &element) {
  const std::string source = tile(rows, columns, "i8"), single = tile(rows, columns, "f32");
  const std::string to = tile(rows, columns, element);
  if (element == "i8")
    return llvm::formatv("  %v{0} = arith.bitcast %{1}{0} : {2} to {2}\n", name, from, to).str();
  if (!llvm::StringRef(element).starts_with("f8"))
    return llvm::formatv("  %v{0} = arith.sitofp %{1}{0} : {2} to {3}\n", name, from, source, to).str();
  return llvm::formatv(
             "  %f{0} = arith.sitofp %{1}{0} : {2} to {3}\n  %v{0} = tt.fp_to_fp %f{0}, rounding = rtne : {3} -> "
             "{4}\n",
             name, from, source, single, to)
      .str();
}

/// Loads `rows` x `columns` integers by rows of the tile, or by its columns if transposed.
std::string operand(const char *name, int64_t rows, int64_t columns, const std::string &element, bool isTurned) {
  const std::string pointers = llvm::formatv("tensor<{0}x{1}x!tt.ptr<i8>>", rows, columns).str();
  std::string text = llvm::formatv(R"(
  %i{0} = tt.make_range {{end = {1} : i32, start = 0 : i32} : tensor<{1}xi32>
  %j{0} = tt.make_range {{end = {2} : i32, start = 0 : i32} : tensor<{2}xi32>
  %ie{0} = tt.expand_dims %i{0} {{axis = 1 : i32} : tensor<{1}xi32> -> tensor<{1}x1xi32>
  %je{0} = tt.expand_dims %j{0} {{axis = 0 : i32} : tensor<{2}xi32> -> tensor<1x{2}xi32>
  %is{0} = arith.constant dense<{3}> : tensor<{1}x1xi32>
  %js{0} = arith.constant dense<{4}> : tensor<1x{2}xi32>
  %im{0} = arith.muli %ie{0}, %is{0} : tensor<{1}x1xi32>
  %jm{0} = arith.muli %je{0}, %js{0} : tensor<1x{2}xi32>
  %ib{0} = tt.broadcast %im{0} : tensor<{1}x1xi32> -> tensor<{1}x{2}xi32>
  %jb{0} = tt.broadcast %jm{0} : tensor<1x{2}xi32> -> tensor<{1}x{2}xi32>
  %o{0} = arith.addi %ib{0}, %jb{0} : tensor<{1}x{2}xi32>
  %s{0} = tt.splat %{0} : !tt.ptr<i8> -> {5}
  %p{0} = tt.addptr %s{0}, %o{0} : {5}, tensor<{1}x{2}xi32>
  %l{0} = tt.load %p{0} : {5}
)",
                                   name, rows, columns, isTurned ? 1 : columns, isTurned ? rows : 1, pointers);
  return text + converted(name, "l", rows, columns, element);
}

/// Emits a second dot with the first one's result as its left operand.
std::string second(const GroupCase &test) {
  const std::string accumulators = tile(test.m, test.n, test.accumulatorType());
  std::string narrow = "arith.truncf %first :";
  if (test.element.starts_with("f8"))
    narrow = "tt.fp_to_fp %first, rounding = rtne :";
  if (test.isInteger())
    narrow = "arith.trunci %first :";
  std::string text = llvm::formatv("  %p1 = {0} {1} {2} {3}\n", narrow, accumulators,
                                   test.element.starts_with("f8") ? "->" : "to", tile(test.m, test.n, test.element))
                         .str();
  text += operand("z", test.n, 16, test.rightElement(), test.rightTransposed);
  return text +
         llvm::formatv("  %c2 = arith.constant dense<{0}> : {1}\n  %d = tt.dot %p1, %vz, %c2, inputPrecision = tf32 {{"
                       "maxNumImpreciseAcc = {2}} : {3} * {4} -> {1}\n",
                       test.isInteger() ? "5" : "5.0", tile(test.m, 16, test.accumulatorType()), test.imprecise,
                       tile(test.m, test.n, test.element), tile(test.n, 16, test.rightElement()))
             .str();
}

std::string groupText(const GroupCase &test) {
  const int64_t columns = test.isChained ? 16 : test.n, count = test.m * columns;
  std::string text =
      "tt.func public @kernel(%x: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %y: !tt.ptr<i8> {tt.divisibility "
      "= 16 : i32}, %z: !tt.ptr<i8> {tt.divisibility = 16 : i32}, %o: !tt.ptr<" +
      test.accumulatorType() + ">) {";
  text += operand("x", test.m, test.k, test.element, test.leftTransposed);
  text += operand("y", test.k, test.n, test.rightElement(), test.rightTransposed);
  text +=
      llvm::formatv("  %c = arith.constant dense<{0}> : {1}\n  %{5} = tt.dot %vx, %vy, %c, inputPrecision = tf32 {{"
                    "maxNumImpreciseAcc = {2}} : {3} * {4} -> {1}\n",
                    test.isChained ? (test.isInteger() ? "0" : "0.0") : (test.isInteger() ? "3" : "3.0"),
                    tile(test.m, test.n, test.accumulatorType()), test.imprecise, tile(test.m, test.k, test.element),
                    tile(test.k, test.n, test.rightElement()), test.isChained ? "first" : "d")
          .str();
  if (test.isChained)
    text += second(test);
  return text + llvm::formatv(R"(  %f = tt.reshape %d : {0} -> tensor<{1}x{2}>
  %r = tt.make_range {{end = {1} : i32, start = 0 : i32} : tensor<{1}xi32>
  %os = tt.splat %o : !tt.ptr<{2}> -> tensor<{1}x!tt.ptr<{2}>>
  %op = tt.addptr %os, %r : tensor<{1}x!tt.ptr<{2}>>, tensor<{1}xi32>
  tt.store %op, %f : tensor<{1}x!tt.ptr<{2}>>
  tt.return
})",
                              tile(test.m, columns, test.accumulatorType()), count, test.accumulatorType())
                    .str();
}

/// Sums of a few small integers are exact in any order.
Buffer numbers(size_t count, uint64_t seed, bool areSmall) {
  std::vector<int8_t> values = someNumbers<int8_t>(count, seed);
  for (int8_t &value : values)
    value = areSmall ? value & 3 : value;
  return Buffer::of(values);
}

void expectGroupDot(const GroupCase &test) {
  SCOPED_TRACE(llvm::formatv("{0} x {1} x {2} of {3}, {4} warps, transposed {5} {6}", test.m, test.n, test.k,
                             test.element, test.warps, test.leftTransposed, test.rightTransposed)
                   .str());
  expectSameAsCpu({.text = groupText(test),
                   .parameters = {numbers(test.m * test.k, 1, test.isChained),
                                  numbers(test.k * test.n, 2, test.isChained), numbers(test.n * 16, 3, test.isChained),
                                  Buffer::zeros(test.m * (test.isChained ? 16 : test.n) * 4)},
                   .warps = {test.warps},
                   .hasWarpGroups = true,
                   .expected = test.expected});
}

TEST(WarpGroup, EveryElementType) {
  for (const char *element : {"f16", "bf16", "f32", "i8", "f8E4M3FN", "f8E5M2"})
    expectGroupDot({.element = element});
  expectGroupDot({.element = "f8E4M3FN", .right = "f8E5M2"});
}

/// Rows of 16 to 256 bytes, so that every swizzle is tested, in both directions.
TEST(WarpGroup, EverySwizzle) {
  for (int64_t k : {16, 32, 64, 128})
    for (bool transposed : {false, true})
      expectGroupDot({.n = 8, .k = k, .rightTransposed = transposed});
  for (int64_t n : {8, 16, 32, 64, 128})
    for (bool transposed : {false, true})
      expectGroupDot({.n = n, .k = 16, .leftTransposed = transposed, .rightTransposed = transposed});
}

TEST(WarpGroup, BytesAreReadAlongTheDepthHoweverTheyCome) {
  for (const char *element : {"i8", "f8E5M2"})
    for (bool transposed : {false, true})
      expectGroupDot(
          {.n = 32, .k = 64, .element = element, .leftTransposed = transposed, .rightTransposed = transposed});
  expectGroupDot({.n = 32, .k = 16, .element = "f32", .leftTransposed = true});
}

TEST(WarpGroup, GroupsBelowEachOtherAndSideBySide) {
  expectGroupDot({.m = 128, .n = 16, .k = 16, .warps = 8, .expected = {"warpsPerCTA = [8, 1]"}});
  expectGroupDot({.m = 64, .n = 32, .k = 16, .warps = 8, .expected = {"warpsPerCTA = [4, 2]"}});
  expectGroupDot(
      {.m = 64, .n = 64, .k = 16, .rightTransposed = true, .warps = 8, .expected = {"warpsPerCTA = [4, 2]"}});
  expectGroupDot(
      {.m = 128, .n = 32, .k = 32, .leftTransposed = true, .warps = 16, .expected = {"warpsPerCTA = [8, 2]"}});
  expectGroupDot({.m = 256, .n = 8, .k = 32, .leftTransposed = true, .warps = 8, .expected = {"warpsPerCTA = [8, 1]"}});
}

TEST(WarpGroup, SeveralInstructionsEachWay) {
  expectGroupDot({.m = 128, .n = 512, .k = 32, .expected = {"instrShape = [16, 256, 16]"}});
  expectGroupDot({.m = 256, .n = 16, .k = 64, .element = "i8"});
}

TEST(WarpGroup, OperandsInRegisters) {
  for (const char *element : {"f16", "i8", "f8E4M3FN"})
    for (unsigned warps : {4u, 8u})
      expectGroupDot({.m = 128,
                      .n = 64,
                      .k = 32,
                      .element = element,
                      .isChained = true,
                      .warps = warps,
                      .expected = {"-> tensor<128x16x", "#ttg.dot_op<{opIdx = 0"}});
  expectGroupDot({.m = 64, .n = 64, .k = 32, .isChained = true, .warps = 8, .expected = {"#ttg.dot_op<{opIdx = 0"}});
}

TEST(WarpGroup, FewImpreciseAdditions) {
  for (const char *imprecise : {"0 : i32", "32 : i32", "48 : i32", "128 : i32"})
    expectGroupDot({.n = 16, .k = 128, .element = "f8E4M3FN", .imprecise = imprecise});
}

/// Dots of 64 x 16 twos and 16 x 8 threes, added to fives; the accumulators are stored.
std::string asyncDots(const std::string &dots) {
  const std::string text = R"(
#rows = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8, 16]}>
#a = #ttg.nvmma_shared<{swizzlingByteWidth = 32, transposed = false, elementBitWidth = 16}>
#b = #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel(%o: !tt.ptr<f32>, %flag: i32) {
    %zero = arith.constant 0 : i32
    %adds = arith.cmpi ne, %flag, %zero : i32
    %twos = arith.constant dense<2.0> : tensor<64x16xf16, #rows>
    %threes = arith.constant dense<3.0> : tensor<16x8xf16, #rows>
    %fours = arith.constant dense<4.0> : tensor<16x8xf16, #rows>
    %c = arith.constant dense<5.0> : tensor<64x8xf32, #mma>
    %x = ttg.local_alloc %twos : (tensor<64x16xf16, #rows>) -> $A
    %y = ttg.local_alloc : () -> $B
    ttg.local_store %threes, %y : tensor<16x8xf16, #rows> -> $B
    ttng.fence_async_shared {bCluster = false}
    $DOTS
    %i = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #mma}>>
    %j = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32, #ttg.slice<{dim = 0, parent = #mma}>>
    %ie = tt.expand_dims %i {axis = 1 : i32} : tensor<64xi32, #ttg.slice<{dim = 1, parent = #mma}>> -> tensor<64x1xi32, #mma>
    %je = tt.expand_dims %j {axis = 0 : i32} : tensor<8xi32, #ttg.slice<{dim = 0, parent = #mma}>> -> tensor<1x8xi32, #mma>
    %width = arith.constant dense<8> : tensor<64x1xi32, #mma>
    %im = arith.muli %ie, %width : tensor<64x1xi32, #mma>
    %ib = tt.broadcast %im : tensor<64x1xi32, #mma> -> tensor<64x8xi32, #mma>
    %jb = tt.broadcast %je : tensor<1x8xi32, #mma> -> tensor<64x8xi32, #mma>
    %at = arith.addi %ib, %jb : tensor<64x8xi32, #mma>
    %os = tt.splat %o : !tt.ptr<f32> -> tensor<64x8x!tt.ptr<f32>, #mma>
    %op = tt.addptr %os, %at : tensor<64x8x!tt.ptr<f32>, #mma>, tensor<64x8xi32, #mma>
    tt.store %op, %w#0 : tensor<64x8x!tt.ptr<f32>, #mma>
    tt.return
  }
})";
  return replaced(replaced(replaced(replaced(text, "$DOTS", dots), "$D", "$A * $B -> tensor<64x8xf32, #mma>"), "$A",
                           "!ttg.memdesc<64x16xf16, #a, #smem>"),
                  "$B", "!ttg.memdesc<16x8xf16, #b, #smem, mutable>");
}

std::vector<float> sumsOf(const std::string &text, int32_t flag, unsigned barriers) {
  std::string error;
  auto kernel = SimtKernel::compile(text, 4, &error);
  EXPECT_TRUE(kernel) << error;
  if (!kernel)
    return {};
  EXPECT_EQ(kernel->barriers(), barriers);
  std::vector<float> results(64 * 8, -1);
  EXPECT_TRUE(kernel->run({1, 1, 1}, Arguments().add(results.data()).add(flag), Order::Mixed));
  return results;
}

/// The flag whether accumulators are added is only known at run time; the wait is elsewhere.
TEST(WarpGroup, SumsThatMayCountAndALaterWait) {
  const std::string text = asyncDots(R"(
    %d = ttng.warp_group_dot %x, %y, %c, %adds {isAsync = true} : $D
    %w:2 = ttng.warp_group_dot_wait %d, %y {pendings = 0 : i32} : tensor<64x8xf32, #mma>, $B)");
  EXPECT_EQ(sumsOf(text, 0, 1), std::vector<float>(64 * 8, 96));
  EXPECT_EQ(sumsOf(text, 7, 1), std::vector<float>(64 * 8, 101));
}

/// A dot may accumulate on pending accumulators, and one wait may leave the last dot pending for the next.
TEST(WarpGroup, DotsInFlight) {
  const std::string text = asyncDots(R"(
    %d = ttng.warp_group_dot %x, %y, %c {isAsync = true} : $D
    %e = ttng.warp_group_dot %x, %y, %d {isAsync = true} : $D
    %v = ttng.warp_group_dot_wait %e {pendings = 1 : i32} : tensor<64x8xf32, #mma>
    %w:2 = ttng.warp_group_dot_wait %v, %y {pendings = 0 : i32} : tensor<64x8xf32, #mma>, $B)");
  EXPECT_EQ(sumsOf(text, 0, 1), std::vector<float>(64 * 8, 197));
}

/// The report of a run with checks.
std::string reportOf(const std::string &text) {
  std::string report;
  auto kernel = SimtKernel::compile(text, 4, &report);
  if (!kernel)
    return report;
  kernel->checks = artifact::Race | artifact::Sync;
  std::vector<float> results(64 * 8);
  kernel->run({1, 1, 1}, Arguments().add(results.data()).add<int32_t>(0), Order::Ascending, &report);
  return report;
}

/// A buffer must not be written, nor accumulators read, before the wait.
TEST(WarpGroup, TheSimulatedGpuSeesWhatIsTooEarly) {
  const std::string overwritten = asyncDots(R"(
    %d = ttng.warp_group_dot %x, %y, %c {isAsync = true} : $D
    ttg.local_store %fours, %y : tensor<16x8xf16, #rows> -> $B
    %w:2 = ttng.warp_group_dot_wait %d, %y {pendings = 0 : i32} : tensor<64x8xf32, #mma>, $B)");
  EXPECT_EQ(reportOf(overwritten).rfind("sanitize-race", 0), 0u) << reportOf(overwritten);
  const std::string inFlight = asyncDots(R"(
    %d = ttng.warp_group_dot %x, %y, %c {isAsync = true} : $D
    %w:2 = ttng.warp_group_dot_wait %d, %y {pendings = 1 : i32} : tensor<64x8xf32, #mma>, $B)");
  EXPECT_EQ(reportOf(inFlight).rfind("sanitize-sync", 0), 0u) << reportOf(inFlight);
}

/// A barrier between a dot and its wait does not order the tensor core's reads: another one is needed before the buffer
/// is written again.
TEST(WarpGroup, BuffersAreReadUntilTheWait) {
  const char *text = R"(
#rows = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 1], instrShape = [16, 8, 16]}>
#b = #ttg.nvmma_shared<{swizzlingByteWidth = 0, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel(%a: tensor<64x16xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>>) {
    %threes = arith.constant dense<3.0> : tensor<16x8xf16, #rows>
    %c = arith.constant dense<0.0> : tensor<64x8xf32, #mma>
    %y = ttg.local_alloc : () -> !ttg.memdesc<16x8xf16, #b, #smem, mutable>
    ttg.local_store %threes, %y : tensor<16x8xf16, #rows> -> !ttg.memdesc<16x8xf16, #b, #smem, mutable>
    ttng.fence_async_shared {bCluster = false}
    %d = ttng.warp_group_dot %a, %y, %c {isAsync = true} : tensor<64x16xf16, #ttg.dot_op<{opIdx = 0, parent = #mma, kWidth = 2}>> * !ttg.memdesc<16x8xf16, #b, #smem, mutable> -> tensor<64x8xf32, #mma>
    ttg.barrier local
    %w:2 = ttng.warp_group_dot_wait %d, %y {pendings = 0 : i32} : tensor<64x8xf32, #mma>, !ttg.memdesc<16x8xf16, #b, #smem, mutable>
    ttg.local_store %threes, %y : tensor<16x8xf16, #rows> -> !ttg.memdesc<16x8xf16, #b, #smem, mutable>
    tt.return
  }
})";
  std::string error;
  auto kernel = SimtKernel::compile(text, 4, &error);
  ASSERT_TRUE(kernel) << error;
  EXPECT_EQ(kernel->barriers(), 3u);
}

} // namespace
} // namespace nereid::simt
