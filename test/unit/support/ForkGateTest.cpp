// Tests that forks wait for compilations, and that a child of a fork that timed out refuses to compile.
// SPDX-License-Identifier: MIT
#include "compiler/support/ForkGate.h"
#include "compiler/support/FatalGuard.h"

#include "gtest/gtest.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace nereid::support;

/// Runs `body` in a child; the exit status that it returns, or -1 if it hangs or dies.
template <typename Body> static int inChild(Body body) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(30);
    _exit(body());
  }
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

namespace {
/// A thread that simulates endless compilations: it holds the gate all the time, except between two compilations.
class Busy {
public:
  std::mutex lock;
  std::atomic<unsigned> rounds{0};
  Busy() : thread([this] { work(); }) {
    while (rounds == 0)
      std::this_thread::yield();
  }
  ~Busy() {
    stop = true;
    thread.join();
  }

private:
  void work() {
    for (; !stop; ++rounds)
      runGuarded([this] {
        const std::lock_guard held(lock);
        std::this_thread::sleep_for(std::chrono::milliseconds(3));
      });
  }
  std::atomic<bool> stop{false};
  std::thread thread;
};
} // namespace

TEST(ForkGate, a_child_finds_no_lock_of_a_compilation_held) {
  Busy busy;
  for (int round = 0; round < 10; ++round)
    ASSERT_EQ(inChild([&] { return ForkGate::compilerIsLost() || !busy.lock.try_lock(); }), 0) << round;
  const unsigned before = busy.rounds; // and the thread of the parent continues
  while (busy.rounds == before)
    std::this_thread::yield();
}

TEST(ForkGate, guarded_work_runs_in_the_child) {
  Busy busy;
  EXPECT_EQ(inChild([] {
              int answer = 0;
              return runGuarded([&] { answer = 42; }) || answer != 42;
            }),
            0);
}

TEST(ForkGate, a_thread_that_compiles_may_fork_itself) {
  int status = -1;
  EXPECT_FALSE(runGuarded([&] { status = inChild([] { return ForkGate::compilerIsLost(); }); }));
  EXPECT_EQ(status, 0);
}

TEST(ForkGate, only_the_first_fork_waits_for_work_that_was_given_up_and_does_not_end) {
  const auto isDone = std::make_shared<std::atomic<bool>>(false);
  const auto hasBegun = std::make_shared<std::atomic<bool>>(false);
  const GuardedEnd end = runGuarded(
      [isDone, hasBegun] {
        *hasBegun = true;
        while (!*isDone)
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
      },
      [&] { return hasBegun->load(); });
  ASSERT_TRUE(end.isCancelled);
  // The child has no such thread: it waits for nothing, neither at its own forks nor at its end.
  auto inLostChild = [] {
    if (!ForkGate::compilerIsLost() || !waitForCancelled(std::chrono::milliseconds(0)))
      return 1;
    return inChild([] { return ForkGate::compilerIsLost() ? 0 : 2; });
  };
  EXPECT_EQ(inChild(inLostChild), 0);
  const auto began = std::chrono::steady_clock::now();
  EXPECT_EQ(inChild(inLostChild), 0);
  EXPECT_LT(std::chrono::steady_clock::now() - began, std::chrono::seconds(3));
  *isDone = true;
  EXPECT_TRUE(waitForCancelled(std::chrono::seconds(10)));
  EXPECT_EQ(inChild([] { return ForkGate::compilerIsLost(); }), 0);
}
