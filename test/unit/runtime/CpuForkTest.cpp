// Forks around launches: no thread before the first use, and right results on both sides.
// SPDX-License-Identifier: MIT
#include "runtime/cpu/CpuDevice.h"
#include "test/unit/runtime/CKernel.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <filesystem>
#include <set>
#include <thread>

#include <dlfcn.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace nereid::runtime;

static const char *const kSpread = R"(
#include <pthread.h>
KERNEL {
  for (uint64_t id = begin; id < end; ++id) {
    for (volatile uint64_t work = ARG(uint64_t, 1); work > 0;) work = work - 1;
    ARG(uint64_t *, 0)[id] = (uint64_t)pthread_self();
  }
})";

/// Number of threads that took part; 0 when a program did not run.
static size_t threadsOfLaunch(Kernel &kernel, uint64_t work) {
  std::vector<uint64_t> ids(64);
  const auto ok = cpuDevice().launch(kernel, {64, 1, 1}, nullptr, Packed(ids.data(), work));
  if (!ok || std::count(ids.begin(), ids.end(), 0u) != 0)
    return 0;
  return std::set<uint64_t>(ids.begin(), ids.end()).size();
}

/// The largest number seen until workers have started, which on a busy machine may take many launches.
static size_t threadsUsed(Kernel &kernel) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point deadline = Clock::now() + std::chrono::seconds(10);
  size_t most = 0;
  while (most < 2 && Clock::now() < deadline) {
    const size_t threads = threadsOfLaunch(kernel, 500000);
    if (threads == 0)
      return 0;
    most = std::max(most, threads);
  }
  return most;
}

static size_t threadsOfProcess() {
  namespace fs = std::filesystem;
  return static_cast<size_t>(std::distance(fs::directory_iterator("/proc/self/task"), fs::directory_iterator()));
}

/// Runs `body` in a child; the exit status it returns, or -1 if it hangs or dies.
template <typename Body> static int inChild(Body body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    _exit(body());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static constexpr int kThreadsWoken = 3;

/// Short launches, then long ones, in a process that has no other thread yet: 0, or what went wrong first.
static int launchShortThenLong(Kernel &kernel) {
  setCpuThreads(3);
  if (threadsOfProcess() != 1)
    return 1;
  std::vector<uint64_t> ids(1);
  if (!cpuDevice().launch(kernel, {1, 1, 1}, nullptr, Packed(ids.data(), uint64_t{100000})))
    return 2;
  for (int round = 0; round < 100; ++round)
    if (threadsOfLaunch(kernel, 1) != 1)
      return kThreadsWoken;
  if (threadsOfProcess() != 1)
    return kThreadsWoken;
  return threadsUsed(kernel) >= 2 && threadsOfProcess() > 1 ? 0 : 4;
}

TEST(CpuFork, short_launches_start_no_thread_and_long_ones_do) {
  const auto kernel = cKernel(kSpread, 2);
  // The pool measures launches by the clock: a short one that other processes delay counts as long and may wake
  // threads. On a busy machine this happens in some of the attempts; if short launches woke threads, it would happen in
  // all.
  int status = kThreadsWoken;
  for (int attempt = 0; attempt < 40 && status == kThreadsWoken; ++attempt)
    status = inChild([&] { return launchShortThenLong(*kernel); });
  EXPECT_EQ(status, 0);
}

TEST(CpuFork, child_and_parent_go_on_with_threads) {
  const ThreadsForScope threads(3);
  const auto kernel = cKernel(kSpread, 2);
  // In a process of its own: other tests' threads have not used the pool there.
  const int status = inChild([&] {
    if (threadsUsed(*kernel) < 2)
      return 1;
    const int child = inChild([&] {
      if (threadsOfProcess() != 1)
        return 10;
      if (threadsUsed(*kernel) < 2)
        return 11;
      return inChild([&] { return threadsUsed(*kernel) >= 2 ? 0 : 12; });
    });
    if (child != 0)
      return child;
    return threadsUsed(*kernel) >= 2 ? 0 : 2;
  });
  EXPECT_EQ(status, 0);
}

TEST(CpuFork, a_team_of_openmp_runs_every_program) {
  const auto kernel = cKernel(kSpread, 2);
  // In a process of its own, whose first launch finds the team idle. Few counts divide into equal parts.
  const int status = inChild([&] {
    void *library = dlopen("libgomp.so.1", RTLD_NOW | RTLD_GLOBAL);
    if (!library)
      return 77;
    setCpuThreads(3);
    reinterpret_cast<void (*)(int)>(dlsym(library, "omp_set_num_threads"))(3);
    for (uint32_t count : {1000u, 1001u, 1002u, 2u, 5u}) {
      std::vector<uint64_t> ids(count);
      const uint64_t work = 5'000'000 / count;
      if (!cpuDevice().launch(*kernel, {count, 1, 1}, nullptr, Packed(ids.data(), work)))
        return 1;
      if (std::count(ids.begin(), ids.end(), 0u) != 0)
        return 2;
    }
    return 0;
  });
  if (status == 77)
    GTEST_SKIP() << "no libgomp";
  EXPECT_EQ(status, 0);
}

TEST(CpuFork, many_children_at_once) {
  const ThreadsForScope threads(3);
  const auto kernel = cKernel(kSpread, 2);
  std::vector<pid_t> children;
  for (int i = 0; i < 8; ++i) {
    ASSERT_GE(threadsOfLaunch(*kernel, 5000), 1u);
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);
      for (int round = 0; round < 10; ++round)
        if (threadsOfLaunch(*kernel, 5000) == 0)
          _exit(1);
      _exit(0);
    }
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_EQ(status, 0);
  }
}

