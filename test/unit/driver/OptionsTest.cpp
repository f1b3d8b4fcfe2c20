// Tests that the table of options reaches a compilation's key and a kernel's metadata.
// SPDX-License-Identifier: MIT
#include "artifact/Sanitizers.h"
#include "compiler/driver/Compiler.h"
#include "compiler/driver/StoredOptions.h"
#include "compiler/sema/TtModuleEmitter.h"
#include "gtest/gtest.h"

#include <set>

using namespace nereid;

static std::string keyOf(const support::Options &options, const support::TargetSpec &target = {"cuda", "90", "", 0}) {
  sema::KernelRequest request;
  request.options = options;
  request.target = target;
  return driver::cacheKey(request, "source", "signature");
}

static void change(uint32_t &number) { number += 2; }
static void change(bool &flag) { flag = !flag; }
static void change(std::optional<bool> &choice) { choice = false; }
static void change(std::string &text) { text = "other"; }
static void change(std::vector<std::string> &names) { names = {"other"}; }
static void change(std::vector<support::ExternLibrary> &libraries) { libraries = {{"name", "/no/such/file.bc"}}; }
static void change(support::SanitizerSet &set) { set = artifact::Bounds | artifact::Nan; }

/// The options with the one of that row changed.
static support::Options with(const char *row) {
  support::Options options;
  support::forEachOption(
      [&](const support::OptionRow &other, auto &value) {
        if (other.python == llvm::StringRef(row))
          change(value);
      },
      options);
  return options;
}

TEST(Options, each_one_of_the_key_changes_it) {
  std::set<std::string> keys{keyOf(support::Options())};
  support::forEachOption(
      [&](const support::OptionRow &row, const auto &) {
        EXPECT_EQ(keys.insert(keyOf(with(row.python))).second, row.isInKey) << row.python;
      },
      support::Options());
  EXPECT_TRUE(keys.insert(keyOf(support::Options{.useAsyncCopy = true})).second);
  EXPECT_GT(keys.size(), 20u);
}

TEST(Options, each_part_of_the_target_changes_the_key) {
  std::set<std::string> keys;
  for (const support::TargetSpec &target : {support::TargetSpec{"cuda", "90", "", 0},
                                            {"sim", "90", "", 0},
                                            {"cuda", "80", "", 0},
                                            {"cuda", "90", "tma", 0},
                                            {"cuda", "90", "", 1 << 20}})
    EXPECT_TRUE(keys.insert(keyOf({}, target)).second) << target.backend << target.arch;
}

TEST(Options, stored_ones_are_read_from_metadata) {
  support::forEachOption(
      [&](const support::OptionRow &row, const auto &) {
        const support::Options options = with(row.python);
        artifact::Artifact artifact;
        driver::storeOptions(artifact, options);
        const bool isStored = row.stored != support::OptionStored::Never;
        EXPECT_EQ(artifact.options.contains(row.python), isStored) << row.python;
        EXPECT_EQ(driver::storedOptions(artifact) == options, isStored) << row.python;
      },
      support::Options());
}

TEST(Options, defaults_that_metadata_shows) {
  artifact::Artifact artifact;
  driver::storeOptions(artifact, {});
  const std::map<std::string, std::string> expected{
      {"num_warps", "4"},      {"num_stages", "3"},           {"num_ctas", "1"},
      {"maxnreg", "null"},     {"enable_fp_fusion", "true"},  {"debug", "false"},
      {"launch_pdl", "false"}, {"sanitize_overflow", "true"}, {"launch_cooperative_grid", "false"}};
  EXPECT_EQ(artifact.options, expected);
}
