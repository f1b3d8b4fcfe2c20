// Launching on a GPU: argument bytes, launch attributes, streams, contexts, and asynchronous failures.
// SPDX-License-Identifier: MIT
#include "test/unit/runtime/StubDriver.h"

#include <gtest/gtest.h>

#include <cstring>
#include <thread>

using namespace nereid::runtime;

static std::shared_ptr<Kernel> loaded(CudaDevice &device, const nereid::artifact::Artifact &artifact) {
  auto kernel = device.load(artifact);
  EXPECT_TRUE(kernel) << kernel.error().text;
  return kernel ? *kernel : nullptr;
}

/// The one launch that the stub has recorded.
static std::string launched(const StubDriver &stub) {
  const auto calls = stub.calls("cuLaunchKernelEx");
  EXPECT_EQ(calls.size(), 1u);
  return calls.empty() ? "" : calls.back();
}

TEST(CudaLaunch, every_argument_byte_reaches_its_parameter) {
  StubDriver stub;
  const auto artifact = cudaArtifact({"*fp32", "i1", "i32", "i8", "fp64", "i16", "*fp16"});
  const auto kernel = loaded(stub.device(), artifact);
  auto block = patternBlock(artifact);
  ASSERT_TRUE(stub.device().launch(*kernel, {5, 6, 7}, reinterpret_cast<void *>(0x40), block));
  const std::string call = launched(stub);
  EXPECT_TRUE(contains(call, R"("name": "kernel", "grid": [5, 6, 7], "block": [128, 1, 1], "shared": 0, "stream": 64, )"
                             R"("device": 0, "attributes": {})"))
      << call;
  EXPECT_TRUE(contains(call, R"("arguments": ["0101010101010101", "02", "03030303", "04", "0505050505050505", "0606", )"
                             R"("0707070707070707", "0000000000000000", "0000000000000000"])"))
      << call;
  EXPECT_TRUE(contains(call, R"("offsets": [0, 8, 12, 16, 24, 32, 40, 48, 56])")) << call;
  EXPECT_TRUE(contains(call, R"("wanted_offsets": [0, 8, 12, 16, 24, 32, 40, 48, 56])")) << call;
}

TEST(CudaLaunch, many_parameters) {
  StubDriver stub;
  const auto artifact = cudaArtifact(std::vector<std::string>(100, "i8"));
  const auto kernel = loaded(stub.device(), artifact);
  ASSERT_TRUE(stub.device().launch(*kernel, {}, nullptr, patternBlock(artifact)));
  EXPECT_TRUE(contains(launched(stub), R"("63", "64", "0000000000000000", "0000000000000000"])")) << launched(stub);
}

TEST(CudaLaunch, clusters_cooperation_and_dependent_launch_are_attributes) {
  StubDriver stub;
  auto artifact = cudaArtifact({});
  artifact.clusterDims = {4, 1, 1};
  artifact.cooperative = artifact.programmaticLaunch = true;
  artifact.sharedBytes = 65536;
  const auto kernel = loaded(stub.device(), artifact);
  ASSERT_TRUE(stub.device().launch(*kernel, {3, 2, 1}, nullptr, patternBlock(artifact)));
  EXPECT_TRUE(contains(launched(stub), R"("grid": [12, 2, 1])")) << launched(stub);
  EXPECT_TRUE(contains(launched(stub), R"("shared": 65536)")) << launched(stub);
  EXPECT_TRUE(contains(launched(stub), R"("attributes": {"cluster": [4, 1, 1], "cooperative": 1, "pdl": 1})"));
}

TEST(CudaLaunch, empty_grid_launches_nothing) {
  StubDriver stub;
  const auto artifact = cudaArtifact({});
  const auto kernel = loaded(stub.device(), artifact);
  for (Grid grid : {Grid{0, 1, 1}, Grid{1, 0, 1}, Grid{1, 1, 0}, Grid{~0u, ~0u, 0}})
    EXPECT_TRUE(stub.device().launch(*kernel, grid, nullptr, patternBlock(artifact)));
  EXPECT_TRUE(stub.calls("cuLaunchKernelEx").empty());
}