/// Forks while three threads do the same without a pause; it must go well each time, in the children too.
template <typename Work> static void forkBeside(Work goesWell, int rounds) {
  const ThreadsForScope threads(3);
  std::atomic<bool> stop{false};
  std::atomic<int> wrong{0};
  std::vector<std::thread> users;
  for (int user = 0; user < 3; ++user)
    users.emplace_back([&] {
      while (!stop)
        wrong += !goesWell();
    });
  int status = 0;
  for (int round = 0; round < rounds && status == 0; ++round)
    status = inChild([&] { return goesWell() ? 0 : 1; });
  stop = true;
  for (std::thread &user : users)
    user.join();
  EXPECT_EQ(status, 0);
  EXPECT_EQ(wrong, 0);
}

TEST(CpuFork, fork_while_other_threads_launch) {
  const auto kernel = cKernel(kSpread, 2);
  forkBeside([&] { return threadsOfLaunch(*kernel, 3000) != 0; }, 20);
}

TEST(CpuFork, fork_while_other_threads_look_for_a_team) {
  // Each of these short launches asks the loader, whose locks no child gets back.
  const auto kernel = cKernel(kSpread, 2);
  forkBeside([&] { return threadsOfLaunch(*kernel, 1) != 0; }, 60);
}

TEST(CpuFork, fork_while_other_threads_load_kernels) {
  const nereid::artifact::Artifact kernel = cArtifact(kSpread, 2);
  forkBeside([&] { return bool(cpuDevice().load(kernel)); }, 60);
}

TEST(CpuFork, fork_does_not_wait_for_a_program_that_does_not_end) {
  const auto endless = cKernel(R"(
#include <sched.h>
KERNEL { for (uint64_t id = begin; id < end; ++id)
  while (!__atomic_load_n(ARG(uint32_t *, 0), __ATOMIC_ACQUIRE)) sched_yield(); })",
                               1);
  const auto kernel = cKernel(kSpread, 2);
  const int status = inChild([&] {
    setCpuThreads(3);
    uint32_t flag = 1;
    // From these launches the pool learns that the kernel is worth threads.
    threadsUsed(*kernel);
    flag = 0;
    std::thread user([&] { (void)cpuDevice().launch(*endless, {64, 1, 1}, nullptr, Packed(&flag)); });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const int child = inChild([&] { return threadsOfLaunch(*kernel, 5000) == 0; });
    __atomic_store_n(&flag, 1, __ATOMIC_RELEASE);
    user.join();
    return child == 0 && threadsOfLaunch(*kernel, 5000) != 0 ? 0 : 1;
  });
  EXPECT_EQ(status, 0);
}
