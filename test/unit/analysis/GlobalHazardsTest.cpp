// Tests barriers between loads and stores of different threads through one argument.
// SPDX-License-Identifier: MIT
#include "compiler/analysis/Barriers.h"
#include "compiler/analysis/SharedMemory.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace nereid;

namespace {

/// Barriers of a kernel of four warps with arguments %p and %q. #small holds each of 128 elements in four warps, and
/// each of 1024 in one.
size_t barriersOf(const std::string &body, unsigned totalWarps = 0) {
  MLIRContext context{MLIRContext::Threading::DISABLED};
  context.loadDialect<tt::TtDialect, ttg::TtgDialect, arith::ArithDialect, scf::SCFDialect>();
  const std::string total = totalWarps ? "\"ttg.total-num-warps\" = " + std::to_string(totalWarps) + " : i32, " : "";
  const std::string text = R"(
#small = #ttg.blocked<{sizePerThread = [4], threadsPerWarp = [32], warpsPerCTA = [4], order = [0]}>
module attributes {)" + total +
                           R"("ttg.num-warps" = 4 : i32, "ttg.threads-per-warp" = 32 : i32} {
tt.func public @kernel(%p: !tt.ptr<i32>, %q: !tt.ptr<i32>, %n: i32) {
%c0 = arith.constant 0 : i32
%c1 = arith.constant 1 : i32
%pnext = tt.addptr %p, %n : !tt.ptr<i32>, i32
)" + body + "tt.return\n}\n}";
  auto module = parseSourceString<ModuleOp>(text, &context);
  if (!module) {
    ADD_FAILURE() << text;
    return ~size_t{0};
  }
  const analysis::SharedMemoryPlan memory = analysis::planSharedMemory(*module);
  return analysis::planBarriers(*module->getOps<tt::FuncOp>().begin(), memory).needsBarrierBefore.size();
}

std::string load(const std::string &result, const std::string &pointer) {
  return result + " = tt.load " + pointer + " : !tt.ptr<i32>\n";
}
std::string store(const std::string &pointer, const std::string &value) {
  return "tt.store " + pointer + ", " + value + " : !tt.ptr<i32>\n";
}
/// Pointers of a tile that starts at an argument.
std::string tile(const std::string &result, const std::string &base, unsigned size, const std::string &layout) {
  const std::string shape = "tensor<" + std::to_string(size) + "x";
  return result + "r = tt.make_range {start = 0 : i32, end = " + std::to_string(size) + " : i32} : " + shape + "i32, " +
         layout + ">\n" + result + "b = tt.splat " + base + " : !tt.ptr<i32> -> " + shape + "!tt.ptr<i32>, " + layout +
         ">\n" + result + " = tt.addptr " + result + "b, " + result + "r : " + shape + "!tt.ptr<i32>, " + layout +
         ">, " + shape + "i32, " + layout + ">\n";
}
std::string loadTile(const std::string &pointers, unsigned size, const std::string &layout) {
  return pointers + "x = tt.load " + pointers + " : tensor<" + std::to_string(size) + "x!tt.ptr<i32>, " + layout +
         ">\n";
}
std::string storeTile(const std::string &pointers, const std::string &value, unsigned size, const std::string &layout) {
  return "tt.store " + pointers + ", " + value + " : tensor<" + std::to_string(size) + "x!tt.ptr<i32>, " + layout +
         ">\n";
}

TEST(GlobalHazards, AScalarIsLoadedByAllWarpsAndStoredByOne) {
  EXPECT_EQ(barriersOf(load("%x", "%p") + store("%p", "%x")), 1u);
  EXPECT_EQ(barriersOf(load("%x", "%p") + store("%pnext", "%x")), 1u);
  EXPECT_EQ(barriersOf(store("%p", "%n") + load("%x", "%p")), 1u);
}

TEST(GlobalHazards, DifferentArgumentsDoNotOverlap) { EXPECT_EQ(barriersOf(load("%x", "%p") + store("%q", "%x")), 0u); }

TEST(GlobalHazards, ABarrierOrdersAll) {
  EXPECT_EQ(barriersOf(load("%x", "%p") + "ttg.barrier all\n" + store("%p", "%x")), 0u);
}

TEST(GlobalHazards, OneBarrierIsEnoughForSeveralStores) {
  EXPECT_EQ(barriersOf(load("%x", "%p") + store("%p", "%x") + store("%pnext", "%x")), 1u);
  EXPECT_EQ(barriersOf(load("%x", "%p") + load("%y", "%pnext") + store("%p", "%y")), 1u);
}

TEST(GlobalHazards, ATileThatSeveralWarpsHold) {
  const std::string pointers = tile("%t", "%p", 128, "#small");
  EXPECT_EQ(barriersOf(pointers + loadTile("%t", 128, "#small") + storeTile("%t", "%tx", 128, "#small")), 1u);
}

TEST(GlobalHazards, EachWarpStoresWhatItHasLoaded) {
  const std::string pointers = tile("%t", "%p", 1024, "#small");
  EXPECT_EQ(barriersOf(pointers + loadTile("%t", 1024, "#small") + storeTile("%t", "%tx", 1024, "#small")), 0u);
}

TEST(GlobalHazards, ATileThatIsMovedWithinAnArray) {
  const std::string moved = tile("%t", "%p", 1024, "#small") + tile("%u", "%pnext", 1024, "#small"),
                    access = loadTile("%t", 1024, "#small") + storeTile("%u", "%tx", 1024, "#small");
  EXPECT_EQ(barriersOf(moved + access), 1u);
  EXPECT_EQ(barriersOf(moved + storeTile("%u", "%ur", 1024, "#small") + loadTile("%t", 1024, "#small")), 1u);
}

TEST(GlobalHazards, TheNextIterationLoadsAgain) {
  const std::string loop = "scf.for %i = %c0 to %n step %c1 : i32 {\n";
  EXPECT_EQ(barriersOf(loop + load("%x", "%p") + store("%p", "%x") + "}\n"), 2u);
  EXPECT_EQ(barriersOf(loop + load("%x", "%p") + store("%q", "%x") + "}\n"), 0u);
}

TEST(GlobalHazards, AStoreInABranch) {
  EXPECT_EQ(barriersOf(load("%x", "%p") + "%c = arith.cmpi eq, %x, %c0 : i32\nscf.if %c {\n" + store("%p", "%c1") +
                       "} else {\n" + store("%q", "%c1") + "}\n"),
            1u);
}

TEST(GlobalHazards, APointerOfEitherArgument) {
  const std::string either = "%c = arith.cmpi eq, %n, %c0 : i32\n%s = arith.select %c, %p, %q : !tt.ptr<i32>\n";
  EXPECT_EQ(barriersOf(either + load("%x", "%s") + store("%q", "%x")), 1u);
}

TEST(GlobalHazards, AnAtomicUpdate) {
  EXPECT_EQ(
      barriersOf(load("%x", "%p") + "%old = tt.atomic_rmw add, relaxed, gpu, %p, %x : (!tt.ptr<i32>, i32) -> i32\n"),
      1u);
}

TEST(GlobalHazards, ARegionOfOneWarpHasNoOtherWarps) {
  const auto inRegion = [](unsigned warps) {
    return "ttg.warp_specialize default {\nttg.warp_yield } partition0 num_warps(" + std::to_string(warps) + ") {\n" +
           load("%x", "%p") + store("%p", "%x") + "ttg.warp_return }\n";
  };
  EXPECT_EQ(barriersOf(inRegion(1), 5), 0u);
  EXPECT_EQ(barriersOf(inRegion(4), 8), 1u);
}

} // namespace