TEST(CudaLaunch, grids_beyond_the_hardware_are_an_error) {
  StubDriver stub;
  auto artifact = cudaArtifact({});
  const auto kernel = loaded(stub.device(), artifact);
  artifact.clusterDims = {2, 1, 1};
  const auto clustered = loaded(stub.device(), artifact);
  const auto codeOf = [&](Kernel &which, Grid grid) {
    const auto result = stub.device().launch(which, grid, nullptr, patternBlock(artifact));
    return result ? "" : result.error().code;
  };
  EXPECT_EQ(codeOf(*kernel, {0x7fffffff, 65535, 65535}), "");
  EXPECT_EQ(codeOf(*kernel, {0x80000000, 1, 1}), "launch-grid");
  EXPECT_EQ(codeOf(*kernel, {1, 65536, 1}), "launch-grid");
  EXPECT_EQ(codeOf(*kernel, {1, 1, 65536}), "launch-grid");
  EXPECT_EQ(codeOf(*clustered, {0x40000000, 1, 1}), "launch-grid");
}

TEST(CudaLaunch, wrong_block_and_wrong_device) {
  StubDriver stub("devices=2");
  const auto artifact = cudaArtifact({"i32"});
  const auto kernel = loaded(stub.device(0), artifact);
  const auto block = patternBlock(artifact);
  const auto small = stub.device(0).launch(*kernel, {}, nullptr, std::span(block).first(8));
  ASSERT_FALSE(small);
  EXPECT_EQ(small.error().code, "launch-arguments");
  const auto other = stub.device(1).launch(*kernel, {}, nullptr, block);
  ASSERT_FALSE(other);
  EXPECT_EQ(other.error().code, "launch-device");
}

//--- Contexts ----------------------------------------------------------------------------------

TEST(CudaLaunch, device_context_is_current_for_the_launch_only) {
  StubDriver stub("devices=2");
  const auto artifact = cudaArtifact({});
  const auto kernel = loaded(stub.device(1), artifact);
  const auto &calls = (*stub.opened)->calls();
  const cuda::Context mine = *stub.device(0).context();
  calls.cuCtxSetCurrent(mine);
  ASSERT_TRUE(stub.device(1).launch(*kernel, {}, nullptr, patternBlock(artifact)));
  EXPECT_TRUE(contains(launched(stub), R"("device": 1)")) << launched(stub);
  cuda::Context now = nullptr;
  calls.cuCtxGetCurrent(&now);
  EXPECT_EQ(now, mine);
  calls.cuCtxSetCurrent(nullptr);
}

TEST(CudaLaunch, thread_without_context_keeps_that_of_the_first_device) {
  StubDriver stub("devices=2");
  const auto artifact = cudaArtifact({});
  const auto &calls = (*stub.opened)->calls();
  const auto currentAfterLaunchOn = [&](int device) {
    const auto kernel = loaded(stub.device(device), artifact);
    calls.cuCtxSetCurrent(nullptr);
    EXPECT_TRUE(stub.device(device).launch(*kernel, {}, nullptr, patternBlock(artifact)));
    cuda::Context now = nullptr;
    calls.cuCtxGetCurrent(&now);
    return now;
  };
  EXPECT_EQ(currentAfterLaunchOn(0), *stub.device(0).context());
  EXPECT_EQ(currentAfterLaunchOn(1), nullptr);
  calls.cuCtxSetCurrent(nullptr);
}

TEST(CudaLaunch, current_context_costs_no_switch) {
  StubDriver stub;
  const auto artifact = cudaArtifact({});
  const auto kernel = loaded(stub.device(), artifact);
  const auto &calls = (*stub.opened)->calls();
  calls.cuCtxSetCurrent(*stub.device().context());
  stub.clear();
  ASSERT_TRUE(stub.device().launch(*kernel, {}, nullptr, patternBlock(artifact)));
  EXPECT_EQ(stub.calls().size(), 1u); // the launch alone
  calls.cuCtxSetCurrent(nullptr);
}

TEST(CudaLaunch, threads_without_a_context_can_launch) {
  StubDriver stub;
  const auto artifact = cudaArtifact({});
  const auto kernel = loaded(stub.device(), artifact);
  std::vector<std::thread> threads;
  std::atomic<int> done{0};
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int j = 0; j < 100; ++j)
        done += static_cast<bool>(stub.device().launch(*kernel, {}, nullptr, patternBlock(artifact)));
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(done, 400);
  EXPECT_EQ(stub.calls("cuLaunchKernelEx").size(), 400u);
}

