// Failed links: each is an error with a message, and has no effect on the next link.
// SPDX-License-Identifier: MIT
#include "compiler/lowering/llvm/Link.h"
#include "compiler/support/FatalGuard.h"
#include "test/unit/target_cpu/LoadedKernel.h"

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"
#include <gtest/gtest.h>

using namespace nereid;
using namespace nereid::cpu_test;

static Code smallKernel() {
  auto code = compileText("tt.func public @kernel(%n: i32) { tt.return }");
  return code ? *code : Code();
}

/// The message of a failed link; empty where it succeeds.
static std::string failureOf(llvm::Expected<std::vector<char>> linked) {
  return linked ? "" : llvm::toString(linked.takeError());
}

TEST(CpuLink, fatal_error_in_the_linker_lets_the_next_link_go_on) {
  const Code code = smallKernel();
  ASSERT_FALSE(code.object.empty());
  auto giveUp = [](llvm::ArrayRef<const char *>, llvm::raw_ostream &) -> bool { llvm::report_fatal_error("no way"); };
  std::string within, after;
  // As in a compilation, which is guarded itself.
  EXPECT_FALSE(support::runGuarded([&] { within = failureOf(lowering::linkShared(code.object, "kernel", giveUp)); }));
  EXPECT_EQ(within, "the linker crashed: no way");
  EXPECT_EQ(failureOf(lowering::linkShared(code.object, "kernel", giveUp)), "the linker crashed: no way");
  EXPECT_FALSE(support::runGuarded([&] { after = failureOf(lowering::linkShared(code.object, "kernel")); }));
  EXPECT_EQ(after, "");
}

TEST(CpuLink, refused_object) {
  const std::vector<char> noObject(64, 'x');
  const std::string said = failureOf(lowering::linkShared(noObject, "kernel"));
  EXPECT_TRUE(llvm::StringRef(said).starts_with("the linker failed: ")) << said;
  EXPECT_EQ(failureOf(lowering::linkShared(smallKernel().object, "kernel")), "");
}
