// Threads that load, launch and unload kernels at the same time; the preset tsan watches them.
// SPDX-License-Identifier: MIT
#include "runtime/cpu/CpuDevice.h"
#include "test/unit/runtime/CKernel.h"

#include <gtest/gtest.h>

#include <atomic>
#include <functional>
#include <thread>
#include <vector>

using namespace nereid::runtime;

static const char *const kAddOne = R"(
KERNEL {
  uint32_t *out = ARG(uint32_t *, 0);
  for (uint64_t id = begin; id < end; ++id)
    out[id] += 1;
})";

static void onThreads(int count, const std::function<void(int)> &work) {
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i)
    threads.emplace_back(work, i);
  for (std::thread &thread : threads)
    thread.join();
}

static bool launchOnce(Kernel &kernel, uint32_t programs) {
  std::vector<uint32_t> out(programs);
  if (!cpuDevice().launch(kernel, {programs, 1, 1}, nullptr, Packed(out.data())))
    return false;
  for (const uint32_t value : out)
    if (value != 1)
      return false;
  return true;
}

TEST(CpuThreads, launch_one_kernel_at_once) {
  const auto kernel = cKernel(kAddOne, 1);
  std::atomic<int> failures{0};
  onThreads(4, [&](int) {
    for (int round = 0; round < 20; ++round)
      failures += !launchOnce(*kernel, 20000);
  });
  EXPECT_EQ(failures, 0);
}

TEST(CpuThreads, load_and_unload_while_others_launch) {
  const auto artifact = cArtifact(kAddOne, 1);
  std::atomic<int> failures{0};
  onThreads(4, [&](int) {
    for (int round = 0; round < 10; ++round) {
      const auto kernel = cpuDevice().load(artifact);
      failures += !kernel || !launchOnce(**kernel, 5000);
    }
  });
  EXPECT_EQ(failures, 0);
}

TEST(CpuThreads, the_number_of_threads_changes_while_others_launch) {
  const auto kernel = cKernel(kAddOne, 1);
  std::atomic<int> failures{0};
  onThreads(3, [&](int index) {
    for (int round = 0; round < 10; ++round)
      if (index == 0)
        setCpuThreads(static_cast<uint32_t>(1 + round % 3));
      else
        failures += !launchOnce(*kernel, 50000);
  });
  setCpuThreads(0);
  EXPECT_EQ(failures, 0);
}