TEST(CudaLaunch, capture_sees_nothing_forbidden) {
  StubDriver stub;
  auto artifact = cudaArtifact({});
  artifact.globalScratchBytes = 64;
  const auto kernel = loaded(stub.device(), artifact);
  stub.setCapturing(true);
  stub.clear();
  const auto result = stub.device().launch(*kernel, {}, reinterpret_cast<void *>(0x8), patternBlock(artifact));
  stub.setCapturing(false);
  EXPECT_TRUE(result) << result.error().text;
}

//--- Scratch -----------------------------------------------------------------------------------

TEST(CudaLaunch, scratch_is_the_streams_own_and_for_every_block) {
  StubDriver stub;
  auto artifact = cudaArtifact({"i32"});
  artifact.globalScratchBytes = 256;
  artifact.globalScratchAlign = 128;
  const auto kernel = loaded(stub.device(), artifact);
  ASSERT_TRUE(stub.device().launch(*kernel, {10, 3, 1}, reinterpret_cast<void *>(0x50), patternBlock(artifact)));
  const auto allocated = stub.calls("cuMemAllocAsync");
  ASSERT_EQ(allocated.size(), 1u);
  EXPECT_TRUE(contains(allocated[0], R"("bytes": 7807, "stream": 80)")) << allocated[0]; // 30 * 256 + 127
  EXPECT_EQ(stub.calls("cuMemFreeAsync").size(), 1u);
  // The slot holds the address, little-endian, and the other slot stays null.
  EXPECT_FALSE(contains(launched(stub), R"("01010101", "0000000000000000")")) << launched(stub);
  EXPECT_TRUE(contains(launched(stub), R"(7f0000", "0000000000000000"])")) << launched(stub);
}

TEST(CudaLaunch, free_scratch_stays_with_the_process) {
  StubDriver stub;
  auto artifact = cudaArtifact({});
  loaded(stub.device(), artifact);
  EXPECT_TRUE(stub.calls("cuMemPoolSetAttribute").empty());
  artifact.globalScratchBytes = 256;
  loaded(stub.device(), artifact);
  loaded(stub.device(), artifact);
  const auto set = stub.calls("cuMemPoolSetAttribute");
  ASSERT_EQ(set.size(), 1u);
  EXPECT_TRUE(contains(set[0], R"("pool": 0, "attribute": 4, "value": 67108864)")) << set[0];
}

TEST(CudaLaunch, callers_scratch_is_used) {
  StubDriver stub;
  auto artifact = cudaArtifact({});
  artifact.globalScratchBytes = 256;
  const auto kernel = loaded(stub.device(), artifact);
  auto block = patternBlock(artifact);
  const uint64_t mine = 0x1122334455667788;
  std::memcpy(block.data(), &mine, sizeof mine);
  ASSERT_TRUE(stub.device().launch(*kernel, {}, nullptr, block));
  EXPECT_TRUE(stub.calls("cuMemAllocAsync").empty());
  EXPECT_TRUE(contains(launched(stub), R"("arguments": ["8877665544332211", "0000000000000000"])")) << launched(stub);
}

TEST(CudaLaunch, no_memory_for_scratch) {
  StubDriver stub("fail=cuMemAllocAsync:2");
  auto artifact = cudaArtifact({});
  artifact.profileScratchBytes = 256;
  const auto kernel = loaded(stub.device(), artifact);
  const auto result = stub.device().launch(*kernel, {}, nullptr, patternBlock(artifact));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, "launch-memory");
  EXPECT_TRUE(stub.calls("cuLaunchKernelEx").empty());
}

//--- Failures ----------------------------------------------------------------------------------

TEST(CudaLaunch, refused_launch_says_why) {
  StubDriver stub("fail=cuLaunchKernelEx:720");
  const auto artifact = cudaArtifact({});
  const auto kernel = loaded(stub.device(), artifact);
  const auto result = stub.device().launch(*kernel, {1000, 1, 1}, nullptr, patternBlock(artifact));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, "launch-failed");
  EXPECT_TRUE(contains(result.error().text, "kernel `kernel` cannot be launched on cuda:0")) << result.error().text;
  EXPECT_TRUE(contains(result.error().text, "1000 x 1 x 1 blocks on the GPU at once")) << result.error().text;
}

