// Tests programs whose warps do different work: multi-buffered allocations between regions, barriers within them.
// SPDX-License-Identifier: MIT
#include "test/unit/lowering/Differential.h"
#include "test/unit/lowering/SimtHost.h"

#include "llvm/Support/FormatVariadic.h"

#include "gtest/gtest.h"

namespace nereid::simt {
namespace {

constexpr Order kOrders[] = {Order::Ascending, Order::AtOnce, Order::Mixed};

std::string withNames(std::string text, std::initializer_list<std::pair<const char *, std::string>> names) {
  for (const auto &[name, value] : names)
    text = replaced(text, name, value);
  return text;
}

/// An allocation of `stages` buffers, which a partition of four warps fills for a default region of `warps`.
struct MultiBuffer {
  unsigned stages = 2, warps = 4;

  std::string in(const std::string &text) const {
    return withNames(text, {{"$STAGES", std::to_string(stages)},
                            {"$WARPS", std::to_string(warps)},
                            {"$ALL", std::to_string(warps + 4)},
                            {"$M", std::to_string(16 * warps)}});
  }
};

const char *const kModule = R"(
#flat = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#p = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#c = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [$WARPS], order = [0]}>
#q = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [8, 4], warpsPerCTA = [4, 1], order = [1, 0]}>
#mma = #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [$WARPS, 1], instrShape = [16, 32, 16]}>
#rows = #ttg.nvmma_shared<{swizzlingByteWidth = 64, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = $WARPS : i32, "ttg.total-num-warps" = $ALL : i32,
                   ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
)";

const char *const kBarriers = R"(
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %stages = arith.constant $STAGES : i32
  %full = ttg.local_alloc : () -> !ttg.memdesc<$STAGESx1xi64, #flat, #smem, mutable>
  %empty = ttg.local_alloc : () -> !ttg.memdesc<$STAGESx1xi64, #flat, #smem, mutable>
  ttng.init_barrier %full, 128 : !ttg.memdesc<$STAGESx1xi64, #flat, #smem, mutable>
  ttng.init_barrier %empty, $WARPS : !ttg.memdesc<$STAGESx1xi64, #flat, #smem, mutable>
)";

/// The stage of iteration %i, its parity and its barriers.
const char *const kStage = R"(
      %stage = arith.remui %i, %stages : i32
      %round = arith.divui %i, %stages : i32
      %phase = arith.andi %round, %c1 : i32
      %f = ttg.memdesc_index %full[%stage] : !ttg.memdesc<$STAGESx1xi64, #flat, #smem, mutable> -> !ttg.memdesc<1xi64, #flat, #smem, mutable>
      %e = ttg.memdesc_index %empty[%stage] : !ttg.memdesc<$STAGESx1xi64, #flat, #smem, mutable> -> !ttg.memdesc<1xi64, #flat, #smem, mutable>
)";
const std::string kWaitFull = "ttng.wait_barrier %f, %phase : !ttg.memdesc<1xi64, #flat, #smem, mutable>";
const std::string kArriveEmpty = "ttng.arrive_barrier %e, 1 {byWarp} : !ttg.memdesc<1xi64, #flat, #smem, mutable>";
const std::string kWaitEmpty = R"(%other = arith.xori %phase, %c1 : i32
      ttng.wait_barrier %e, %other : !ttg.memdesc<1xi64, #flat, #smem, mutable>)";
const std::string kArriveFull =
    "ttng.async_copy_mbarrier_arrive %f {noIncrement} : !ttg.memdesc<1xi64, #flat, #smem, mutable>";

//--- copies and reductions -----------------------------------------------------------------

