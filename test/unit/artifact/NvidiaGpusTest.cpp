// Tests the tables of NVIDIA's generations and GPUs: rows that agree with each other, and what is between them.
// SPDX-License-Identifier: MIT
#include "artifact/NvidiaGpus.h"

#include <gtest/gtest.h>

namespace nereid::artifact {
namespace {

TEST(NvidiaGpus, capabilitiesBetweenRowsHaveTheRowBelow) {
  EXPECT_EQ(findNvidiaArch(69), nullptr);
  EXPECT_EQ(findNvidiaArch(70)->capability, 70u);
  EXPECT_EQ(findNvidiaArch(88)->capability, 87u);
  EXPECT_EQ(findNvidiaArch(95)->capability, 90u);
  EXPECT_EQ(findNvidiaArch(999)->capability, 121u);
  EXPECT_EQ(nvidiaGpuOf(70).name, "A100"); // the lowest row
  EXPECT_EQ(nvidiaGpuOf(80).name, "A100");
  EXPECT_EQ(nvidiaGpuOf(89).name, "A100");
  EXPECT_EQ(nvidiaGpuOf(90).name, "H200");
  EXPECT_EQ(nvidiaGpuOf(121).name, "H200");
}

TEST(NvidiaGpus, rowsAscend) {
  unsigned before = 0;
  for (const NvidiaArch &arch : nvidiaArchs()) {
    EXPECT_LT(before, arch.capability);
    before = arch.capability;
  }
}

TEST(NvidiaGpus, aGpuHasTheRatesOfItsGeneration) {
  for (const NvidiaGpu &gpu : nvidiaGpus()) {
    EXPECT_EQ(archOf(gpu).capability, gpu.capability) << gpu.name;
    EXPECT_EQ(gpu.tensorFlops[size_t(TensorType::F16)], 2 * archOf(gpu).tensorProducts) << gpu.name;
    EXPECT_EQ(gpu.tensorFlops[size_t(TensorType::TF32)], archOf(gpu).tensorProducts) << gpu.name;
    EXPECT_GT(archOf(gpu).packedFma, 0u) << gpu.name;
    EXPECT_GT(gpu.clockMhz, gpu.tensorClockMhz) << gpu.name;
  }
}

TEST(NvidiaGpus, aMultiprocessorHoldsWhatTheProgrammingGuideSays) {
  const NvidiaArch &hopper = *findNvidiaArch(90), &ampere = *findNvidiaArch(80);
  EXPECT_EQ(hopper.maxSharedBytes + kReservedSharedBytes, 228u * 1024);
  EXPECT_EQ(ampere.maxSharedBytes + kReservedSharedBytes, 164u * 1024);
  EXPECT_EQ(residentCtas(hopper, {.registers = 32, .threads = 32}).byThreads, 64u);   // warps
  EXPECT_EQ(residentCtas(hopper, {.registers = 33, .threads = 256}).byRegisters, 6u); // rounded up to 40
  EXPECT_EQ(residentCtas(hopper, {.threads = 33}).byThreads, 32u);                    // two warps
  EXPECT_EQ(residentCtas(hopper, {.threads = 128, .sharedBytes = 113 * 1024}).count(), 2u);
  EXPECT_EQ(residentCtas(hopper, {.registers = 255, .threads = 512}).count(), 0u);
}

} // namespace
} // namespace nereid::artifact
