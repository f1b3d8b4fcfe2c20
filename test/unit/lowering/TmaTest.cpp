// Tests kernels whose descriptors use TMA: every swizzle and rank, ends outside of the array, empty arrays,
// combinations, loops with dots; without a wait or in the wrong phase the results differ.
// SPDX-License-Identifier: MIT
#include "test/unit/lowering/Differential.h"

#include "llvm/Support/FormatVariadic.h"

#include "gtest/gtest.h"

namespace nereid::simt {
namespace {

const char *const kLoad = "ttng.async_tma_copy_global_to_local", *const kStore = "ttng.async_tma_copy_local_to_global";

/// Bytes of numbers of that size; floats are small, so that sums are exact.
std::vector<uint8_t> smallNumbersOf(unsigned bytes, bool isFloat, size_t count, uint64_t seed) {
  std::vector<uint8_t> random = someNumbers<uint8_t>(count * bytes, seed);
  constexpr uint16_t halves[] = {0x0000, 0x3c00, 0x4000, 0xc200};
  constexpr uint32_t singles[] = {0x00000000, 0x3f800000, 0x40000000, 0xc0400000};
  for (size_t index = 0; isFloat && index < count; ++index) {
    const unsigned which = random[index * bytes] & 3;
    if (bytes == 2)
      std::memcpy(&random[index * 2], &halves[which], 2);
    else
      std::memcpy(&random[index * 4], &singles[which], 4);
  }
  return random;
}

struct Copy {
  const char *element;
  unsigned bytes;
  int64_t rows, columns, pitch = 64;
  const char *padding = "";
};

/// Copies the block at (row, column) of an array of m x n, with a row pitch of `pitch`, to the start of another array
/// of m x n.
std::string tmaCopyText(const Copy &copy) {
  return withNames(
      R"(tt.func public @kernel(%x: !tt.ptr<$E> {tt.divisibility = 16 : i32}, %o: !tt.ptr<$E> {tt.divisibility = 16 : i32},
      %m: i32, %n: i32, %row: i32, %column: i32 {tt.divisibility = 16 : i32}) {
    %one = arith.constant 1 : i64
    %pitch = arith.constant $P : i64
    %c2 = arith.constant 2 : i32
    %c16 = arith.constant 16 : i32
    %d = tt.make_tensor_descriptor %x, [%m, %n], [%pitch, %one]$PAD : <$E>, <$Rx$Cx$E>
    %e = tt.make_tensor_descriptor %o, [%m, %n], [%pitch, %one] : <$E>, <$Rx$Cx$E>
    %v = tt.descriptor_load %d[%row, %column] : !tt.tensordesc<$Rx$Cx$E> -> tensor<$Rx$Cx$E>
    tt.descriptor_store %e[%c2, %c16], %v : !tt.tensordesc<$Rx$Cx$E>, tensor<$Rx$Cx$E>
    tt.return
  })",
      {{"$PAD", copy.padding},
       {"$P", std::to_string(copy.pitch)},
       {"$R", std::to_string(copy.rows)},
       {"$C", std::to_string(copy.columns)},
       {"$E", copy.element}});
}

class Blocks : public testing::TestWithParam<Copy> {};

