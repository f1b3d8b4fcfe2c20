// Tests buffers and barriers of regions that different warps run.
// SPDX-License-Identifier: MIT
#include "compiler/analysis/Barriers.h"
#include "compiler/analysis/SharedMemory.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace nereid;

namespace {

/// A kernel with these ops before its `warp_specialize`, and in the regions.
class WarpRegions : public testing::Test {
protected:
  void parse(const std::string &before, const std::string &first, const std::string &second) {
    context.loadDialect<tt::TtDialect, ttg::TtgDialect, arith::ArithDialect, scf::SCFDialect>();
    const std::string text = R"(
#T = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#C = #ttg.blocked<{sizePerThread = [1], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
#flat = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>
#smem = #ttg.shared_memory
!buffer = !ttg.memdesc<1024xi32, #flat, #smem, mutable>
module attributes {"ttg.num-warps" = 4 : i32, "ttg.total-num-warps" = 8 : i32, "ttg.threads-per-warp" = 32 : i32} {
tt.func public @kernel() {
)" + before + "ttg.warp_specialize default {\n" +
                             first + "ttg.warp_yield } partition0 num_warps(4) {\n" + second +
                             "ttg.warp_return }\ntt.return\n}\n}";
    module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module) << text;
    memory = analysis::planSharedMemory(*module);
    barriers = analysis::planBarriers(*module->getOps<tt::FuncOp>().begin(), memory);
    module->walk([&](Operation *op) {
      if (memory.offsetOf.contains(op))
        ranges.push_back(memory.rangeOf(op));
    });
  }
  size_t numBarriers() const { return barriers.needsBarrierBefore.size(); }

  MLIRContext context{MLIRContext::Threading::DISABLED};
  OwningOpRef<ModuleOp> module;
  analysis::SharedMemoryPlan memory;
  analysis::BarrierPlan barriers;
  std::vector<analysis::SharedRange> ranges; ///< of the buffers, in the order of the text
};

const std::string kOffsets = "%r = tt.make_range {start = 0 : i32, end = 1024 : i32} : tensor<1024xi32, #T>\n",
                  kBuffer = "%b = ttg.local_alloc : () -> !buffer\n",
                  kWrite = "ttg.local_store %r, %b : tensor<1024xi32, #T> -> !buffer\n",
                  kRead = "%v = ttg.local_load %b : !buffer -> tensor<1024xi32, #C>\n",
                  kExchange = "%c = ttg.convert_layout %r : tensor<1024xi32, #T> -> tensor<1024xi32, #C>\n";

TEST_F(WarpRegions, ShareNoBytes) {
  parse("", kOffsets + kExchange, kOffsets + kExchange);
  ASSERT_EQ(ranges.size(), 2u);
  EXPECT_FALSE(ranges[0].overlaps(ranges[1]));
}

TEST_F(WarpRegions, ReuseTheirOwnBytes) {
  parse("", kOffsets + kExchange + "%d = ttg.convert_layout %r : tensor<1024xi32, #T> -> tensor<1024xi32, #C>\n", "");
  ASSERT_EQ(ranges.size(), 2u);
  EXPECT_EQ(ranges[0], ranges[1]);
}

TEST_F(WarpRegions, BuffersFromOutsideLiveToTheEnd) {
  parse(kBuffer, kOffsets + kWrite + kExchange, kOffsets + kExchange);
  ASSERT_EQ(ranges.size(), 3u);
  EXPECT_FALSE(ranges[0].overlaps(ranges[1]));
  EXPECT_FALSE(ranges[0].overlaps(ranges[2]));
}

TEST_F(WarpRegions, BarriersOrderTheAccessesOfOneRegion) {
  parse(kBuffer, kOffsets + kWrite + kRead, "");
  EXPECT_EQ(numBarriers(), 1u);
}

TEST_F(WarpRegions, OrderAccessesOfDifferentRegionsThemselves) {
  parse(kBuffer, kOffsets + kWrite, kRead);
  EXPECT_EQ(numBarriers(), 0u);
}

/// Lanes of a warp exchange eight of their elements each.
const std::string kMatrix =
    "%z = arith.constant dense<1.0> : tensor<64x128xf16, #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, "
    "warpsPerCTA = [4, 1], instrShape = [16, 128, 16]}>>\n";
std::string exchangeInWarps(const std::string &result, const std::string &lastRegister, const std::string &lane) {
  return result +
         " = ttg.convert_layout %z : tensor<64x128xf16, #ttg.nvidia_mma<{versionMajor = 3, versionMinor = 0, "
         "warpsPerCTA = [4, 1], instrShape = [16, 128, 16]}>> -> tensor<64x128xf16, #ttg.linear<{register = "
         "[[0, 1], [0, 2], [0, 4], [2, 0], [4, 0], " +
         lastRegister + "], lane = [[0, 8], [0, 16], [0, 32], [0, 64], " + lane +
         "], warp = [[16, 0], [32, 0]], block = []}>>\n";
}
const std::string kLoop = "%c0 = arith.constant 0 : i32\n%c1 = arith.constant 1 : i32\n%c9 = arith.constant 9 : i32\n"
                          "scf.for %i = %c0 to %c9 step %c1 : i32 {\n";

TEST_F(WarpRegions, WarpsThatExchangeNothingWaitForNone) {
  parse("", kMatrix + kLoop + exchangeInWarps("%a", "[8, 0]", "[1, 0]") + "}\n", "");
  ASSERT_EQ(ranges.size(), 1u);
  EXPECT_EQ(numBarriers(), 0u);
}

TEST_F(WarpRegions, BuffersOfTwoExchangesOverlap) {
  parse("",
        kMatrix + kLoop + exchangeInWarps("%a", "[8, 0]", "[1, 0]") + exchangeInWarps("%b", "[1, 0]", "[8, 0]") + "}\n",
        "");
  ASSERT_EQ(ranges.size(), 2u);
  ASSERT_TRUE(ranges[0].overlaps(ranges[1]));
  EXPECT_EQ(numBarriers(), 2u);
}

} // namespace
