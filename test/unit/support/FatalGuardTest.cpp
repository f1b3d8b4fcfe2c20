// Fatal errors of LLVM end the guarded work, not the process.
// SPDX-License-Identifier: MIT
#include "compiler/support/FatalGuard.h"

#include "llvm/Support/ErrorHandling.h"
#include "gtest/gtest.h"

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
