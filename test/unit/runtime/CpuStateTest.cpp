// What a program finds when it runs: its arena, its scratch, the float rules; and loading.
// SPDX-License-Identifier: MIT
#include "runtime/cpu/CpuDevice.h"
#include "runtime/cpu/SharedObject.h"
#include "test/unit/runtime/CKernel.h"

#include <gtest/gtest.h>

#include <fstream>
#include <set>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

using namespace nereid::runtime;
using nereid::artifact::Artifact;

static const char *const kAnswer = "KERNEL { *ARG(uint32_t *, 0) = ANSWER; }";

static std::string answer(int value) { return "#define ANSWER " + std::to_string(value) + "\n" + kAnswer; }

static std::string loadCode(Artifact artifact) {
  const auto kernel = cpuDevice().load(std::move(artifact));
  return kernel ? "" : kernel.error().code;
}

TEST(CpuLoad, many_kernels_keep_their_own_code) {
  std::vector<std::shared_ptr<Kernel>> kernels;
  for (int i = 0; i < 12; ++i)
    kernels.push_back(cKernel(answer(i), 1));
  for (int i = 0; i < 12; ++i) {
    uint32_t found = 99;
    ASSERT_TRUE(cpuDevice().launch(*kernels[i], {}, nullptr, Packed(&found)));
    EXPECT_EQ(found, static_cast<uint32_t>(i));
  }
}

TEST(CpuLoad, loaded_and_unloaded_again_and_again) {
  for (int i = 0; i < 300; ++i) {
    const auto kernel = cKernel(answer(i % 12), 1);
    uint32_t found = 99;
    ASSERT_TRUE(cpuDevice().launch(*kernel, {}, nullptr, Packed(&found)));
    ASSERT_EQ(found, static_cast<uint32_t>(i % 12));
  }
}

TEST(CpuLoad, file_serves_where_anonymous_memory_is_refused) {
  auto object = SharedObject::load("kernel", compileC(answer(7)), SharedObject::Via::File);
  ASSERT_TRUE(object) << object.error().text;
  EXPECT_NE(object->symbol("kernel"), nullptr);
  EXPECT_EQ(object->symbol("none"), nullptr);
}

TEST(CpuLoad, wrong_artifacts_are_errors) {
  const Artifact right = cArtifact(answer(1), 1);
  EXPECT_EQ(loadCode(right), "");
  Artifact wrong = right;
  wrong.target.backend = "cuda";
  EXPECT_EQ(loadCode(wrong), "load-target");
  wrong = right;
  wrong.abi = nereid::artifact::Abi::Own;
  EXPECT_EQ(loadCode(wrong), "load-abi");
  wrong = right;
  wrong.arenaAlign = 128;
  EXPECT_EQ(loadCode(wrong), "load-abi");
  wrong = right;
  wrong.entry = "other";
  EXPECT_EQ(loadCode(wrong), "load-entry");
  wrong = right;
  wrong.binary = "not an object";
  EXPECT_EQ(loadCode(wrong), "load-binary");
  wrong = right;
  wrong.binary = "";
  EXPECT_EQ(loadCode(wrong), "load-binary");
}

TEST(CpuLoad, features_that_are_missing_here_are_named) {
  std::ifstream file("/proc/cpuinfo");
  const std::string info{std::istreambuf_iterator<char>(file), {}};
  const auto code = [](const char *features) {
    Artifact artifact = cArtifact(answer(1), 1);
    artifact.target.features = features;
    return loadCode(artifact);
  };
  EXPECT_EQ(code("-amx-tile,-avx512fp16"), "");
#if defined(__x86_64__)
  EXPECT_EQ(code("+avx512f"), info.find(" avx512f ") == info.npos ? "load-feature" : "");
  EXPECT_EQ(code("+avx2"), info.find(" avx2 ") == info.npos ? "load-feature" : "");
  EXPECT_EQ(code("+amx-tile,+sse2"), info.find(" amx_tile") == info.npos ? "load-feature" : "");
#endif
}

TEST(CpuState, arena_is_aligned_grows_and_is_kept) {
  const char *const source = "KERNEL { for (uint64_t i = 0; i < ARG(uint64_t, 1); ++i) arena[i] = 1;"
                             " *ARG(char **, 0) = arena; }";
  Artifact artifact = cArtifact(source, 2);
  char *last = nullptr;
  for (uint64_t bytes : {0, 1, 100, 5000, 1 << 20, 64}) {
    artifact.arenaBytes = bytes;
    const auto kernel = cpuDevice().load(artifact);
    ASSERT_TRUE(kernel);
    char *arena = nullptr;
    ASSERT_TRUE(cpuDevice().launch(**kernel, {}, nullptr, Packed(&arena, bytes)));
    EXPECT_EQ(reinterpret_cast<uint64_t>(arena) % 64, 0u);
    if (bytes == 64)
      EXPECT_EQ(arena, last);
    last = arena;
  }
}

