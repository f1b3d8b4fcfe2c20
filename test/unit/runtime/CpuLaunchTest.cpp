// Launches on the CPU: every program once, in order, on as many threads as are worth it.
// SPDX-License-Identifier: MIT
#include "runtime/cpu/CpuDevice.h"
#include "test/unit/runtime/CKernel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <numeric>
#include <set>
#include <thread>

using namespace nereid::runtime;

static const char *const kCount = R"(
KERNEL {
  uint32_t *counts = ARG(uint32_t *, 0);
  for (uint64_t id = begin; id < end; ++id)
    __atomic_fetch_add(&counts[id], 1, __ATOMIC_RELAXED);
})";

// Counts, and takes a while: ARG 1 rounds of work a program.
static const char *const kSlowCount = R"(
#include <pthread.h>
KERNEL {
  uint32_t *counts = ARG(uint32_t *, 0);
  uint64_t *threads = ARG(uint64_t *, 2);
  for (uint64_t id = begin; id < end; ++id) {
    for (volatile uint64_t work = ARG(uint64_t, 1); work > 0;) work = work - 1;
    if (threads) threads[id] = (uint64_t)pthread_self();
    __atomic_fetch_add(&counts[id], 1, __ATOMIC_RELAXED);
  }
})";

static std::string codeOf(const Expected<void> &result) { return result ? "" : result.error().code; }

static bool eachOnce(const std::vector<uint32_t> &counts) {
  return std::all_of(counts.begin(), counts.end(), [](uint32_t count) { return count == 1; });
}

TEST(CpuLaunch, runs_each_program_of_the_grid_once) {
  const auto kernel = cKernel(kCount, 1);
  for (uint32_t total : {1u, 2u, 3u, 17u, 1000u, 100000u}) {
    std::vector<uint32_t> counts(total);
    ASSERT_TRUE(cpuDevice().launch(*kernel, {total, 1, 1}, nullptr, Packed(counts.data())));
    EXPECT_TRUE(eachOnce(counts)) << total;
  }
}

TEST(CpuLaunch, linear_id_counts_x_first) {
  const auto kernel = cKernel(R"(
KERNEL {
  uint32_t *out = ARG(uint32_t *, 0);
  for (uint64_t id = begin; id < end; ++id)
    out[id] = id % grid[0] + 100 * (id / grid[0] % grid[1]) + 10000 * (id / grid[0] / grid[1]);
})",
                              1);
  std::vector<uint32_t> out(2 * 3 * 4);
  ASSERT_TRUE(cpuDevice().launch(*kernel, {2, 3, 4}, nullptr, Packed(out.data())));
  EXPECT_EQ(out[1], 1u);
  EXPECT_EQ(out[2], 100u);
  EXPECT_EQ(out[6], 10000u);
  EXPECT_EQ(out[23], 30201u);
}

TEST(CpuLaunch, empty_grid_launches_nothing) {
  const auto kernel = cKernel(kCount, 1);
  for (Grid grid : {Grid{0, 1, 1}, Grid{1, 0, 1}, Grid{1, 1, 0}, Grid{~0u, ~0u, 0}})
    EXPECT_TRUE(cpuDevice().launch(*kernel, grid, nullptr, Packed(nullptr)));
}

TEST(CpuLaunch, grid_beyond_64_bits_is_an_error) {
  const auto kernel = cKernel(kCount, 1);
  const auto result = cpuDevice().launch(*kernel, {~0u, ~0u, ~0u}, nullptr, Packed(nullptr));
  EXPECT_EQ(codeOf(result), "launch-grid");
}

TEST(CpuLaunch, argument_block_of_the_wrong_size_is_an_error) {
  const auto kernel = cKernel(kCount, 1);
  const auto result = cpuDevice().launch(*kernel, {1, 1, 1}, nullptr, Packed(nullptr, nullptr));
  ASSERT_EQ(codeOf(result), "launch-arguments");
  EXPECT_EQ(result.error().text, "kernel `kernel` takes 24 bytes of arguments; 32 were given");
}

TEST(CpuLaunch, kernel_of_another_device_is_an_error) {
  struct OtherDevice final : Device {
    DeviceProperties none;
    const DeviceProperties &properties() const override { return none; }
    Expected<std::shared_ptr<Kernel>> load(nereid::artifact::Artifact) override { return Error{"", ""}; }
    Expected<void> launch(Kernel &, Grid, void *, std::span<const char>) override { return {}; }
  } other;
  struct OtherKernel final : Kernel {
    explicit OtherKernel(const Device &device) : Kernel(device, {}) {}
  } kernel(other);
  EXPECT_EQ(codeOf(cpuDevice().launch(kernel, {1, 1, 1}, nullptr, Packed())), "launch-device");
}

TEST(CpuLaunch, long_work_is_shared_by_threads) {
  const ThreadsForScope threads(4);
  const auto kernel = cKernel(kSlowCount, 3);
  std::set<uint64_t> seen;
  // Workers may start late once, not ten times.
  for (int round = 0; round < 10 && seen.size() < 2; ++round) {
    std::vector<uint32_t> counts(64);
    std::vector<uint64_t> ids(64);
    ASSERT_TRUE(cpuDevice().launch(*kernel, {64, 1, 1}, nullptr, Packed(counts.data(), uint64_t{500000}, ids.data())));
    EXPECT_TRUE(eachOnce(counts));
    seen.insert(ids.begin(), ids.end());
  }
  EXPECT_GE(seen.size(), 2u);
  EXPECT_LE(seen.size(), 4u);
}