TEST_P(Blocks, AreThoseOfTheArray) {
  const Copy &copy = GetParam();
  const int32_t m = 40, n = int32_t(copy.pitch) - 16;
  for (auto [row, column] : {std::pair{0, 0}, {-3, 16}, {m - 2, -16}, {m, 0}, {7, 48}, {0x7ffffff0, -0x7ffffff0}}) {
    const Buffer from = Buffer::of(someNumbers<uint8_t>(m * copy.pitch * copy.bytes));
    const Buffer to = Buffer::of(std::vector<uint8_t>(m * copy.pitch * copy.bytes, 0x33));
    expectSameAsCpu({.text = tmaCopyText(copy),
                     .parameters = {from, to, m, n, row, column},
                     .warps = {1, 4},
                     .hasTensorCopies = true,
                     .expected = {kLoad, kStore}});
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, Blocks,
                         testing::Values(Copy{"f16", 2, 16, 8}, Copy{"f16", 2, 16, 16}, Copy{"f16", 2, 16, 32},
                                         Copy{"bf16", 2, 16, 64, 128}, Copy{"f16", 2, 8, 128, 256},
                                         Copy{"i8", 1, 32, 16}, Copy{"i8", 1, 8, 128, 256}, Copy{"f32", 4, 8, 32, 64},
                                         Copy{"f32", 4, 8, 64, 128}, Copy{"i64", 8, 8, 2}, Copy{"i64", 8, 16, 32, 64},
                                         Copy{"f64", 8, 8, 16}));

TEST(Tma, PadsWithNan) {
  const Copy copy = {"f32", 4, 8, 32, 64, " {padding = 2 : i32}"};
  expectSameAsCpu({.text = tmaCopyText(copy),
                   .parameters = {Buffer::of(someNumbers<float>(40 * 64), Buffer::Kind::Single),
                                  Buffer::zeros(40 * 64 * 4, Buffer::Kind::Single), 20, 50, 15, 32},
                   .warps = {2},
                   .hasTensorCopies = true,
                   .expected = {kLoad}});
}

TEST(Tma, ArraysWithoutElementsAreLeftAlone) {
  const Copy copy = {"f16", 2, 16, 32, 64};
  for (auto [m, n] : {std::pair{0, 32}, {16, 0}, {-1, 32}})
    expectSameAsCpu({.text = tmaCopyText(copy),
                     .parameters = {Buffer::of(someNumbers<uint16_t>(64 * 40)),
                                    Buffer::of(someNumbers<uint16_t>(64 * 40, 7)), m, n, -1, 0},
                     .warps = {1},
                     .hasTensorCopies = true,
                     .expected = {kLoad, kStore}});
}

TEST(Tma, RowsOfSeveralDimensionsAreOneTile) {
  const std::string text =
      R"(tt.func public @kernel(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %i: i32) {
    %one = arith.constant 1 : i64
    %s0 = arith.constant 320 : i64
    %s1 = arith.constant 64 : i64
    %a = arith.constant 3 : i32
    %b = arith.constant 5 : i32
    %c = arith.constant 41 : i32
    %zero = arith.constant 0 : i32
    %d = tt.make_tensor_descriptor %x, [%a, %b, %c], [%s0, %s1, %one] : <f32>, <2x4x64xf32>
    %e = tt.make_tensor_descriptor %o, [%a, %b, %c], [%s0, %s1, %one] : <f32>, <2x4x64xf32>
    %v = tt.descriptor_load %d[%i, %i, %zero] : !tt.tensordesc<2x4x64xf32> -> tensor<2x4x64xf32>
    %w = arith.addf %v, %v : tensor<2x4x64xf32>
    tt.descriptor_store %e[%zero, %i, %zero], %w : !tt.tensordesc<2x4x64xf32>, tensor<2x4x64xf32>
    tt.return
  })";
  for (int32_t start : {-1, 0, 2})
    expectSameAsCpu({.text = text,
                     .parameters = {Buffer::of(someNumbers<float>(960)), Buffer::zeros(960 * 4), start},
                     .warps = {1, 4},
                     .hasTensorCopies = true,
                     .expected = {kLoad, kStore}});
}