TEST(CpuState, arena_says_whether_a_call_of_the_same_launch_left_it) {
  const char *const source = "KERNEL { uint64_t *word = (uint64_t *)arena, *counts = ARG(uint64_t *, 0);"
                             " __atomic_fetch_add(counts, 1, 5);"
                             " if (*word == 0) __atomic_fetch_add(counts + 1, 1, 5);"
                             " else if (*word != ARG(uint64_t, 1)) __atomic_fetch_add(counts + 2, 1, 5);"
                             " *word = ARG(uint64_t, 1); }";
  Artifact artifact = cArtifact(source, 2);
  artifact.arenaBytes = 64;
  const auto kernel = cpuDevice().load(artifact);
  ASSERT_TRUE(kernel);
  uint64_t calls = 0, begins = 0;
  for (uint64_t launch = 1; launch <= 20; ++launch) {
    uint64_t counts[3] = {};
    ASSERT_TRUE(cpuDevice().launch(**kernel, {64, 1, 1}, nullptr, Packed(&counts[0], launch)));
    EXPECT_GE(counts[1], 1u);
    EXPECT_EQ(counts[2], 0u) << "contents of another launch";
    calls += counts[0];
    begins += counts[1];
  }
  EXPECT_LT(begins, calls);
}

TEST(CpuState, arena_that_cannot_be_had_is_an_error) {
  Artifact artifact = cArtifact(answer(1), 1);
  for (uint64_t bytes : {uint64_t{1} << 60, ~uint64_t{0}}) {
    artifact.arenaBytes = bytes;
    const auto kernel = cpuDevice().load(artifact);
    ASSERT_TRUE(kernel);
    uint32_t found = 99;
    const auto result = cpuDevice().launch(**kernel, {}, nullptr, Packed(&found));
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code, "launch-memory");
    EXPECT_EQ(found, 99u);
  }
}

TEST(CpuState, each_program_has_its_scratch) {
  Artifact artifact = cArtifact(R"(
KERNEL {
  char *scratch = ARG(char *, 1);
  for (uint64_t id = begin; id < end; ++id)
    for (int i = 0; i < 100; ++i) scratch[id * 100 + i] = 1;
  ARG(uint64_t *, 0)[0] = (uint64_t)scratch;
  ARG(uint64_t *, 0)[1] = ARG(uint64_t, 2);
})",
                                1);
  artifact.globalScratchBytes = 100;
  artifact.globalScratchAlign = 256;
  const auto kernel = cpuDevice().load(artifact);
  ASSERT_TRUE(kernel);
  uint64_t found[2] = {0, 1};
  ASSERT_TRUE(cpuDevice().launch(**kernel, {50, 1, 1}, nullptr, Packed(found)));
  EXPECT_NE(found[0], 0u);
  EXPECT_EQ(found[0] % 256, 0u);
  EXPECT_EQ(found[1], 0u);
  const auto tooMuch = cpuDevice().launch(**kernel, {~0u, 1u << 30, 1}, nullptr, Packed(found));
  ASSERT_FALSE(tooMuch);
  EXPECT_EQ(tooMuch.error().code, "launch-memory");
}

TEST(CpuState, a_single_program_has_scratch_for_itself_alone) {
  Artifact artifact = cArtifact(R"(
KERNEL {
  char *scratch = ARG(char *, 1);
  for (uint64_t id = begin; id < end; ++id) {
    for (int i = 0; i < 100; ++i) scratch[id * 100 + i] = 1;
    ARG(uint64_t *, 0)[0] += 1;
    ARG(uint64_t *, 0)[1] = id;
  }
  ARG(uint64_t *, 0)[2] = (uint64_t)scratch;
})",
                                1);
  artifact.globalScratchBytes = 100;
  artifact.globalScratchAlign = 256;
  const auto kernel = cpuDevice().load(artifact);
  ASSERT_TRUE(kernel);
  const Grid grid{~0u, 1u << 20, 2}; // all programs together: more memory than there is
  for (const Grid program : {Grid{0, 0, 0}, Grid{5, 3, 1}, Grid{~0u - 1, (1u << 20) - 1, 1}}) {
    uint64_t found[3] = {};
    ASSERT_TRUE(launchCpuProgram(**kernel, grid, program, Packed(found)));
    EXPECT_EQ(found[0], 1u);
    EXPECT_EQ(found[1], program.x + uint64_t{grid.x} * (program.y + uint64_t{grid.y} * program.z));
    EXPECT_EQ(found[2] % 256, 0u);
  }
}

#if defined(__x86_64__)
TEST(CpuState, float_rules_of_the_caller_do_not_reach_programs) {
  const ThreadsForScope threads(3);
  const auto kernel = cKernel(R"(
KERNEL {
  volatile float tiny = 1e-38f;
  for (uint64_t id = begin; id < end; ++id) {
    for (volatile int work = 20000; work > 0;) work = work - 1;
    ARG(float *, 0)[id] = tiny * 0.1f;
  }
})",
                              1);
  const unsigned before = _mm_getcsr();
  const unsigned flush = before | 0x8040; // denormals count as zero, in and out
  _mm_setcsr(flush);
  std::vector<float> many(100);
  const auto result = cpuDevice().launch(*kernel, {100, 1, 1}, nullptr, Packed(many.data()));
  const unsigned after = _mm_getcsr();
  _mm_setcsr(before);
  ASSERT_TRUE(result);
  EXPECT_EQ(after & ~0x3fu, flush & ~0x3fu);
  for (float value : many)
    ASSERT_GT(value, 0);
}
#endif

TEST(CpuProperties, occupancy_arithmetic_gives_a_program) {
  const DeviceProperties &cpu = cpuDevice().properties();
  EXPECT_GE(cpu.multiprocessorCount, 1u);
  EXPECT_GE(cpu.maxSharedMem, 16384u);
  EXPECT_GE(cpu.maxThreadsPerSm / cpu.warpSize, 8u);
  for (uint32_t registers : {16u, 32u, 256u})
    EXPECT_GE(cpu.maxNumRegs / (registers * cpu.warpSize * 8), 1u);
  EXPECT_FALSE(cpu.name.empty());
}
