// Tests that fatal errors of LLVM end the guarded work, not the process.
// SPDX-License-Identifier: MIT
#include "compiler/support/FatalGuard.h"

#include "llvm/Support/ErrorHandling.h"
#include "gtest/gtest.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <thread>

using nereid::support::runGuarded;

TEST(FatalGuard, returns_nothing_when_work_ends) {
  bool ran = false;
  EXPECT_FALSE(runGuarded([&] { ran = true; }));
  EXPECT_TRUE(ran);
}

TEST(FatalGuard, returns_the_reason_of_a_fatal_error) {
  bool wentOn = false;
  auto reason = runGuarded([&] {
    llvm::report_fatal_error("no such register");
    wentOn = true;
  });
  ASSERT_TRUE(reason);
  EXPECT_EQ(*reason, "no such register");
  EXPECT_FALSE(wentOn);
}

TEST(FatalGuard, can_be_used_again_after_a_fatal_error) {
  runGuarded([] { llvm::report_fatal_error("first"); });
  auto reason = runGuarded([] { llvm::report_fatal_error("second"); });
  ASSERT_TRUE(reason);
  EXPECT_EQ(*reason, "second");
}

static int descend(int depth) {
  volatile char frame[4096];
  frame[0] = static_cast<char>(depth);
  return depth == 0 ? frame[0] : descend(depth - 1) + frame[0];
}

TEST(FatalGuard, has_a_stack_for_deep_recursion) {
  int result = -1;
  EXPECT_FALSE(runGuarded([&] { result = descend(20'000); })); // 80 MB
  EXPECT_NE(result, -1);
}

TEST(FatalGuard, what_lies_around_an_inner_guard_is_left_in_order) {
  std::mutex mutex;
  std::optional<std::string> inner;
  EXPECT_FALSE(runGuarded([&] {
    const std::lock_guard lock(mutex);
    inner = runGuarded([] { llvm::report_fatal_error("within"); });
  }));
  EXPECT_EQ(inner, "within");
  EXPECT_TRUE(mutex.try_lock());
  mutex.unlock();
  // The outer guard is active again.
  EXPECT_EQ(runGuarded([&] {
              runGuarded([] { llvm::report_fatal_error("within"); });
              llvm::report_fatal_error("around");
            }),
            "around");
}

TEST(FatalGuard, work_that_is_given_up_ends_later_on_what_it_owns) {
  struct State {
    std::atomic<int> steps{0};
    std::atomic<bool> wentOn{false};
  };
  const auto state = std::make_shared<State>();
  const auto end = nereid::support::runGuarded(
      [state] {
        for (; state->steps < 60'000; ++state->steps) { // a minute
          nereid::support::exitIfCancelled();
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        state->wentOn = true;
      },
      [&] { return state->steps > 2; });
  EXPECT_TRUE(end.isCancelled);
  EXPECT_TRUE(nereid::support::waitForCancelled(std::chrono::seconds(30)));
  EXPECT_FALSE(state->wentOn);
}

TEST(FatalGuard, work_that_passes_its_time_limit_is_given_up) {
  const auto wentOn = std::make_shared<std::atomic<bool>>(false);
  const auto end = nereid::support::runGuarded(
      [wentOn] {
        const nereid::support::TimeLimit limit(std::chrono::seconds(1));
        while (!nereid::support::isCancelled())
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        nereid::support::exitIfCancelled();
        *wentOn = true;
      },
      [] { return false; });
  EXPECT_TRUE(end.isCancelled);
  EXPECT_TRUE(end.isTimedOut);
  EXPECT_TRUE(nereid::support::waitForCancelled(std::chrono::seconds(30)));
  EXPECT_FALSE(*wentOn);
}

TEST(FatalGuard, work_that_may_be_given_up_comes_to_its_end_otherwise) {
  const auto ran = std::make_shared<bool>(false);
  const auto end = nereid::support::runGuarded([ran] { *ran = true; }, [] { return false; });
  EXPECT_FALSE(end.isCancelled);
  EXPECT_FALSE(end.failure);
  EXPECT_TRUE(*ran);
}