/// Copies `n` tiles of 512 integers from %x to %o and stores the sum of each to %s, twice: both regions reduce it.
std::string specializedText(const MultiBuffer &multiBuffer) {
  return multiBuffer.in(std::string(kModule) + R"(
tt.func public @kernel(%x: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %o: !tt.ptr<i32> {tt.divisibility = 16 : i32},
                       %s: !tt.ptr<i32>, %n: i32) {
  %c2 = arith.constant 2 : i32
  %c512 = arith.constant 512 : i32
  %buffers = ttg.local_alloc : () -> !ttg.memdesc<$STAGESx512xi32, #flat, #smem, mutable>)" +
                        kBarriers + R"(
  ttg.warp_specialize attributes {actualRegisters = array<i32: 160, 64>} default {
    %k = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32, #c>
    scf.for %i = %c0 to %n step %c1 : i32 {)" +
                        kStage + R"(
      )" + kWaitFull +
                        R"(
      %b = ttg.memdesc_index %buffers[%stage] : !ttg.memdesc<$STAGESx512xi32, #flat, #smem, mutable> -> !ttg.memdesc<512xi32, #flat, #smem, mutable>
      %v = ttg.local_load %b : !ttg.memdesc<512xi32, #flat, #smem, mutable> -> tensor<512xi32, #c>
      )" + kArriveEmpty +
                        R"(
      %sum = "tt.reduce"(%v) <{axis = 0 : i32}> ({
      ^bb0(%a: i32, %d: i32):
        %add = arith.addi %a, %d : i32
        tt.reduce.return %add : i32
      }) : (tensor<512xi32, #c>) -> i32
      %two = arith.muli %i, %c2 : i32
      %sp = tt.addptr %s, %two : !tt.ptr<i32>, i32
      tt.store %sp, %sum : !tt.ptr<i32>
      %first = arith.muli %i, %c512 : i32
      %op = tt.addptr %o, %first : !tt.ptr<i32>, i32
      %os = tt.splat %op : !tt.ptr<i32> -> tensor<512x!tt.ptr<i32>, #c>
      %at = tt.addptr %os, %k : tensor<512x!tt.ptr<i32>, #c>, tensor<512xi32, #c>
      tt.store %at, %v : tensor<512x!tt.ptr<i32>, #c>
    }
    ttg.warp_yield
  } partition0 num_warps(4) {
    %k = tt.make_range {start = 0 : i32, end = 512 : i32} : tensor<512xi32, #p>
    scf.for %i = %c0 to %n step %c1 : i32 {)" +
                        kStage + R"(
      %first = arith.muli %i, %c512 : i32
      %xp = tt.addptr %x, %first : !tt.ptr<i32>, i32
      %xs = tt.splat %xp : !tt.ptr<i32> -> tensor<512x!tt.ptr<i32>, #p>
      %from = tt.addptr %xs, %k : tensor<512x!tt.ptr<i32>, #p>, tensor<512xi32, #p>
      )" + kWaitEmpty +
                        R"(
      %b = ttg.memdesc_index %buffers[%stage] : !ttg.memdesc<$STAGESx512xi32, #flat, #smem, mutable> -> !ttg.memdesc<512xi32, #flat, #smem, mutable>
      %t = ttg.async_copy_global_to_local %from, %b : tensor<512x!tt.ptr<i32>, #p> -> !ttg.memdesc<512xi32, #flat, #smem, mutable>
      )" + kArriveFull +
                        R"(
      %v = tt.load %from : tensor<512x!tt.ptr<i32>, #p>
      %sum = "tt.reduce"(%v) <{axis = 0 : i32}> ({
      ^bb0(%a: i32, %d: i32):
        %add = arith.addi %a, %d : i32
        tt.reduce.return %add : i32
      }) : (tensor<512xi32, #p>) -> i32
      %two = arith.muli %i, %c2 : i32
      %next = arith.addi %two, %c1 : i32
      %sp = tt.addptr %s, %next : !tt.ptr<i32>, i32
      tt.store %sp, %sum : !tt.ptr<i32>
    }
    ttg.warp_return
  }
  tt.return
}
})");
}

struct Copied {
  bool ends = true;    ///< no thread waits forever
  bool isRight = true; ///< copies and sums
};

Copied runCopy(const SimtKernel &kernel, unsigned tiles, Order order) {
  const std::vector<int32_t> input = someNumbers<int32_t>(512 * tiles + 4);
  std::vector<int32_t> output(512 * tiles + 4, -1), sums(2 * tiles, -1);
  Arguments arguments;
  arguments.add(input.data()).add(output.data()).add(sums.data()).add<int32_t>(tiles);
  Copied result;
  result.ends = kernel.run({1, 1, 1}, arguments, order);
  for (unsigned tile = 0; tile < tiles; ++tile) {
    uint32_t sum = 0;
    for (unsigned index = 512 * tile; index < 512 * (tile + 1); ++index) {
      sum += static_cast<uint32_t>(input[index]);
      result.isRight &= output[index] == input[index];
    }
    result.isRight &= sums[2 * tile] == int32_t(sum) && sums[2 * tile + 1] == int32_t(sum);
  }
  return result;
}

