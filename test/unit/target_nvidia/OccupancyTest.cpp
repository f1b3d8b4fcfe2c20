// Tests occupancy against the CUDA programming guide's limits, and the directive in the PTX.
// SPDX-License-Identifier: MIT
#include "compiler/target/nvidia/arch/Occupancy.h"

#include "test/unit/target_nvidia/NamedArch.h"

namespace nereid::nvidia {
namespace {

TEST(Occupancy, RegistersThreadsAndSharedMemoryLimitBlocks) {
  // 65536 registers, 2048 threads (1536 of 8.6), 228 KiB of shared memory (100), of which 1 KiB per CTA is reserved.
  EXPECT_EQ(residentCtas(arch("90"), {.registers = 32, .threads = 256}).count(), 8u);
  EXPECT_EQ(residentCtas(arch("86"), {.registers = 32, .threads = 256}).count(), 6u);
  EXPECT_EQ(residentCtas(arch("90"), {.registers = 64, .threads = 256}).count(), 4u);
  EXPECT_EQ(residentCtas(arch("90"), {.registers = 65, .threads = 256}).count(), 3u); // rounded up to 72
  EXPECT_EQ(residentCtas(arch("90"), {.registers = 255, .threads = 256}).count(), 1u);
  EXPECT_EQ(residentCtas(arch("90"), {.registers = 255, .threads = 512}).count(), 0u);
  EXPECT_EQ(residentCtas(arch("90"), {.registers = 32, .threads = 128, .sharedBytes = 113 * 1024}).count(), 2u);
  EXPECT_EQ(residentCtas(arch("90"), {.registers = 32, .threads = 128, .sharedBytes = 114 * 1024}).count(), 1u);
}

TEST(Occupancy, LaunchBoundLeavesRoomForTheTiles) {
  for (uint32_t tiles : {0, 8, 24, 48, 96, 200})
    for (uint32_t threads : {32, 128, 256, 1024}) {
      const uint32_t blocks = chooseMinCtasPerSm(arch("90"), {.tileRegisters = tiles, .threads = threads}).safe;
      if (blocks > 0)
        EXPECT_LE(tiles * threads * blocks, 65536u);
      else
        EXPECT_GT((tiles + 16) * threads, 65536u - 8 * threads);
    }
  EXPECT_EQ(chooseMinCtasPerSm(arch("90"), {.tileRegisters = 250, .threads = 128}).tight, 0u)
      << "no thread has so many registers";
}

TEST(Occupancy, LaunchBoundStopsWhereMemoryIsBusy) {
  // 64 bytes of 256 threads are 16 KiB: four CTAs keep memory busy, though registers would allow five.
  EXPECT_EQ(chooseMinCtasPerSm(arch("90"), {.tileRegisters = 32, .loadedBytes = 64, .threads = 256}).safe, 4u);
  EXPECT_EQ(chooseMinCtasPerSm(arch("90"), {.tileRegisters = 32, .loadedBytes = 16, .threads = 256}).safe, 5u);
  EXPECT_EQ(chooseMinCtasPerSm(arch("90"), {.tileRegisters = 64, .loadedBytes = 1024, .threads = 256}).safe, 2u);
}

TEST(Occupancy, KernelThatRunsOnceHasAHintOnlyForFullOccupancy) {
  const auto choose = [](uint32_t tiles, uint32_t values, uint32_t threads) {
    return chooseMinCtasPerSm(
        arch("90"),
        {.tileRegisters = tiles, .valueRegisters = values, .loadedBytes = 1024, .threads = threads, .runsOnce = true});
  };
  EXPECT_EQ(choose(16, 0, 128).tight, 16u) << "as many as fit, although two CTAs' loads keep memory busy";
  EXPECT_EQ(choose(16, 0, 256).safe, 8u);
  EXPECT_EQ(choose(32, 0, 128).tight, 0u) << "10 CTAs would fit, and leave 48 registers";
  EXPECT_EQ(choose(32, 26, 128).tight, 16u) << "the values take less than the tiles";
  EXPECT_EQ(choose(32, 26, 128).safe, 0u);
  EXPECT_EQ(choose(32, 80, 128).tight, 0u);
  EXPECT_EQ(choose(80, 20, 128).tight, 0u) << "too far from the tiles";
}

TEST(Occupancy, LoopsUseRegistersToPrefetch) {
  EXPECT_EQ(
      chooseMinCtasPerSm(arch("90"), {.tileRegisters = 32, .valueRegisters = 26, .loadedBytes = 1024, .threads = 128})
          .tight,
      2u);
}

TEST(Occupancy, LoopsWhoseLoadsLeaveMemoryIdleTryMoreCtas) {
  const auto choose = [](uint32_t tiles, uint32_t loaded) {
    return chooseMinCtasPerSm(arch("90"), {.tileRegisters = tiles, .loadedBytes = loaded, .threads = 128});
  };
  EXPECT_EQ(choose(24, 16).tight, 16u) << "32 CTAs would saturate memory";
  EXPECT_EQ(choose(24, 16).safe, 12u);
  EXPECT_EQ(choose(24, 32).tight, 12u) << "16 CTAs would saturate memory";
  EXPECT_EQ(choose(48, 64).tight, 8u) << "8 CTAs saturate memory";
}

TEST(Occupancy, DirectiveStandsBesideTheBlockSize) {
  const std::string ptx = ".visible .entry k(\n)\n.reqntid 256\n{\n ret;\n}\n";
  const std::string bounded = withMinCtasPerSm(ptx, 4);
  EXPECT_EQ(bounded, ".visible .entry k(\n)\n.minnctapersm 4\n.reqntid 256\n{\n ret;\n}\n");
  EXPECT_EQ(withMinCtasPerSm(bounded, 2), ".visible .entry k(\n)\n.minnctapersm 2\n.reqntid 256\n{\n ret;\n}\n");
  EXPECT_EQ(withMinCtasPerSm(bounded, 0), ptx);
  const std::string limited = ".visible .entry k(\n)\n.maxnreg 40\n.reqntid 256\n{\n ret;\n}\n";
  EXPECT_EQ(withMinCtasPerSm(limited, 4), limited) << "the user's limit stands";
}

} // namespace
} // namespace nereid::nvidia