/// Where TMA would trap, or write beyond the ends of rows, threads store.
TEST(Tma, StoresAnywhere) {
  const std::string text =
      R"(tt.func public @kernel(%x: !tt.ptr<$E> {tt.divisibility = 16 : i32}, %o: !tt.ptr<$E> {tt.divisibility = 16 : i32},
      %m: i32, %n: i32, %i: i32, %row: i32, %column: i32 {tt.divisibility = 16 : i32}) {
    %one = arith.constant 1 : i64
    %s0 = arith.constant 1280 : i64
    %s1 = arith.constant 128 : i64
    %c0 = arith.constant 0 : i32
    %c8 = arith.constant 8 : i32
    %c64 = arith.constant 64 : i32
    %d = tt.make_tensor_descriptor %x, [%c8, %c64], [%s1, %one] : <$E>, <8x64x$S>
    %v = tt.descriptor_load %d[%c0, %c0] : !tt.tensordesc<8x64x$S> -> tensor<8x64x$E>
    %w = tt.reshape %v : tensor<8x64x$E> -> tensor<2x4x64x$E>
    %e = tt.make_tensor_descriptor %o, [%m, %m, %n], [%s0, %s1, %one] : <$E>, <2x4x64x$S>
    $STORE
    tt.return
  })";
  const std::pair<const char *, const char *> elements[] = {
      {"f16", "f16"}, {"i32", "ui32"}, {"f32", "f32"}, {"i64", "ui64"}};
  for (auto [element, name] : elements) {
    const bool isFloat = element[0] == 'f';
    for (const char *kind : {"", "add", "max", "xor"}) {
      if (isFloat && *kind && (*kind != 'a' || name == elements[0].second))
        continue;
      const std::string store = *kind ? "tt.descriptor_reduce " + std::string(kind) + ", %e[%i, %row, %column], %w"
                                      : std::string("tt.descriptor_store %e[%i, %row, %column], %w");
      const unsigned bytes = atoi(element + 1) / 8;
      for (auto [n, i, row, column] : {std::array{101, 0, 0, 0},
                                       {96, -1, 2, 16},
                                       {96, 1, -3, 0},
                                       {101, 2, 5, 64},
                                       {96, 0, 1, -32},
                                       {96, 4, 4, 48}})
        expectSameAsCpu({.text = withNames(text, {{"$STORE", store + " : !tt.tensordesc<2x4x64x$S>, tensor<2x4x64x$E>"},
                                                  {"$E", element},
                                                  {"$S", name}}),
                         .parameters = {Buffer::of(smallNumbersOf(bytes, isFloat, 8 * 128, 3)),
                                        Buffer::of(smallNumbersOf(bytes, isFloat, 5 * 1280, 4)), 5, n, i, row, column},
                         .warps = {4},
                         .hasTensorCopies = true,
                         .expected = {kLoad, kStore}});
    }
  }
}

TEST(Tma, CombinesWithWhatIsThere) {
  const std::string text =
      R"(tt.func public @kernel(%x: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %o: !tt.ptr<i32> {tt.divisibility = 16 : i32}) {
    %one = arith.constant 1 : i64
    %pitch = arith.constant 32 : i64
    %m = arith.constant 9 : i32
    %n = arith.constant 29 : i32
    %zero = arith.constant 0 : i32
    %row = arith.constant 4 : i32
    %d = tt.make_tensor_descriptor %x, [%m, %n], [%pitch, %one] : <i32>, <8x16xsi32>
    %e = tt.make_tensor_descriptor %o, [%m, %n], [%pitch, %one] : <i32>, <8x16xsi32>
    %v = tt.descriptor_load %d[%zero, %zero] : !tt.tensordesc<8x16xsi32> -> tensor<8x16xi32>
    tt.descriptor_reduce $KIND, %e[%row, %row], %v : !tt.tensordesc<8x16xsi32>, tensor<8x16xi32>
    tt.return
  })";
  for (const char *kind : {"add", "min", "max", "and", "or", "xor"})
    expectSameAsCpu(
        {.text = replaced(text, "$KIND", kind),
         .parameters = {Buffer::of(someNumbers<int32_t>(9 * 32)), Buffer::of(someNumbers<int32_t>(9 * 32, 5))},
         .warps = {4},
         .hasTensorCopies = true,
         .expected = {kStore, "kind"}});
}

