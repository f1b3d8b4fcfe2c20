// Kernels of the launch ABI `own`: tensor maps by value, conditions on the arguments, and what is kept of both.
// SPDX-License-Identifier: MIT
#include "test/unit/runtime/StubDriver.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>

using namespace nereid::runtime;
using namespace nereid::artifact;

using nereid::artifact::Artifact;

/// (x: *fp16, rows: i32, columns: i32, scale: fp32) with one tensor map of x[rows, columns]; columns >= 64.
static Artifact ownArtifact() {
  Artifact artifact = cudaArtifact({"*fp16", "i32", "i32", "i32"});
  artifact.parameters[0].kind = ParameterKind::Pointer;
  artifact.abi = Abi::Own;
  TensorMapRecipe recipe;
  recipe.base.code = {Argument, 0};
  recipe.extents = {{{Argument, 2}}, {{Argument, 1}}};
  recipe.strides = {{{Argument, 2, Constant, 2, Mul}}};
  recipe.box = {64, 128};
  recipe.elementType = 6;
  recipe.elementBytes = 2;
  recipe.swizzleBytes = 128;
  artifact.tensorMaps = {recipe};
  artifact.conditions = {{{Argument, 2, Constant, 64, Sub}}};
  artifact.binary.insert(artifact.binary.find("  .param .u64 .ptr"), "  .param .align 64 .b8 map[128],\n");
  return artifact;
}

static std::vector<char> arguments(uint64_t x, int32_t rows, int32_t columns, uint32_t scale = 0) {
  std::vector<char> block(packedBytes(ownArtifact()));
  std::memcpy(block.data(), &x, sizeof x);
  std::memcpy(block.data() + 8, &rows, sizeof rows);
  std::memcpy(block.data() + 12, &columns, sizeof columns);
  std::memcpy(block.data() + 16, &scale, sizeof scale);
  return block;
}

static std::shared_ptr<Kernel> load(StubDriver &stub, const Artifact &artifact) {
  auto kernel = stub.device().load(artifact);
  EXPECT_TRUE(kernel) << kernel.error().text;
  return *kernel;
}

static constexpr uint64_t kAddress = 0x7f0012345670;

TEST(CudaTensorMaps, arrive_by_value_between_arguments_and_scratch) {
  StubDriver stub;
  const auto kernel = load(stub, ownArtifact());
  const auto done = stub.device().launch(*kernel, {3, 1, 1}, nullptr, arguments(kAddress, 300, 512, 7));
  ASSERT_TRUE(done) << done.error().text;
  const auto calls = stub.calls("cuLaunchKernelEx");
  ASSERT_EQ(calls.size(), 1u);
  const std::string base = "705634"
                           "12007f0000",
                    extents = "0002000000000000"
                              "2c01000000000000";
  const std::string map = base + extents + std::string(48, '0') + "0004000000000000" + std::string(48, '0') +
                          "40008000" + std::string(12, '0') +
                          "06"
                          "02"
                          "03"
                          "03"
                          "00";
  EXPECT_TRUE(contains(calls[0], "\"7056341200"
                                 "7f0000\", \"2c010000\", \"00020000\", \"07000000\", \"" +
                                     map))
      << calls[0];
  EXPECT_TRUE(contains(calls[0], "\", \"0000000000000000\", \"0000000000000000\"], \"offsets\"")) << calls[0];
}

/// The code of the L2 promotion of the last launch's tensor map.
static std::string promotion(StubDriver &stub) {
  const std::string call = stub.calls("cuLaunchKernelEx").back();
  const std::string box = "40008000" + std::string(12, '0');
  const size_t at = call.find(box);
  return at == std::string::npos ? "" : call.substr(at + box.size() + 6, 2);
}