std::unique_ptr<SimtKernel> compiled(const std::string &text) {
  std::string error;
  auto kernel = SimtKernel::compile(text, 4, &error);
  EXPECT_TRUE(kernel) << error << text;
  return kernel;
}

TEST(WarpSpecialize, RingsOfEveryLength) {
  for (unsigned stages : {2u, 3u})
    for (unsigned warps : {4u, 8u}) {
      const auto kernel = compiled(specializedText({stages, warps}));
      ASSERT_TRUE(kernel);
      for (unsigned tiles : {0u, 1u, 2u, 7u})
        for (Order order : kOrders) {
          SCOPED_TRACE(
              llvm::formatv("{0} stages, {1} warps, {2} tiles, order {3}", stages, warps, tiles, int(order)).str());
          const Copied result = runCopy(*kernel, tiles, order);
          EXPECT_TRUE(result.ends);
          EXPECT_TRUE(result.isRight);
        }
    }
}

/// What happens in some order of threads to a kernel without `op`.
Copied without(const std::string &op) {
  const auto kernel = compiled(replaced(specializedText({}), op, ""));
  Copied worst;
  for (Order order : kOrders) {
    const Copied result = runCopy(*kernel, 7, order);
    worst = {worst.ends && result.ends, worst.isRight && result.isRight};
  }
  return worst;
}

TEST(WarpSpecialize, EveryWaitAndArrivalIsNeeded) {
  EXPECT_FALSE(without(kWaitFull).isRight);
  EXPECT_FALSE(without(kWaitEmpty).isRight);
  EXPECT_FALSE(without(kArriveEmpty).ends);
  EXPECT_FALSE(without(kArriveFull).ends);
}

/// Sums across warps use a barrier of the region, not of the CTA: the CTA has the one before the op.
TEST(WarpSpecialize, BarriersCountTheRegion) {
  const auto kernel = compiled(specializedText({2, 8}));
  ASSERT_TRUE(kernel);
  EXPECT_EQ(kernel->asyncCopies(), 1u);
  EXPECT_EQ(kernel->countOf("bar.sync \t0;"), 1u);
  EXPECT_GT(kernel->countOf("bar.sync \t1, 256;"), 0u);
  EXPECT_GT(kernel->countOf("bar.sync \t2, 128;"), 0u);
}

//--- TMA -----------------------------------------------------------------------------------