TEST(Tma, TensorMapsOfEachIterationAreNew) {
  const std::string text =
      R"(tt.func public @kernel(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %k: i32) {
    %one = arith.constant 1 : i64
    %pitch = arith.constant 16 : i64
    %m = arith.constant 8 : i32
    %c0 = arith.constant 0 : i32
    %c1 = arith.constant 1 : i32
    %step = arith.constant 128 : i32
    scf.for %i = %c0 to %k step %c1 : i32 {
      %at = arith.muli %i, %step : i32
      %n = arith.addi %i, %m : i32
      %p = tt.addptr %x, %at : !tt.ptr<f32>, i32
      %q = tt.addptr %o, %at : !tt.ptr<f32>, i32
      %d = tt.make_tensor_descriptor %p, [%m, %n], [%pitch, %one] : <f32>, <8x16xf32>
      %e = tt.make_tensor_descriptor %q, [%n, %m], [%pitch, %one] : <f32>, <8x16xf32>
      %v = tt.descriptor_load %d[%c1, %c0] : !tt.tensordesc<8x16xf32> -> tensor<8x16xf32>
      tt.descriptor_store %e[%c0, %c0], %v : !tt.tensordesc<8x16xf32>, tensor<8x16xf32>
    }
    tt.return
  })";
  expectSameAsCpu({.text = text,
                   .parameters = {Buffer::of(someNumbers<float>(128 * 5)), Buffer::zeros(128 * 5 * 4), 5},
                   .grid = {2, 1, 1},
                   .warps = {1, 4},
                   .hasTensorCopies = true,
                   .expected = {kLoad, kStore}});
}

TEST(Tma, StridesThatAreNotKnownStayPointers) {
  std::string text = tmaCopyText({"f16", 2, 16, 32, 64});
  text = replaced(text, "%pitch = arith.constant 64 : i64", "%pitch = arith.extsi %n : i32 to i64");
  std::string error;
  auto kernel = SimtKernel::compile(text, 4, &error, false, /*hasTensorCopies=*/true);
  ASSERT_TRUE(kernel) << error;
  EXPECT_EQ(kernel->ttgir.find("ttng."), std::string::npos) << kernel->ttgir;
  EXPECT_NE(error.find("a stride is not known to be a multiple of 16 bytes"), std::string::npos) << error;
}

TEST(Tma, BlocksThatBeginAnywhereStayPointers) {
  std::string error;
  const std::string text =
      replaced(tmaCopyText({"f16", 2, 16, 32, 64}), "%column: i32 {tt.divisibility = 16 : i32}", "%column: i32");
  auto kernel = SimtKernel::compile(text, 4, &error, false, /*hasTensorCopies=*/true);
  ASSERT_TRUE(kernel) << error;
  EXPECT_EQ(kernel->ttgir.find("ttng."), std::string::npos) << kernel->ttgir;
  EXPECT_NE(error.find("the last index is not known to be a multiple of 16 bytes"), std::string::npos) << error;
}

//--- loops ---------------------------------------------------------------------------------

struct TmaLoop {
  unsigned stages, warps;
  bool hasWarpGroups, transposesRight;
  unsigned numCtas = 1; ///< above 1 the blocks are split over a cluster
};