TEST(CudaTensorMaps, one_wave_with_short_rows_reads_ahead) {
  StubDriver stub;
  const auto kernel = load(stub, ownArtifact());
  const auto launched = [&](Grid grid, int32_t columns) {
    EXPECT_TRUE(kernel->accepts(grid, arguments(kAddress, 300, columns)));
    EXPECT_TRUE(stub.device().launch(*kernel, grid, nullptr, arguments(kAddress, 300, columns)));
    return promotion(stub);
  };
  EXPECT_EQ(launched({132, 1, 1}, 1024), "03");
  EXPECT_EQ(launched({133, 1, 1}, 1024), "02");
  EXPECT_EQ(launched({132, 1, 1}, 1024), "03");
  EXPECT_EQ(launched({11, 4, 3}, 1024), "03");
  EXPECT_EQ(launched({11, 4, 4}, 1024), "02");
  EXPECT_EQ(launched({132, 1, 1}, 1032), "02");
}

TEST(CudaTensorMaps, known_arguments_are_not_encoded_again) {
  StubDriver stub;
  const auto kernel = load(stub, ownArtifact());
  for (uint32_t scale = 0; scale < 5; ++scale) { // no map depends on it
    EXPECT_TRUE(kernel->accepts({}, arguments(kAddress, 300, 512, scale)));
    ASSERT_TRUE(stub.device().launch(*kernel, {}, nullptr, arguments(kAddress, 300, 512, scale)));
  }
  EXPECT_EQ(stub.calls("cuTensorMapEncodeTiled").size(), 1u);
  ASSERT_TRUE(stub.device().launch(*kernel, {}, nullptr, arguments(kAddress + 64, 300, 512)));
  EXPECT_EQ(stub.calls("cuTensorMapEncodeTiled").size(), 2u);
  EXPECT_TRUE(contains(stub.calls("cuLaunchKernelEx").back(), "\"b0563412007f0000"
                                                              "0002"));
}

TEST(CudaTensorMaps, many_arguments_in_turn_stay_right) {
  StubDriver stub("log=0");
  const auto kernel = load(stub, ownArtifact());
  for (int round = 0; round < 2; ++round)
    for (int32_t columns = 64; columns < 4096; columns += 8)
      ASSERT_TRUE(stub.device().launch(*kernel, {}, nullptr, arguments(kAddress, 300, columns)));
}

TEST(CudaTensorMaps, arguments_that_do_not_fit) {
  StubDriver stub;
  const auto kernel = load(stub, ownArtifact());
  const auto problem = [&](uint64_t x, int32_t rows, int32_t columns) {
    const auto block = arguments(x, rows, columns);
    for (int again = 0; again < 2; ++again)
      EXPECT_FALSE(kernel->accepts({}, block));
    const auto result = stub.device().launch(*kernel, {}, nullptr, block);
    EXPECT_FALSE(result);
    EXPECT_EQ(result ? "" : result.error().code, "launch-arguments");
    return result ? "" : result.error().text;
  };
  EXPECT_TRUE(
      contains(problem(kAddress, 300, 56), "kernel `kernel` was compiled for other arguments: condition 0 is -8"));
  EXPECT_TRUE(contains(problem(kAddress + 8, 300, 512),
                       "tensor map 0: address " + std::to_string(kAddress + 8) + " is null or no multiple"));
  EXPECT_TRUE(contains(problem(0, 300, 512), "tensor map 0: address 0 is null"));
  EXPECT_TRUE(contains(problem(kAddress, 0, 512), "tensor map 0: extent 1 is 0; it must be from 1 to 2^32"));
  EXPECT_TRUE(contains(problem(kAddress, -1, 512), "extent 1 is -1"));
  EXPECT_TRUE(contains(problem(kAddress, 300, 100), "stride 1 is 200 bytes; it must be positive, below 2^40"));
  EXPECT_TRUE(stub.calls("cuLaunchKernelEx").empty());
  EXPECT_TRUE(kernel->accepts({}, arguments(kAddress, 300, 512)));
}

TEST(CudaTensorMaps, values_that_do_not_exist_do_not_fit) {
  StubDriver stub;
  Artifact artifact = ownArtifact();
  artifact.conditions = {{{Constant, 1, Argument, 3, Div}}};
  const auto kernel = load(stub, artifact);
  EXPECT_TRUE(kernel->accepts({}, arguments(kAddress, 300, 512, 1)));
  EXPECT_FALSE(kernel->accepts({}, arguments(kAddress, 300, 512, 0)));
  const auto result = stub.device().launch(*kernel, {}, nullptr, arguments(kAddress, 300, 512, 0));
  ASSERT_FALSE(result);
  EXPECT_TRUE(contains(result.error().text, "condition 0 has no value")) << result.error().text;
}

