// Persistent kernels: the CTAs that are started, the parameters that they get, and the counters of each launch.
// SPDX-License-Identifier: MIT
#include "runtime/cuda/CudaKernel.h"
#include "test/unit/runtime/StubDriver.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>

using namespace nereid::runtime;

using nereid::artifact::Abi;
using nereid::artifact::Artifact;

/// The stub runs two CTAs per multiprocessor.
static constexpr uint32_t kResident = 2 * 132;

static Artifact persistentArtifact() {
  Artifact artifact = cudaArtifact({"i32"});
  artifact.abi = Abi::Own;
  artifact.persistent = true;
  artifact.sharedBytes = 4096;
  artifact.binary.insert(artifact.binary.find("  .param .u64 .ptr"),
                         "  .param .u32 gridX,\n  .param .u32 gridY,\n  .param .u32 gridZ,\n"
                         "  .param .u64 .ptr .global .align 8 counters,\n");
  return artifact;
}

static std::shared_ptr<Kernel> load(StubDriver &stub, const Artifact &artifact) {
  auto kernel = stub.device().load(artifact);
  EXPECT_TRUE(kernel) << kernel.error().text;
  return *kernel;
}

static void launch(StubDriver &stub, Kernel &kernel, Grid grid, void *stream = nullptr) {
  const auto done = stub.device().launch(kernel, grid, stream, patternBlock(kernel.artifact()));
  EXPECT_TRUE(done) << done.error().text;
}

/// The texts of the arguments of each launch, without quotes.
static std::vector<std::vector<std::string>> argumentsOf(const StubDriver &stub) {
  std::vector<std::vector<std::string>> launches;
  for (const std::string &call : stub.calls("cuLaunchKernelEx")) {
    const std::string key = "\"arguments\": [\"";
    const size_t begin = call.find(key) + key.size();
    std::string list = call.substr(begin, call.find("\"]", begin) - begin);
    auto &arguments = launches.emplace_back();
    for (size_t at = 0; at != std::string::npos;) {
      const size_t end = list.find("\", \"", at);
      arguments.push_back(list.substr(at, end - at));
      at = end == std::string::npos ? end : end + 4;
    }
  }
  return launches;
}

TEST(CudaPersistent, grid_and_counters_follow_the_arguments) {
  StubDriver stub;
  const auto kernel = load(stub, persistentArtifact());
  EXPECT_EQ(stub.calls("cuOccupancyMaxActiveBlocksPerMultiprocessor"),
            std::vector<std::string>{R"({"call": "cuOccupancyMaxActiveBlocksPerMultiprocessor", "threads": 128, )"
                                     R"("shared": 4096})"});
  launch(stub, *kernel, {100, 20, 3});
  const auto launches = argumentsOf(stub);
  ASSERT_EQ(launches.size(), 1u);
  ASSERT_EQ(launches[0].size(), 7u);
  EXPECT_EQ(launches[0][0], "01010101");
  EXPECT_EQ(launches[0][1], "64000000");
  EXPECT_EQ(launches[0][2], "14000000");
  EXPECT_EQ(launches[0][3], "03000000");
  EXPECT_TRUE(launches[0][4].ends_with("7f0000")) << launches[0][4];
  EXPECT_EQ(launches[0][5], "0000000000000000");
  EXPECT_EQ(launches[0][6], "0000000000000000");
}

TEST(CudaPersistent, no_more_ctas_than_run_at_once_nor_than_programs) {
  StubDriver stub;
  const auto kernel = load(stub, persistentArtifact());
  launch(stub, *kernel, {10, 5, 2});
  launch(stub, *kernel, {10, 5, 20});
  launch(stub, *kernel, {0, 5, 20});
  auto calls = stub.calls("cuLaunchKernelEx");
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_TRUE(contains(calls[0], "\"grid\": [100, 1, 1]")) << calls[0];
  EXPECT_TRUE(contains(calls[1], "\"grid\": [" + std::to_string(kResident) + ", 1, 1]")) << calls[1];
  stub.clear();
  Artifact clustered = persistentArtifact();
  clustered.clusterDims = {4, 1, 1};
  const auto other = load(stub, clustered);
  launch(stub, *other, {10, 1, 1});
  launch(stub, *other, {1000, 1, 1});
  calls = stub.calls("cuLaunchKernelEx");
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_TRUE(contains(calls[0], "\"grid\": [40, 1, 1]")) << calls[0];
  EXPECT_TRUE(contains(calls[1], "\"grid\": [" + std::to_string(kResident) + ", 1, 1]")) << calls[1];
}

TEST(CudaPersistent, counters_are_zeroed_once_and_taken_in_turn) {
  StubDriver stub;
  const auto kernel = load(stub, persistentArtifact()), second = load(stub, persistentArtifact());
  const auto zeroed = stub.calls("cuMemsetD8Async");
  ASSERT_EQ(zeroed.size(), 1u);
  EXPECT_TRUE(contains(zeroed[0], "\"value\": 0, \"bytes\": 32768, \"stream\": 20480")) << zeroed[0];
  EXPECT_EQ(stub.calls("cuStreamSynchronize").size(), 1u);
  EXPECT_EQ(stub.calls("cuStreamDestroy").size(), 1u);
  stub.clear();
  for (uint32_t i = 0; i <= LaunchCounters::kPairs; ++i)
    launch(stub, i % 2 ? *kernel : *second, {1, 1, 1}, reinterpret_cast<void *>(uint64_t{8} + i % 3));
  const auto launches = argumentsOf(stub);
  std::set<std::string> pairs;
  for (const auto &arguments : launches)
    pairs.insert(arguments[4]);
  EXPECT_EQ(pairs.size(), LaunchCounters::kPairs);
  EXPECT_EQ(launches.front()[4], launches.back()[4]);
  EXPECT_TRUE(stub.calls("cuMemAlloc").empty());
}

