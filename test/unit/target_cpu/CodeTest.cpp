// Properties of the generated code: size, libraries that it needs, determinism, other machines.
// SPDX-License-Identifier: MIT
#include "test/unit/target_cpu/LoadedKernel.h"

#include <gtest/gtest.h>

using namespace nereid;
using namespace nereid::cpu_test;

/// exp over a block of SIZE, reduced and stored.
static const char *const exponentials = R"(
tt.func public @kernel(%x: !tt.ptr<TYPE>, %o: !tt.ptr<TYPE>, %n: i32) {
  %i = tt.make_range {end = SIZE : i32, start = 0 : i32} : tensor<SIZExi32>
  %ns = tt.splat %n : i32 -> tensor<SIZExi32>
  %m = arith.cmpi slt, %i, %ns : tensor<SIZExi32>
  %xs = tt.splat %x : !tt.ptr<TYPE> -> tensor<SIZEx!tt.ptr<TYPE>>
  %xp = tt.addptr %xs, %i : tensor<SIZEx!tt.ptr<TYPE>>, tensor<SIZExi32>
  %v = tt.load %xp, %m : tensor<SIZEx!tt.ptr<TYPE>>
  %e = math.exp %v : tensor<SIZExTYPE>
  %s = "tt.reduce"(%e) <{axis = 0 : i32}> ({
  ^bb0(%a: TYPE, %b: TYPE):
    %t = arith.addf %a, %b : TYPE
    tt.reduce.return %t : TYPE
  }) : (tensor<SIZExTYPE>) -> TYPE
  %ss = tt.splat %s : TYPE -> tensor<SIZExTYPE>
  %r = arith.divf %e, %ss : tensor<SIZExTYPE>
  %os = tt.splat %o : !tt.ptr<TYPE> -> tensor<SIZEx!tt.ptr<TYPE>>
  %op = tt.addptr %os, %i : tensor<SIZEx!tt.ptr<TYPE>>, tensor<SIZExi32>
  tt.store %op, %r, %m : tensor<SIZEx!tt.ptr<TYPE>>
  tt.return
})";

static std::string sized(const std::string &size, const std::string &type = "f32") {
  return replaced(replaced(exponentials, "SIZE", size), "TYPE", type);
}

TEST(CpuCode, SizeDoesNotDependOnTheBlock) {
  auto small = compileText(sized("1024"));
  auto large = compileText(sized("65536"));
  ASSERT_TRUE(small && large);
  EXPECT_NEAR(double(large->object.size()), double(small->object.size()), 64);
  EXPECT_GE(large->arenaBytes, 65536u * 4);
}

TEST(CpuCode, EqualInputGivesEqualBytes) {
  auto first = compileText(sized("256"));
  auto second = compileText(sized("256"));
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->sharedObject, second->sharedObject);
}

TEST(CpuCode, ParametersLieAtNaturalOffsets) {
  auto code =
      compileText("tt.func public @kernel(%a: i1, %b: f16, %c: !tt.ptr<f32>, %d: i8, %e: f64, %f: i32) { tt.return }");
  ASSERT_TRUE(code);
  const std::vector<unsigned> offsets{0, 2, 8, 16, 24, 32}, sizes{1, 2, 8, 1, 8, 4};
  ASSERT_EQ(code->params.size(), offsets.size());
  for (size_t i = 0; i < offsets.size(); ++i) {
    EXPECT_EQ(code->params[i].offset, offsets[i]);
    EXPECT_EQ(code->params[i].size, sizes[i]);
  }
}

TEST(CpuCode, OnlyLibmIsNeeded) {
  auto single = compileText(sized("64"));
  auto wide = compileText(sized("64", "f64"));
  ASSERT_TRUE(single && wide);
  const std::string name = "libm.so.6";
  auto mentions = [&](const std::vector<char> &bytes) {
    return std::search(bytes.begin(), bytes.end(), name.begin(), name.end()) != bytes.end();
  };
  EXPECT_FALSE(mentions(single->sharedObject));
  EXPECT_TRUE(mentions(wide->sharedObject));
  EXPECT_TRUE(LoadedKernel::compile(sized("64", "f64")));
}

TEST(CpuCode, EveryX86LevelCompiles) {
  for (const char *arch : {"x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4", "sapphirerapids", "znver3"})
    for (const char *type : {"f32", "bf16", "f16"}) {
      std::string reason, error;
      auto target = cpu::namedTarget(arch, reason);
      ASSERT_TRUE(target) << reason;
      auto code = compileText(sized("128", type), *target, &error);
      const std::string name = arch;
      if (std::string(type) == "f16" && (name == "x86-64" || name == "x86-64-v2")) {
        EXPECT_FALSE(code);
        EXPECT_NE(error.find("F16C"), std::string::npos) << error;
        continue;
      }
      ASSERT_TRUE(code) << arch << " " << type << ": " << error;
      const bool isWide = name == "x86-64-v4" || name == "sapphirerapids";
      EXPECT_EQ(code->assembly.find("%zmm") != std::string::npos, isWide) << arch << " " << type;
    }
}

TEST(CpuCode, UnknownCpuSaysWhy) {
  std::string reason;
  EXPECT_FALSE(cpu::namedTarget("pdp11", reason));
  EXPECT_NE(reason.find("`pdp11`"), std::string::npos);
}

TEST(CpuCode, TwoKernelsAreAnError) {
  std::string error;
  EXPECT_FALSE(
      compileText("tt.func public @a() { tt.return }\ntt.func public @b() { tt.return }", cpu::hostTarget(), &error));
  EXPECT_NE(error.find("one kernel"), std::string::npos) << error;
}