TEST(CudaTensorMaps, conditions_without_tensor_maps) {
  StubDriver stub;
  Artifact artifact = cudaArtifact({"u8", "i8"});
  artifact.abi = Abi::Own;
  artifact.conditions = {{{Argument, 0, Constant, 200, Sub}}, {{Constant, -100, Argument, 1, Sub}}, {{Constant, 0}}};
  const auto kernel = load(stub, artifact);
  std::vector<char> block(packedBytes(artifact));
  block[0] = static_cast<char>(200);  // zero-extended
  block[1] = static_cast<char>(-100); // sign-extended
  EXPECT_TRUE(kernel->accepts({}, block));
  EXPECT_TRUE(stub.device().launch(*kernel, {}, nullptr, block));
  block[0] = static_cast<char>(199);
  EXPECT_FALSE(kernel->accepts({}, block));
  artifact.conditions = {{{Constant, 0}}};
  EXPECT_TRUE(load(stub, artifact)->accepts({}, block));
  artifact.conditions = {{{Constant, -1}}};
  EXPECT_FALSE(load(stub, artifact)->accepts({}, block));
}

TEST(CudaTensorMaps, what_the_driver_refuses_does_not_fit) {
  StubDriver stub("fail=cuTensorMapEncodeTiled:1");
  const auto kernel = load(stub, ownArtifact());
  EXPECT_FALSE(kernel->accepts({}, arguments(kAddress, 300, 512)));
  const auto result = stub.device().launch(*kernel, {}, nullptr, arguments(kAddress, 300, 512));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, "launch-arguments");
  EXPECT_TRUE(contains(result.error().text, "tensor map 0: the driver refuses it")) << result.error().text;
}

TEST(CudaTensorMaps, driver_failures_are_not_the_arguments) {
  StubDriver stub("fail=cuTensorMapEncodeTiled:700");
  const auto kernel = load(stub, ownArtifact());
  EXPECT_TRUE(kernel->accepts({}, arguments(kAddress, 300, 512)));
  const auto result = stub.device().launch(*kernel, {}, nullptr, arguments(kAddress, 300, 512));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, "launch-earlier");
  EXPECT_TRUE(contains(result.error().text, "from cuTensorMapEncodeTiled")) << result.error().text;
}

TEST(CudaTensorMaps, older_drivers_have_none) {
  StubDriver stub("version=11080");
  const auto result = stub.device().load(ownArtifact());
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, "load-driver");
  EXPECT_TRUE(contains(result.error().text, "the installed one is for CUDA 11.8, so update")) << result.error().text;
}

TEST(CudaTensorMaps, threads_with_different_arguments) {
  StubDriver stub;
  const auto kernel = load(stub, ownArtifact());
  std::vector<std::thread> threads;
  std::atomic<int> done{0};
  for (int32_t i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      for (int32_t j = 0; j < 200; ++j) {
        const int32_t columns = 64 * (1 + (j + i) % 100);
        const auto block = arguments(kAddress, 128, columns);
        done += kernel->accepts({}, block) && stub.device().launch(*kernel, {}, nullptr, block);
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(done, 800);
  // In every launch the map is that of its own arguments: the packed columns are the map's first extent.
  for (const std::string &call : stub.calls("cuLaunchKernelEx")) {
    const size_t columns = call.find("\"80000000\", \"") + 13;
    EXPECT_TRUE(contains(call, "\"70563412007f0000" + call.substr(columns, 8) +
                                   "00000000"
                                   "80000000"))
        << call;
  }
}

TEST(CudaTensorMaps, captures_see_nothing_forbidden) {
  StubDriver stub;
  const auto kernel = load(stub, ownArtifact());
  stub.setCapturing(true);
  const auto result = stub.device().launch(*kernel, {}, reinterpret_cast<void *>(0x8), arguments(kAddress, 300, 512));
  stub.setCapturing(false);
  EXPECT_TRUE(result) << result.error().text;
}