/// Copies `n` blocks of 16 x 64 from %x to %o; a partition of one warp loads them by TMA.
const char *const kBlocks = R"(
#flat = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#c = #ttg.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#row = #ttg.slice<{dim = 1, parent = #c}>
#column = #ttg.slice<{dim = 0, parent = #c}>
#panels = #ttg.nvmma_shared<{swizzlingByteWidth = 128, transposed = false, elementBitWidth = 16}>
#smem = #ttg.shared_memory
!barriers = !ttg.memdesc<2x1xi64, #flat, #smem, mutable>
!barrier = !ttg.memdesc<1xi64, #flat, #smem, mutable>
!block = !ttg.memdesc<16x64xf16, #panels, #smem, mutable>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, "ttg.total-num-warps" = 5 : i32,
                   ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32,
                   ttg.global_scratch_memory_size = 256 : i32} {
tt.func public @kernel(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %o: !tt.ptr<f16> {tt.divisibility = 16 : i32},
                       %n: i32) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c2 = arith.constant 2 : i32
  %c16 = arith.constant 16 : i32
  %c1024 = arith.constant 1024 : i32
  %one = arith.constant 1 : i64
  %sixteen = arith.constant 16 : i64
  %pitch = arith.constant 64 : i64
  %no = arith.constant false
  %yes = arith.constant true
  %count = arith.extsi %n : i32 to i64
  %rows = arith.muli %count, %sixteen : i64
  %space = ttg.local_alloc {alignment = 128 : i32} : () -> !ttg.memdesc<16xi64, #flat, #smem, mutable>
  %map = ttng.make_tensor_map %x, [%rows, %pitch], [%pitch, %one] nan %no tf32 %no scratch %space : !ttg.memdesc<16xi64, #flat, #smem, mutable> {block = array<i64: 16, 64>, scratchOffset = 0 : i32} : <f16> -> <i8>
  %buffers = ttg.local_alloc : () -> !ttg.memdesc<2x16x64xf16, #panels, #smem, mutable>
  %full = ttg.local_alloc : () -> !barriers
  %empty = ttg.local_alloc : () -> !barriers
  ttng.init_barrier %full, 1 : !barriers
  ttng.init_barrier %empty, 4 : !barriers
  ttg.warp_specialize default {
    %i0 = tt.make_range {start = 0 : i32, end = 16 : i32} : tensor<16xi32, #row>
    %j0 = tt.make_range {start = 0 : i32, end = 64 : i32} : tensor<64xi32, #column>
    %i1 = tt.expand_dims %i0 {axis = 1 : i32} : tensor<16xi32, #row> -> tensor<16x1xi32, #c>
    %j1 = tt.expand_dims %j0 {axis = 0 : i32} : tensor<64xi32, #column> -> tensor<1x64xi32, #c>
    %width = arith.constant dense<64> : tensor<16x1xi32, #c>
    %i2 = arith.muli %i1, %width : tensor<16x1xi32, #c>
    %i3 = tt.broadcast %i2 : tensor<16x1xi32, #c> -> tensor<16x64xi32, #c>
    %j3 = tt.broadcast %j1 : tensor<1x64xi32, #c> -> tensor<16x64xi32, #c>
    %k = arith.addi %i3, %j3 : tensor<16x64xi32, #c>
    scf.for %i = %c0 to %n step %c1 : i32 {
      %stage = arith.remui %i, %c2 : i32
      %round = arith.divui %i, %c2 : i32
      %phase = arith.andi %round, %c1 : i32
      %f = ttg.memdesc_index %full[%stage] : !barriers -> !barrier
      %e = ttg.memdesc_index %empty[%stage] : !barriers -> !barrier
      ttng.wait_barrier %f, %phase : !barrier
      %b = ttg.memdesc_index %buffers[%stage] : !ttg.memdesc<2x16x64xf16, #panels, #smem, mutable> -> !block
      %v = ttg.local_load %b : !block -> tensor<16x64xf16, #c>
      ttng.arrive_barrier %e, 1 {byWarp} : !barrier
      %first = arith.muli %i, %c1024 : i32
      %op = tt.addptr %o, %first : !tt.ptr<f16>, i32
      %os = tt.splat %op : !tt.ptr<f16> -> tensor<16x64x!tt.ptr<f16>, #c>
      %at = tt.addptr %os, %k : tensor<16x64x!tt.ptr<f16>, #c>, tensor<16x64xi32, #c>
      tt.store %at, %v : tensor<16x64x!tt.ptr<f16>, #c>
    }
    ttg.warp_yield
  } partition0 num_warps(1) {
    scf.for %i = %c0 to %n step %c1 : i32 {
      %stage = arith.remui %i, %c2 : i32
      %round = arith.divui %i, %c2 : i32
      %phase = arith.andi %round, %c1 : i32
      %other = arith.xori %phase, %c1 : i32
      %f = ttg.memdesc_index %full[%stage] : !barriers -> !barrier
      %e = ttg.memdesc_index %empty[%stage] : !barriers -> !barrier
      ttng.wait_barrier %e, %other : !barrier
      %b = ttg.memdesc_index %buffers[%stage] : !ttg.memdesc<2x16x64xf16, #panels, #smem, mutable> -> !block
      %first = arith.muli %i, %c16 : i32
      ttng.barrier_expect %f, 2048, %yes : !barrier
      ttng.async_tma_copy_global_to_local %map[%first, %c0] %b, %f, %yes {block = array<i64: 16, 64>} : !tt.ptr<i8>, !barrier -> !block
    }
    ttg.warp_return
  }
  tt.return
}
})";

/// One thread of the partition, not of the CTA, issues the copies.
TEST(WarpSpecialize, OneWarpLoadsByTma) {
  const auto kernel = compiled(kBlocks);
  ASSERT_TRUE(kernel);
  for (unsigned blocks : {0u, 1u, 2u, 7u})
    for (Order order : kOrders) {
      std::vector<uint16_t> storage = someNumbers<uint16_t>(1024 * blocks + 64), output(1024 * blocks + 8);
      uint16_t *input = storage.data();
      while (reinterpret_cast<uintptr_t>(input) % 128)
        ++input;
      Arguments arguments;
      arguments.add(input).add(output.data()).add<int32_t>(blocks);
      EXPECT_TRUE(kernel->run({1, 1, 1}, arguments, order));
      EXPECT_TRUE(std::equal(input, input + 1024 * blocks, output.begin())) << blocks << ", order " << int(order);
    }
}