TEST(CudaPersistent, threads_get_different_counters) {
  StubDriver stub;
  const auto kernel = load(stub, persistentArtifact());
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int j = 0; j < 100; ++j)
        launch(stub, *kernel, {1, 1, 1});
    });
  for (std::thread &thread : threads)
    thread.join();
  std::set<std::string> pairs;
  for (const auto &arguments : argumentsOf(stub))
    pairs.insert(arguments[4]);
  EXPECT_EQ(pairs.size(), 400u);
}

TEST(CudaPersistent, captured_launches_keep_their_counters) {
  StubDriver stub;
  const auto kernel = load(stub, persistentArtifact());
  launch(stub, *kernel, {1, 1, 1}, reinterpret_cast<void *>(8));
  stub.setCapturing(true);
  for (uint32_t i = 0; i <= LaunchCounters::kGraphPairs; ++i)
    launch(stub, *kernel, {1, 1, 1}, reinterpret_cast<void *>(8));
  launch(stub, *kernel, {1, 1, 1}); // the default stream is not captured
  stub.setCapturing(false);
  for (uint32_t i = 0; i < LaunchCounters::kPairs; ++i)
    launch(stub, *kernel, {1, 1, 1}, reinterpret_cast<void *>(8));
  const auto launches = argumentsOf(stub);
  std::set<std::string> captured, others;
  for (size_t i = 0; i < launches.size(); ++i)
    (i >= 1 && i <= LaunchCounters::kGraphPairs + 1 ? captured : others).insert(launches[i][4]);
  EXPECT_EQ(captured.size(), LaunchCounters::kGraphPairs + 1);
  EXPECT_EQ(others.size(), LaunchCounters::kPairs);
  for (const std::string &pair : captured)
    EXPECT_FALSE(others.count(pair));
  EXPECT_EQ(stub.calls("cuMemsetD8Async").size(), 3u);
}

TEST(CudaPersistent, loading_while_a_stream_is_captured) {
  StubDriver stub;
  stub.setCapturing(true);
  const auto kernel = stub.device().load(persistentArtifact());
  stub.setCapturing(false);
  EXPECT_TRUE(kernel) << kernel.error().text;
}

TEST(CudaPersistent, grids_that_are_not_counted_do_not_fit) {
  StubDriver stub;
  const auto kernel = load(stub, persistentArtifact());
  const auto block = patternBlock(persistentArtifact());
  EXPECT_TRUE(kernel->accepts({0x7fffffff, 1, 1}, block));
  EXPECT_TRUE(kernel->accepts({0, 1, 1}, block));
  EXPECT_FALSE(kernel->accepts({0x40000000, 2, 1}, block));
  EXPECT_FALSE(kernel->accepts({0x7fffffff, 65535, 65535}, block));
  const auto result = stub.device().launch(*kernel, {0x40000000, 2, 1}, nullptr, block);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, "launch-arguments");
  EXPECT_TRUE(contains(result.error().text, "it counts at most 2147483647 programs")) << result.error().text;
  const auto tooLarge = stub.device().launch(*kernel, {1, 65536, 1}, nullptr, block); // as of every kernel
  ASSERT_FALSE(tooLarge);
  EXPECT_EQ(tooLarge.error().code, "launch-grid");
}

TEST(CudaPersistent, scratch_is_for_every_program) {
  StubDriver stub;
  Artifact artifact = persistentArtifact();
  artifact.globalScratchBytes = 256;
  const auto kernel = load(stub, artifact);
  launch(stub, *kernel, {1000, 1, 1});
  const auto allocated = stub.calls("cuMemAllocAsync");
  ASSERT_EQ(allocated.size(), 1u);
  EXPECT_TRUE(contains(allocated[0], "\"bytes\": 256000,")) << allocated[0];
}

TEST(CudaPersistent, failures_of_the_driver) {
  for (const char *failing : {"cuMemAlloc:2", "cuStreamCreate:2", "cuMemsetD8Async:2", "cuStreamSynchronize:2"}) {
    StubDriver stub(std::string("fail=") + failing);
    const auto kernel = stub.device().load(persistentArtifact());
    ASSERT_FALSE(kernel) << failing;
    EXPECT_EQ(kernel.error().code, "load-binary");
    EXPECT_EQ(stub.calls("cuModuleUnload").size(), 1u);
  }
  StubDriver stub("fail=cuStreamIsCapturing:400");
  const auto kernel = load(stub, persistentArtifact());
  const auto block = patternBlock(persistentArtifact());
  const auto result = stub.device().launch(*kernel, {}, reinterpret_cast<void *>(8), block);
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, "launch-failed");
  EXPECT_TRUE(stub.calls("cuLaunchKernelEx").empty());
}