/// C = A B in steps of 32 along K, which the last step exceeds, by blocks of 64 x 32.
std::string matmul(const TmaLoop &loop) {
  return withNames(
      R"(tt.func public @kernel(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32},
      %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %m: i32, %n: i32, %k: i32) {
    %one = arith.constant 1 : i64
    %pitch = arith.constant 160 : i64
    %wide = arith.constant 64 : i64
    %c0 = arith.constant 0 : i32
    %c32 = arith.constant 32 : i32
    %c64 = arith.constant 64 : i32
    %zero = arith.constant dense<0.0> : tensor<64x32xf32>
    %da = tt.make_tensor_descriptor %a, [%m, %k], [%pitch, %one] : <f16>, <64x32xf16>
    %db = tt.make_tensor_descriptor %b, [$BM, $BN], [$BP, %one] : <f16>, <32x32xf16>
    %do = tt.make_tensor_descriptor %o, [%m, %n], [%wide, %one] : <f32>, <64x32xf32>
    %px = tt.get_program_id x : i32
    %py = tt.get_program_id y : i32
    %row = arith.muli %px, %c64 : i32
    %column = arith.muli %py, %c32 : i32
    %r = scf.for %i = %c0 to %k step %c32 iter_args(%acc = %zero) -> (tensor<64x32xf32>) : i32 {
      %x = tt.descriptor_load %da[%row, %i] : !tt.tensordesc<64x32xf16> -> tensor<64x32xf16>
      %z = tt.descriptor_load %db[$AT] : !tt.tensordesc<32x32xf16> -> tensor<32x32xf16>
      %y = $TRANSPOSE
      %d = tt.dot %x, %y, %acc : tensor<64x32xf16> * tensor<32x32xf16> -> tensor<64x32xf32>
      scf.yield %d : tensor<64x32xf32>
    } {tt.num_stages = $STAGES : i32}
    tt.descriptor_store %do[%row, %column], %r : !tt.tensordesc<64x32xf32>, tensor<64x32xf32>
    tt.return
  })",
      {{"$BM", loop.transposesRight ? "%n" : "%k"},
       {"$BN", loop.transposesRight ? "%k" : "%n"},
       {"$BP", loop.transposesRight ? "%pitch" : "%wide"},
       {"$AT", loop.transposesRight ? "%column, %i" : "%i, %column"},
       {"$TRANSPOSE", loop.transposesRight
                          ? "tt.trans %z {order = array<i32: 1, 0>} : tensor<32x32xf16> -> tensor<32x32xf16>"
                          : "arith.bitcast %z : tensor<32x32xf16> to tensor<32x32xf16>"},
       {"$STAGES", std::to_string(loop.stages)}});
}

class Loops : public testing::TestWithParam<TmaLoop> {};

TEST_P(Loops, GiveTheMatmul) {
  const TmaLoop &loop = GetParam();
  for (int32_t k : {0, 7, 32, 70, 150})
    expectSameAsCpu(
        {.text = matmul(loop),
         .parameters = {smallNumbers(100 * 160, 1), smallNumbers(160 * 160, 2), Buffer::zeros(100 * 64 * 4), 100, 50,
                        k},
         .grid = {2, 2, 1},
         .warps = {loop.warps},
         .hasWarpGroups = loop.hasWarpGroups,
         .hasTensorCopies = true,
         .numCtas = loop.numCtas,
         .expected = {kLoad, "ttng.wait_barrier", loop.numCtas > 1 ? "ttng.cluster_split" : "\"ttg.num-ctas\" = 1",
                      loop.hasWarpGroups ? "ttng.warp_group_dot" : "tt.dot"}});
}

INSTANTIATE_TEST_SUITE_P(Kinds, Loops,
                         testing::Values(TmaLoop{1, 4, true, false}, TmaLoop{2, 4, true, false},
                                         TmaLoop{3, 4, true, true}, TmaLoop{4, 4, true, false},
                                         TmaLoop{3, 2, false, false}, TmaLoop{3, 2, false, true},
                                         TmaLoop{1, 1, false, true}, TmaLoop{3, 4, true, false, 2},
                                         TmaLoop{2, 4, true, true, 2}, TmaLoop{3, 2, false, true, 2},
                                         TmaLoop{1, 1, false, false, 4}));