//--- dots ----------------------------------------------------------------------------------

/// A tile of pointers to `rows` x `columns` row-major elements from %from on, as %p.
std::string pointers(const char *from, const char *rows, const char *element, const char *layout) {
  return llvm::formatv(R"(
      %i{0} = tt.make_range {{start = 0 : i32, end = {1} : i32} : tensor<{1}xi32, #ttg.slice<{{dim = 1, parent = {3}}>>
      %j{0} = tt.make_range {{start = 0 : i32, end = 32 : i32} : tensor<32xi32, #ttg.slice<{{dim = 0, parent = {3}}>>
      %ie{0} = tt.expand_dims %i{0} {{axis = 1 : i32} : tensor<{1}xi32, #ttg.slice<{{dim = 1, parent = {3}}>> -> tensor<{1}x1xi32, {3}>
      %je{0} = tt.expand_dims %j{0} {{axis = 0 : i32} : tensor<32xi32, #ttg.slice<{{dim = 0, parent = {3}}>> -> tensor<1x32xi32, {3}>
      %pitch{0} = arith.constant dense<32> : tensor<{1}x1xi32, {3}>
      %start{0} = arith.muli %ie{0}, %pitch{0} : tensor<{1}x1xi32, {3}>
      %starts{0} = tt.broadcast %start{0} : tensor<{1}x1xi32, {3}> -> tensor<{1}x32xi32, {3}>
      %columns{0} = tt.broadcast %je{0} : tensor<1x32xi32, {3}> -> tensor<{1}x32xi32, {3}>
      %at{0} = arith.addi %starts{0}, %columns{0} : tensor<{1}x32xi32, {3}>
      %base{0} = tt.splat %{0} : !tt.ptr<{2}> -> tensor<{1}x32x!tt.ptr<{2}>, {3}>
      %p{0} = tt.addptr %base{0}, %at{0} : tensor<{1}x32x!tt.ptr<{2}>, {3}>, tensor<{1}x32xi32, {3}>
)",
                       from, rows, element, layout)
      .str();
}

/// Stores the sum of the dots of `n` tiles of $M x 32 at %x with tiles of 32 x 32 at %y.
std::string dotText(const MultiBuffer &multiBuffer) {
  const char *const buffers = R"(
      %a = ttg.memdesc_index %left[%stage] : !ttg.memdesc<$STAGESx$Mx32xf16, #rows, #smem, mutable> -> !ttg.memdesc<$Mx32xf16, #rows, #smem, mutable>
      %b = ttg.memdesc_index %right[%stage] : !ttg.memdesc<$STAGESx32x32xf16, #rows, #smem, mutable> -> !ttg.memdesc<32x32xf16, #rows, #smem, mutable>
)";
  std::string text = std::string(kModule) + R"(
tt.func public @kernel(%x: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %y: !tt.ptr<f16> {tt.divisibility = 16 : i32},
                       %o: !tt.ptr<f32> {tt.divisibility = 16 : i32}, %n: i32) {
  %cx = arith.constant $ELEMS : i32
  %cy = arith.constant 1024 : i32
  %left = ttg.local_alloc : () -> !ttg.memdesc<$STAGESx$Mx32xf16, #rows, #smem, mutable>
  %right = ttg.local_alloc : () -> !ttg.memdesc<$STAGESx32x32xf16, #rows, #smem, mutable>)" +
                     kBarriers + R"(
  ttg.warp_specialize default {
    %zero = arith.constant dense<0.0> : tensor<$Mx32xf32, #mma>
    %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %zero) -> (tensor<$Mx32xf32, #mma>) : i32 {)" +
                     kStage + kWaitFull + buffers + R"(
      %d = ttng.warp_group_dot %a, %b, %acc {inputPrecision = 0 : i32, isAsync = true} : !ttg.memdesc<$Mx32xf16, #rows, #smem, mutable> * !ttg.memdesc<32x32xf16, #rows, #smem, mutable> -> tensor<$Mx32xf32, #mma>
      %w = ttng.warp_group_dot_wait %d {pendings = 0 : i32} : tensor<$Mx32xf32, #mma>
      )" + kArriveEmpty +
                     R"(
      scf.yield %w : tensor<$Mx32xf32, #mma>
    })" + pointers("o", "$M", "f32", "#mma") +
                     R"(
    tt.store %po, %r : tensor<$Mx32x!tt.ptr<f32>, #mma>
    ttg.warp_yield
  } partition0 num_warps(4) {
    scf.for %i = %c0 to %n step %c1 : i32 {)" +
                     kStage + R"(
      %firstX = arith.muli %i, %cx : i32
      %firstY = arith.muli %i, %cy : i32
      %nextX = tt.addptr %x, %firstX : !tt.ptr<f16>, i32
      %nextY = tt.addptr %y, %firstY : !tt.ptr<f16>, i32)" +
                     pointers("nextX", "$M", "f16", "#q") + pointers("nextY", "32", "f16", "#q") + "      " +
                     kWaitEmpty + buffers + R"(
      %t = ttg.async_copy_global_to_local %pnextX, %a : tensor<$Mx32x!tt.ptr<f16>, #q> -> !ttg.memdesc<$Mx32xf16, #rows, #smem, mutable>
      %u = ttg.async_copy_global_to_local %pnextY, %b : tensor<32x32x!tt.ptr<f16>, #q> -> !ttg.memdesc<32x32xf16, #rows, #smem, mutable>
      )" + kArriveFull +
                     R"(
    }
    ttg.warp_return
  }
  tt.return
}
})";
  return multiBuffer.in(withNames(text, {{"$ELEMS", std::to_string(16 * multiBuffer.warps * 32)}}));
}