TEST(CudaLaunch, late_failure_names_the_kernels_since_the_last_check) {
  StubDriver stub("dies=bad:700");
  CudaDevice &device = stub.device();
  const auto fine = loaded(device, cudaArtifact({}, "fine")), bad = loaded(device, cudaArtifact({}, "bad")),
             after = loaded(device, cudaArtifact({}, "after"));
  const auto block = patternBlock(cudaArtifact({}));
  ASSERT_TRUE(device.launch(*fine, {}, nullptr, block));
  ASSERT_TRUE(device.synchronize());
  ASSERT_TRUE(device.launch(*bad, {}, nullptr, block));
  const auto late = device.launch(*after, {}, nullptr, block);
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code, "launch-earlier");
  EXPECT_TRUE(contains(late.error().text, "an illegal memory access was encountered (CUDA_ERROR_ILLEGAL_ADDRESS from "
                                          "cuLaunchKernelEx)"))
      << late.error().text;
  EXPECT_TRUE(contains(late.error().text, "newest last: `bad`;")) << late.error().text;
  EXPECT_FALSE(contains(late.error().text, "fine")) << late.error().text;
  const auto waiting = device.synchronize();
  ASSERT_FALSE(waiting);
  EXPECT_EQ(waiting.error().code, "launch-earlier");
  const auto loading = device.load(cudaArtifact({}, "next"));
  ASSERT_FALSE(loading);
  EXPECT_EQ(loading.error().code, "launch-earlier");
}

TEST(CudaLaunch, long_histories_are_cut) {
  LaunchHistory history;
  EXPECT_EQ(history.text(), "");
  const char *a = internedName("a"), *b = internedName("b");
  EXPECT_EQ(internedName("a"), a);
  history.record(a);
  history.record(a);
  history.record(b);
  EXPECT_EQ(history.text(), "`a` (2 times), `b`");
  for (int i = 0; i < 20; ++i)
    history.record(b);
  EXPECT_EQ(history.text(), "7 others, `b` (16 times)");
  history.forgetBefore(history.next());
  EXPECT_EQ(history.text(), "");
}

TEST(CudaLaunch, what_was_launched_during_a_wait_stays) {
  LaunchHistory history;
  const char *before = internedName("before"), *during = internedName("during"), *refused = internedName("refused");
  history.record(before);
  const uint64_t waitsFor = history.next();
  history.record(during);
  const uint64_t entry = history.record(refused);
  history.forgetBefore(waitsFor);
  EXPECT_EQ(history.text(), "`during`, `refused`");
  history.takeBack(entry, refused);
  history.forgetBefore(0); // a wait that began earlier and ends later
  EXPECT_EQ(history.text(), "`during`");
}

//--- Streams and pointers ----------------------------------------------------------------------

TEST(CudaStreams, one_waits_for_another) {
  StubDriver stub;
  ASSERT_TRUE(stub.device().orderStreams(reinterpret_cast<void *>(0x10), reinterpret_cast<void *>(0x20)));
  const auto recorded = stub.calls("cuEventRecord"), waited = stub.calls("cuStreamWaitEvent");
  ASSERT_EQ(recorded.size(), 1u);
  ASSERT_EQ(waited.size(), 1u);
  EXPECT_TRUE(contains(recorded[0], R"("stream": 16)"));
  EXPECT_TRUE(contains(waited[0], R"("stream": 32)"));
  EXPECT_EQ(stub.calls("cuEventDestroy").size(), 1u);
}

TEST(CudaStreams, pointers_are_described) {
  StubDriver stub("devices=2");
  stub.addMemory(0x10000, 0x1000, 2, 1);
  stub.addMemory(0x20000, 0x1000, 1, 0);
  const auto onDevice = stub.device().pointerInfo(0x10040), onHost = stub.device().pointerInfo(0x20000),
             unknown = stub.device().pointerInfo(0x999);
  ASSERT_TRUE(onDevice && onHost && unknown);
  EXPECT_TRUE(onDevice->isKnown);
  EXPECT_FALSE(onDevice->isOnHost);
  EXPECT_EQ(onDevice->ordinal, 1);
  EXPECT_EQ(onDevice->start, 0x10000u);
  EXPECT_EQ(onDevice->bytes, 0x1000u);
  EXPECT_TRUE(onHost->isKnown);
  EXPECT_TRUE(onHost->isOnHost);
  EXPECT_FALSE(unknown->isKnown);
}