/// O = sum of (Q K^T, narrowed) V over blocks of 32 keys, each product of which a producer's tiles feed.
const char *const kChain =
    R"(tt.func public @kernel(%q: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %k: !tt.ptr<f16> {tt.divisibility = 16 : i32},
      %v: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
    %one = arith.constant 1 : i64
    %pitch = arith.constant 32 : i64
    %c0 = arith.constant 0 : i32
    %c32 = arith.constant 32 : i32
    %c128 = arith.constant 128 : i32
    %zero = arith.constant dense<0.0> : tensor<128x32xf32>
    %dq = tt.make_tensor_descriptor %q, [%c128, %c32], [%pitch, %one] : <f16>, <128x32xf16>
    %dk = tt.make_tensor_descriptor %k, [%n, %c32], [%pitch, %one] : <f16>, <32x32xf16>
    %dv = tt.make_tensor_descriptor %v, [%n, %c32], [%pitch, %one] : <f16>, <32x32xf16>
    %do = tt.make_tensor_descriptor %o, [%c128, %c32], [%pitch, %one] : <f32>, <128x32xf32>
    %x = tt.descriptor_load %dq[%c0, %c0] : !tt.tensordesc<128x32xf16> -> tensor<128x32xf16>
    %r = scf.for %i = %c0 to %n step %c32 iter_args(%acc = %zero) -> (tensor<128x32xf32>) : i32 {
      %y1 = tt.descriptor_load %dk[%i, %c0] : !tt.tensordesc<32x32xf16> -> tensor<32x32xf16>
      %y = tt.trans %y1 {order = array<i32: 1, 0>} : tensor<32x32xf16> -> tensor<32x32xf16>
      %s = tt.dot %x, %y, %zero : tensor<128x32xf16> * tensor<32x32xf16> -> tensor<128x32xf32>
      %p = arith.truncf %s : tensor<128x32xf32> to tensor<128x32xf16>
      %w = tt.descriptor_load %dv[%i, %c0] : !tt.tensordesc<32x32xf16> -> tensor<32x32xf16>
      %d = tt.dot %p, %w, %acc : tensor<128x32xf16> * tensor<32x32xf16> -> tensor<128x32xf32>
      scf.yield %d : tensor<128x32xf32>
    } {tt.num_stages = $STAGES : i32}
    tt.descriptor_store %do[%c0, %c0], %r : !tt.tensordesc<128x32xf32>, tensor<128x32xf32>
    tt.return
  })";

/// One lane of the producer starts the copies; the others wait with it, as lanes that come late could miss a phase.
TEST(Tma, LanesOfAProducerWaitTogether) {
  for (const char *stages : {"2", "3"})
    for (int32_t keys : {0, 32, 70, 320})
      expectSameAsCpu({.text = withNames(kChain, {{"$STAGES", stages}}),
                       .parameters = {smallNumbers(128 * 32, 1), smallNumbers(320 * 32, 2), smallNumbers(320 * 32, 3),
                                      Buffer::zeros(128 * 32 * 4), keys},
                       .warps = {8},
                       .hasWarpGroups = true,
                       .hasTensorCopies = true,
                       .expected = {"ttg.warp_specialize", "{byWarp}"}});
}

TEST(Tma, OperandsOfWarpGroupsNeedNoRegisters) {
  std::string error;
  auto kernel = SimtKernel::compile(matmul({3, 4, true, true}), 4, &error, true, true);
  ASSERT_TRUE(kernel) << error;
  EXPECT_EQ(kernel->ttgir.find("ttg.local_load"), std::string::npos) << kernel->ttgir;
}

/// Sums blocks along the rows of an array of m x 32, plus one for each.
const char *const kSums =
    R"(tt.func public @kernel(%x: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %m: i32) {
    %one = arith.constant 1 : i64
    %pitch = arith.constant 32 : i64
    %c0 = arith.constant 0 : i32
    %c8 = arith.constant 8 : i32
    %c32 = arith.constant 32 : i32
    %zero = arith.constant dense<0.0> : tensor<8x32xf32>
    %count = arith.constant dense<1.0> : tensor<8x32xf32>
    %d = tt.make_tensor_descriptor %x, [%m, %c32], [%pitch, %one] : <f32>, <8x32xf32>
    %e = tt.make_tensor_descriptor %o, [%m, %c32], [%pitch, %one] : <f32>, <8x32xf32>
    %sum = scf.for %i = %c0 to %m step %c8 iter_args(%acc = %zero) -> (tensor<8x32xf32>) : i32 {
      %v = tt.descriptor_load %d[%i, %c0] : !tt.tensordesc<8x32xf32> -> tensor<8x32xf32>
      %s = arith.addf %acc, %v : tensor<8x32xf32>
      $STORE
      %t = arith.addf %s, %count : tensor<8x32xf32>
      scf.yield %t : tensor<8x32xf32>
    } {tt.num_stages = $STAGES : i32}
    tt.descriptor_store %e[%c0, %c0], %sum : !tt.tensordesc<8x32xf32>, tensor<8x32xf32>
    tt.return
  })";