/// 0 to 3 as f16.
std::vector<uint16_t> smallHalves(size_t count, uint64_t seed) {
  constexpr uint16_t values[] = {0x0000, 0x3c00, 0x4000, 0x4200};
  std::vector<uint16_t> halves;
  for (const uint32_t number : someNumbers<uint32_t>(count, seed))
    halves.push_back(values[number >> 8 & 3]);
  return halves;
}

float valueOf(uint16_t half) { return half == 0 ? 0.0f : half == 0x3c00 ? 1.0f : half == 0x4000 ? 2.0f : 3.0f; }

/// False where fibers wait forever or the result differs.
bool runsDots(const SimtKernel &kernel, unsigned rows, unsigned tiles, Order order) {
  const std::vector<uint16_t> x = smallHalves(size_t{rows} * 32 * tiles + 8, 1), y = smallHalves(1024 * tiles + 8, 2);
  std::vector<float> output(size_t{rows} * 32, -1);
  Arguments arguments;
  arguments.add(x.data()).add(y.data()).add(output.data()).add<int32_t>(tiles);
  if (!kernel.run({1, 1, 1}, arguments, order))
    return false;
  for (unsigned m = 0; m < rows; ++m)
    for (unsigned n = 0; n < 32; ++n) {
      float sum = 0;
      for (unsigned tile = 0; tile < tiles; ++tile)
        for (unsigned k = 0; k < 32; ++k)
          sum += valueOf(x[(tile * rows + m) * 32 + k]) * valueOf(y[(tile * 32 + k) * 32 + n]);
      if (output[m * 32 + n] != sum)
        return false;
    }
  return true;
}

TEST(WarpSpecialize, DotsOfBuffersThatOtherWarpsFill) {
  for (const MultiBuffer &multiBuffer : {MultiBuffer{2, 4}, MultiBuffer{3, 4}, MultiBuffer{2, 8}, MultiBuffer{3, 8}}) {
    const auto kernel = compiled(dotText(multiBuffer));
    ASSERT_TRUE(kernel);
    EXPECT_EQ(kernel->asyncCopies(), multiBuffer.warps / 2 + 1); // vectors of 16 bytes
    for (unsigned tiles : {0u, 1u, 2u, 7u})
      for (Order order : kOrders)
        EXPECT_TRUE(runsDots(*kernel, 16 * multiBuffer.warps, tiles, order))
            << multiBuffer.stages << " stages, " << multiBuffer.warps << " warps, " << tiles << " tiles, order "
            << int(order);
  }
}

/// Single elements of f16, whose addresses nothing is known of, are not copied asynchronously.
TEST(WarpSpecialize, ArrivalsWaitForAsynchronousCopiesAlone) {
  const std::string hint = " {tt.divisibility = 16 : i32}";
  std::string error;
  EXPECT_FALSE(SimtKernel::compile(replaced(dotText({}), hint, ""), 4, &error));
  EXPECT_NE(error.find("copies 2 bytes at a time"), std::string::npos) << error;
}

} // namespace
} // namespace nereid::simt