TEST(CpuLaunch, work_that_changes_its_cost_stays_right) {
  const ThreadsForScope threads(3);
  const auto kernel = cKernel(kSlowCount, 3);
  for (int round = 0; round < 60; ++round) {
    const uint64_t work = round % 3 == 0 ? 20000 : 1;
    std::vector<uint32_t> counts(1 + round * 7);
    ASSERT_TRUE(cpuDevice().launch(*kernel, {static_cast<uint32_t>(counts.size()), 1, 1}, nullptr,
                                   Packed(counts.data(), work, nullptr)));
    ASSERT_TRUE(eachOnce(counts)) << round;
  }
}

TEST(CpuLaunch, program_may_wait_for_all_lower_ids) {
  const ThreadsForScope threads(4);
  const auto kernel = cKernel(R"(
#include <sched.h>
KERNEL {
  uint32_t *done = ARG(uint32_t *, 0);
  for (uint64_t id = begin; id < end; ++id) {
    for (volatile int work = 20000; work > 0;) work = work - 1;
    for (uint64_t lower = 0; lower < id; ++lower)
      while (!__atomic_load_n(&done[lower], __ATOMIC_ACQUIRE)) sched_yield();
    __atomic_store_n(&done[id], 1, __ATOMIC_RELEASE);
  }
})",
                              1);
  for (int round = 0; round < 20; ++round) {
    std::vector<uint32_t> done(200);
    ASSERT_TRUE(cpuDevice().launch(*kernel, {200, 1, 1}, nullptr, Packed(done.data())));
    EXPECT_TRUE(eachOnce(done));
  }
}

TEST(CpuLaunch, many_threads_launch_at_the_same_time) {
  const ThreadsForScope threads(3);
  const auto kernel = cKernel(kSlowCount, 3);
  std::atomic<int> wrong{0};
  std::vector<std::thread> users;
  for (int user = 0; user < 6; ++user)
    users.emplace_back([&, user] {
      for (int round = 0; round < 40; ++round) {
        std::vector<uint32_t> counts(50 + user);
        const auto ok = cpuDevice().launch(*kernel, {static_cast<uint32_t>(counts.size()), 1, 1}, nullptr,
                                           Packed(counts.data(), uint64_t{5000}, nullptr));
        wrong += !ok || !eachOnce(counts);
      }
    });
  for (std::thread &user : users)
    user.join();
  EXPECT_EQ(wrong, 0);
}

TEST(CpuLaunch, number_of_threads_may_change_during_launches) {
  const auto kernel = cKernel(kSlowCount, 3);
  std::atomic<bool> stop{false};
  std::thread changer([&] {
    for (uint32_t threads = 1; !stop; threads = threads % 5 + 1)
      setCpuThreads(threads);
  });
  for (int round = 0; round < 100; ++round) {
    std::vector<uint32_t> counts(64);
    ASSERT_TRUE(cpuDevice().launch(*kernel, {64, 1, 1}, nullptr, Packed(counts.data(), uint64_t{5000}, nullptr)));
    ASSERT_TRUE(eachOnce(counts));
  }
  stop = true;
  changer.join();
  setCpuThreads(0);
  EXPECT_GE(cpuThreads(), 1u);
}

TEST(CpuLaunch, one_program_costs_well_under_a_microsecond) {
  const auto kernel = cKernel(kCount, 1);
  uint32_t count = 0;
  const Packed packed(&count);
  double best = 1e9;
  for (int round = 0; round < 50; ++round) {
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < 1000; ++i)
      ASSERT_TRUE(cpuDevice().launch(*kernel, {1, 1, 1}, nullptr, packed));
    const auto spent = std::chrono::steady_clock::now() - begin;
    best = std::min(best, std::chrono::duration<double, std::nano>(spent).count() / 1000);
  }
  RecordProperty("nanoseconds", std::to_string(best));
  std::printf("launch of one program: %.0f ns\n", best);
  EXPECT_EQ(count, 50000u);
  EXPECT_LT(best, 1000);
}

static std::atomic<uint32_t> questions{0};

TEST(CpuLaunch, a_long_launch_ends_when_the_host_wants_it_to) {
  const auto kernel = cKernel(kSlowCount, 3);
  setCpuStopCheck([] { return questions.fetch_add(1) == 2; });
  for (uint32_t threads : {1u, 3u}) {
    const ThreadsForScope scope(threads);
    questions = 0;
    std::vector<uint32_t> counts(100'000);
    // Minutes, were they all to run.
    const auto result =
        cpuDevice().launch(*kernel, {100'000, 1, 1}, nullptr, Packed(counts.data(), uint64_t{1'000'000}, nullptr));
    EXPECT_EQ(codeOf(result), "launch-interrupted");
    EXPECT_EQ(questions, 3u);
    EXPECT_EQ(counts.back(), 0u);
    EXPECT_EQ(counts.front(), 1u);
  }
  setCpuStopCheck(nullptr);
}
