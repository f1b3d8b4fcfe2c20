// Tests a loop of two dots whose four tiles do not fit into shared memory twice: only some loads are pipelined.
// SPDX-License-Identifier: MIT
#include "test/unit/lowering/Differential.h"

#include "gtest/gtest.h"

namespace nereid::simt {
namespace {

/// Tiles of 128 x 128 in sequence; an iteration takes the next of each operand.
const char *const kernelText =
    R"(tt.func public @kernel(%a: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %b: !tt.ptr<f16> {tt.divisibility = 16 : i32},
    %c: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %d: !tt.ptr<f16> {tt.divisibility = 16 : i32},
    %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %trips: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %zero = arith.constant dense<0.0> : tensor<128x128xf32>
  %step = arith.constant dense<16384> : tensor<128x128xi32>
  %pitch = arith.constant dense<128> : tensor<128x1xi32>
  %r = tt.make_range {end = 128 : i32, start = 0 : i32} : tensor<128xi32>
  %row = tt.expand_dims %r {axis = 1 : i32} : tensor<128xi32> -> tensor<128x1xi32>
  %column = tt.expand_dims %r {axis = 0 : i32} : tensor<128xi32> -> tensor<1x128xi32>
  %start = arith.muli %row, %pitch : tensor<128x1xi32>
  %starts = tt.broadcast %start : tensor<128x1xi32> -> tensor<128x128xi32>
  %columns = tt.broadcast %column : tensor<1x128xi32> -> tensor<128x128xi32>
  %at = arith.addi %starts, %columns : tensor<128x128xi32>
  %r4:3 = scf.for %i = %c0 to %trips step %c1 iter_args(%x = %zero, %y = %zero, %off = %at) -> (tensor<128x128xf32>, tensor<128x128xf32>, tensor<128x128xi32>) : i32 {
    %sa = tt.splat %a : !tt.ptr<f16> -> tensor<128x128x!tt.ptr<f16>>
    %pa = tt.addptr %sa, %off : tensor<128x128x!tt.ptr<f16>>, tensor<128x128xi32>
    %ta = tt.load %pa : tensor<128x128x!tt.ptr<f16>>
    %sb = tt.splat %b : !tt.ptr<f16> -> tensor<128x128x!tt.ptr<f16>>
    %pb = tt.addptr %sb, %off : tensor<128x128x!tt.ptr<f16>>, tensor<128x128xi32>
    %tb = tt.load %pb : tensor<128x128x!tt.ptr<f16>>
    %sc = tt.splat %c : !tt.ptr<f16> -> tensor<128x128x!tt.ptr<f16>>
    %pc = tt.addptr %sc, %off : tensor<128x128x!tt.ptr<f16>>, tensor<128x128xi32>
    %tc = tt.load %pc : tensor<128x128x!tt.ptr<f16>>
    %sd = tt.splat %d : !tt.ptr<f16> -> tensor<128x128x!tt.ptr<f16>>
    %pd = tt.addptr %sd, %off : tensor<128x128x!tt.ptr<f16>>, tensor<128x128xi32>
    %td = tt.load %pd : tensor<128x128x!tt.ptr<f16>>
    %x1 = tt.dot %ta, %tb, %x : tensor<128x128xf16> * tensor<128x128xf16> -> tensor<128x128xf32>
    %y1 = tt.dot %tc, %td, %y : tensor<128x128xf16> * tensor<128x128xf16> -> tensor<128x128xf32>
    %off1 = arith.addi %off, %step : tensor<128x128xi32>
    scf.yield %x1, %y1, %off1 : tensor<128x128xf32>, tensor<128x128xf32>, tensor<128x128xi32>
  } {tt.num_stages = 3 : i32}
  %so = tt.splat %o : !tt.ptr<f32> -> tensor<128x128x!tt.ptr<f32>>
  %po = tt.addptr %so, %at : tensor<128x128x!tt.ptr<f32>>, tensor<128x128xi32>
  tt.store %po, %r4#0 : tensor<128x128x!tt.ptr<f32>>
  %pn = tt.addptr %po, %step : tensor<128x128x!tt.ptr<f32>>, tensor<128x128xi32>
  tt.store %pn, %r4#1 : tensor<128x128x!tt.ptr<f32>>
  tt.return
})";

constexpr size_t kCount = 2 * 128 * 128;

TEST(ShortOfMemory, SomeLoadsRunAheadAndTheResultIsTheSame) {
  for (bool hasWarpGroups : {false, true})
    expectSameAsCpu({.text = kernelText,
                     .parameters = {smallNumbers(kCount, 1), smallNumbers(kCount, 2), smallNumbers(kCount, 3),
                                    smallNumbers(kCount, 4), Buffer::zeros(2 * 128 * 128 * 4), int32_t(2)},
                     .warps = {8},
                     .hasWarpGroups = hasWarpGroups,
                     .expected = {"tt.scheduled_max_stage = 1", "ttg.async_copy_global_to_local"}});
}

TEST(ShortOfMemory, OneLoadStaysWhereItIs) {
  auto kernel = SimtKernel::compile(kernelText, 8, nullptr, true);
  ASSERT_TRUE(kernel);
  const llvm::StringRef text = kernel->ttgir;
  const llvm::StringRef loop = text.substr(text.find("scf.for"));
  EXPECT_EQ(loop.count("ttg.async_copy_global_to_local"), 3u) << kernel->ttgir;
  EXPECT_EQ(loop.count("tt.load "), 1u) << kernel->ttgir;
}

} // namespace
} // namespace nereid::simt
