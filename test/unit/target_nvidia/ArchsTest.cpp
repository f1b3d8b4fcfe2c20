// Tests names of GPU generations, including those that have no row of their own.
// SPDX-License-Identifier: MIT
#include "compiler/target/nvidia/arch/Archs.h"

#include "test/unit/target_nvidia/NamedArch.h"

namespace nereid::nvidia {
namespace {

std::string refusal(const char *name) {
  std::string reason;
  EXPECT_FALSE(findArch(name, reason)) << name;
  return reason;
}

TEST(Archs, OneGenerationHasSeveralNames) {
  for (const char *name : {"90", "90a", "sm_90a", "sm90", "sm90a"}) {
    EXPECT_STREQ(arch(name).cpu, "sm_90a") << name;
    EXPECT_TRUE(arch(name).hasWgmma) << name;
    EXPECT_EQ(canonicalName(name), "90") << name;
  }
  EXPECT_STREQ(arch("sm_90").cpu, "sm_90");
  EXPECT_FALSE(arch("sm_90").hasWgmma);
  EXPECT_TRUE(arch("sm_90").hasToolchain);
  EXPECT_EQ(canonicalName("sm_90"), "sm_90");
  EXPECT_STREQ(arch("100f").cpu, "sm_100a");
  for (const char *name : {"80", "sm_80", "sm80"})
    EXPECT_STREQ(arch(name).cpu, "sm_80") << name;
}

TEST(Archs, NumbersBetweenTheRowsGetThePortableCodeBelow) {
  EXPECT_STREQ(arch("88").cpu, "sm_87");
  EXPECT_STREQ(arch("101").cpu, "sm_100");
  EXPECT_STREQ(arch("105").cpu, "sm_103");
  EXPECT_TRUE(arch("105").hasToolchain); // a cubin for a lower minor version
  EXPECT_STREQ(arch("95").cpu, "sm_90");
}

TEST(Archs, NewerGpusGetThePtxOfTheNewestRow) {
  for (const char *name : {"122", "130", "210"}) {
    EXPECT_STREQ(arch(name).cpu, "sm_121") << name;
    EXPECT_FALSE(arch(name).hasWgmma);
  }
  EXPECT_TRUE(arch("122").hasToolchain);
  EXPECT_FALSE(arch("130").hasToolchain); // a cubin would be for another major version
}

TEST(Archs, OthersAreRefused) {
  EXPECT_EQ(refusal("61"), "no code is generated for compute capability 61; the lowest supported is 70");
  EXPECT_EQ(refusal("0"), "no code is generated for compute capability 0; the lowest supported is 70");
  for (const char *name : {"", "hopper", "sm_", "90ab", "a90", "-90", "9.0"})
    EXPECT_EQ(refusal(name), "`" + std::string(name) + "` is not a compute capability, such as 90 or sm_90a");
}

} // namespace
} // namespace nereid::nvidia