TEST(Tma, BlocksOfLoopsWithoutDotsArePrefetched) {
  for (const char *stages : {"1", "2", "4"})
    for (const char *store : {"", "tt.descriptor_store %e[%i, %c0], %s : !tt.tensordesc<8x32xf32>, tensor<8x32xf32>"})
      for (int32_t m : {0, 5, 8, 50})
        expectSameAsCpu({.text = withNames(kSums, {{"$STAGES", stages}, {"$STORE", store}}),
                         .parameters = {Buffer::of(someNumbers<float>(50 * 32), Buffer::Kind::Single),
                                        Buffer::zeros(50 * 32 * 4, Buffer::Kind::Single), m},
                         .warps = {1, 4},
                         .hasTensorCopies = true,
                         .expected = {kLoad, *stages > '1' ? "tt.scheduled_max_stage" : "ttng.wait_barrier"}});
}

TEST(Tma, OneBarrierATurn) {
  std::string error;
  auto kernel = SimtKernel::compile(withNames(kSums, {{"$STAGES", "3"}, {"$STORE", ""}}), 4, &error, false, true);
  ASSERT_TRUE(kernel) << error;
  // Before the loop: between two tensor maps, and after initialisation of the barriers. One in the loop. After it:
  // around the stored block.
  EXPECT_EQ(kernel->barriers(), 5u) << kernel->ttgir;
}

//--- missing synchronisation is exposed ----------------------------------------------------

std::string withoutLines(const std::string &text, const std::string &what) {
  std::string kept;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin);
    const std::string line = text.substr(begin, end - begin + 1);
    if (line.find(what) == std::string::npos)
      kept += line;
    begin += line.size();
  }
  return kept;
}

/// Whether the kernel's copy of the block is correct.
bool copies(const SimtKernel &kernel, Order order) {
  alignas(64) uint16_t from[40 * 64], to[40 * 64] = {};
  for (int index = 0; index < 40 * 64; ++index)
    from[index] = uint16_t(index + 1);
  Arguments arguments;
  arguments.add(&from[0]).add(&to[0]).add(40).add(56).add(0).add(0);
  if (!kernel.run({1, 1, 1}, arguments, order))
    return false;
  for (int row = 0; row < 16; ++row)
    for (int column = 0; column < 32; ++column)
      if (to[(row + 2) * 64 + column + 16] != from[row * 64 + column])
        return false;
  return true;
}

TEST(Tma, WaitsAreNeeded) {
  std::string error;
  auto whole = SimtKernel::compile(tmaCopyText({"f16", 2, 16, 32}), 1, &error, false, true);
  ASSERT_TRUE(whole) << error;
  EXPECT_TRUE(copies(*whole, Order::Ascending) && copies(*whole, Order::Mixed));
  std::string text = withoutLines(whole->ttgir, "ttng.wait_barrier");
  text = withoutLines(text, "ttng.inval_barrier");
  auto waitless = SimtKernel::compile(text, 1, &error);
  ASSERT_TRUE(waitless) << error;
  EXPECT_FALSE(copies(*waitless, Order::Ascending));
  auto storeWaitless = SimtKernel::compile(withoutLines(whole->ttgir, "ttng.async_tma_store_wait"), 1, &error);
  ASSERT_TRUE(storeWaitless) << error;
  storeWaitless->checks = artifact::Sync; // the simulated GPU ends a copy before its CTA
  EXPECT_FALSE(copies(*storeWaitless, Order::Ascending));
}

} // namespace
} // namespace nereid::simt
