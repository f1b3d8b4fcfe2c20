// The driver of AMD's GPUs on a stub of HIP's runtime: opening, loading, launches byte by byte, failures.
// SPDX-License-Identifier: MIT
#include "runtime/gpu/RecordedProperties.h"
#include "test/unit/runtime/StubDriver.h"

#include <gtest/gtest.h>

#include <cstring>

using namespace nereid::runtime;

static std::shared_ptr<Kernel> loadedOn(HipDevice &device, const nereid::artifact::Artifact &artifact) {
  auto kernel = device.load(artifact);
  EXPECT_TRUE(kernel) << kernel.error().text;
  return kernel ? *kernel : nullptr;
}

static std::string onlyCall(const StubHip &stub, const std::string &name) {
  const auto calls = stub.calls(name);
  EXPECT_EQ(calls.size(), 1u);
  return calls.empty() ? "" : calls.back();
}

/// Code and text of a load's error.
static std::string loadError(HipDevice &device, const nereid::artifact::Artifact &artifact) {
  auto kernel = device.load(artifact);
  return kernel ? "loaded" : kernel.error().code + ": " + kernel.error().text;
}

//--- The driver --------------------------------------------------------------------------------

TEST(Hip, a_missing_library_is_named) {
  auto driver = HipDriver::open("/nowhere/libamdhip64.so");
  ASSERT_FALSE(driver);
  EXPECT_EQ(driver.error().code, "hip-library");
  EXPECT_TRUE(contains(driver.error().text, "/nowhere/libamdhip64.so")) << driver.error().text;
}

TEST(Hip, a_library_without_its_functions_is_too_old) {
  auto driver = HipDriver::open(stubLibrary()); // CUDA's has none of them
  ASSERT_FALSE(driver);
  EXPECT_EQ(driver.error().code, "hip-version");
  EXPECT_TRUE(contains(driver.error().text, "lacks hipInit; ROCm 6.0 or newer is needed")) << driver.error().text;
}

TEST(Hip, no_device) {
  for (const char *settings : {"devices=0", "fail=hipInit:100", "fail=hipGetDeviceCount:100"}) {
    StubHip stub(settings);
    ASSERT_FALSE(stub.opened) << settings;
    EXPECT_EQ(stub.opened.error().code, "hip-no-device") << settings;
    EXPECT_TRUE(contains(stub.opened.error().text, "HIP_VISIBLE_DEVICES")) << stub.opened.error().text;
  }
  StubHip stub("devices=2");
  EXPECT_TRUE((*stub.opened)->device(1));
  EXPECT_EQ((*stub.opened)->device(2).error().text, "there is no device hip:2; the HIP runtime sees 2");
}

TEST(Hip, a_failed_start_is_an_error) {
  StubHip stub("fail=hipGetDevicePropertiesR0600:999");
  ASSERT_FALSE(stub.opened);
  EXPECT_EQ(stub.opened.error().code, "hip-call");
  EXPECT_TRUE(contains(stub.opened.error().text, "result 999 from hipGetDeviceProperties")) << stub.opened.error().text;
}

TEST(Hip, properties_are_those_that_grids_are_sized_by) {
  StubHip stub("arch=gfx942:sramecc+:xnack-");
  const HipDevice &device = stub.device();
  EXPECT_EQ(device.arch(), "gfx942");
  EXPECT_EQ(device.name(), "hip:0");
  const DeviceProperties &known = device.properties();
  EXPECT_EQ(known.name, "AMD Instinct MI300X");
  EXPECT_EQ(known.multiprocessorCount, 304u);
  EXPECT_EQ(known.maxNumRegs, 65536u);
  EXPECT_EQ(known.maxSharedMem, 65536u);
  EXPECT_EQ(known.warpSize, 64u);
  EXPECT_EQ(known.maxThreadsPerSm, 2048u);
  EXPECT_EQ(known.maxThreadsPerBlock, 1024u);
  EXPECT_EQ(known.lastLevelCacheBytes, 4194304u);
}

TEST(Hip, recorded_properties_agree_with_what_the_runtime_reports) {
  StubHip stub;
  const DeviceProperties recorded = propertiesOf(*nereid::artifact::findAmdGpu("gfx942"));
  const DeviceProperties &reported = stub.device().properties();
  EXPECT_EQ(recorded.name, reported.name);
  EXPECT_EQ(recorded.multiprocessorCount, reported.multiprocessorCount);
  EXPECT_EQ(recorded.maxNumRegs, reported.maxNumRegs);
  EXPECT_EQ(recorded.maxSharedMem, reported.maxSharedMem);
  EXPECT_EQ(recorded.memBusWidthBits, reported.memBusWidthBits);
  EXPECT_EQ(nereid::artifact::findAmdGpu("gfx000"), nullptr);
  for (const nereid::artifact::AmdGpu &gpu : nereid::artifact::amdGpus())
    EXPECT_EQ(propertiesOf(gpu).warpSize, gpu.arch.starts_with("gfx9") ? 64u : 32u) << gpu.arch;
}

//--- Loading -----------------------------------------------------------------------------------

TEST(HipLoad, resources_are_the_code_s) {
  StubHip stub("registers=96 local=64 max_threads=512");
  const auto kernel = loadedOn(stub.device(), hipArtifact({"*fp32"}));
  EXPECT_EQ(kernel->resources().registers, 96u);
  EXPECT_EQ(kernel->resources().spills, 16u);
  EXPECT_EQ(kernel->resources().maxThreads, 512u);
  EXPECT_EQ(stub.calls("hipModuleLoadDataEx").size(), 1u);
  EXPECT_EQ(onlyCall(stub, "hipModuleGetFunction"), R"({"call": "hipModuleGetFunction", "name": "kernel"})");
}

TEST(HipLoad, the_module_is_unloaded_with_the_kernel) {
  StubHip stub;
  loadedOn(stub.device(), hipArtifact({})).reset();
  EXPECT_EQ(stub.calls("hipModuleUnload").size(), 1u);
}

TEST(HipLoad, code_for_another_gpu) {
  StubHip stub("arch=gfx90a");
  EXPECT_EQ(loadError(stub.device(), hipArtifact({})),
            "load-target: kernel `kernel` was compiled for gfx942; hip:0 (AMD Instinct MI300X) is gfx90a");
  EXPECT_TRUE(contains(loadError(stub.device(), cudaArtifact({})), "was compiled for `cuda`; this device is `hip:0`"));
}

TEST(HipLoad, what_amd_gpus_lack_is_an_error) {
  StubHip stub;
  auto clustered = hipArtifact({}), own = hipArtifact({});
  clustered.clusterDims = {2, 1, 1};
  own.abi = nereid::artifact::Abi::Own;
  for (const auto &artifact : {clustered, own})
    EXPECT_TRUE(loadError(stub.device(), artifact).starts_with("load-abi: "));
}

TEST(HipLoad, more_than_the_device_has) {
  StubHip stub;
  auto artifact = hipArtifact({});
  artifact.sharedBytes = 65537;
  auto kernel = stub.device().load(artifact);
  ASSERT_FALSE(kernel);
  EXPECT_EQ(kernel.error().code, "out-of-resources");
  EXPECT_EQ(kernel.error().required, 65537u);
  EXPECT_EQ(kernel.error().limit, 65536u);
  artifact.sharedBytes = 0;
  artifact.blockDims = {2048, 1, 1};
  EXPECT_TRUE(contains(loadError(stub.device(), artifact), "threads, Required: 2048, Hardware limit: 1024"));
}

TEST(HipLoad, code_that_does_not_load) {
  StubHip stub;
  auto artifact = hipArtifact({});
  artifact.entry = "other";
  EXPECT_EQ(loadError(stub.device(), artifact), "load-entry: the code of kernel `kernel` has no kernel `other`");
  artifact.binary = "no code object";
  EXPECT_TRUE(contains(loadError(stub.device(), artifact),
                       "the code of kernel `kernel` cannot be loaded on hip:0: the stub was told to fail "
                       "(hipErrorInvalidImage from hipModuleLoadDataEx)"));
}

TEST(HipLoad, during_a_capture_of_a_stream) {
  StubHip stub;
  stub.setCapturing(true);
  EXPECT_NE(loadedOn(stub.device(), hipArtifact({})), nullptr);
  stub.setCapturing(false);
}

//--- Launching ---------------------------------------------------------------------------------

// hip_runtime_api.h: `extra` is HIP_LAUNCH_PARAM_BUFFER_POINTER, the buffer, HIP_LAUNCH_PARAM_BUFFER_SIZE, a pointer to
// its size, HIP_LAUNCH_PARAM_END; each argument is at a multiple of its size. Blocks are counted, not threads.
TEST(HipLaunch, the_buffer_is_the_kernel_s_argument_segment) {
  StubHip stub;
  auto artifact = hipArtifact({"*fp32", "i1", "i32", "i8", "fp64", "i16", "*fp16"});
  artifact.sharedBytes = 4096;
  const auto kernel = loadedOn(stub.device(), artifact);
  const auto block = patternBlock(artifact);
  ASSERT_TRUE(stub.device().launch(*kernel, {5, 6, 7}, reinterpret_cast<void *>(0x40), block));
  EXPECT_EQ(onlyCall(stub, "hipModuleLaunchKernel"),
            R"({"call": "hipModuleLaunchKernel", "name": "kernel", "grid": [5, 6, 7], "block": [256, 1, 1], )"
            R"("shared": 4096, "stream": 64, "device": 0, )"
            R"("buffer": "0101010101010101020000000303030304000000000000000505050505050505060600000000000007070707)"
            R"(0707070700000000000000000000000000000000", "bytes": 64, )"
            R"("arguments": ["0101010101010101", "02", "03030303", "04", "0505050505050505", "0606", )"
            R"("0707070707070707", "0000000000000000", "0000000000000000"]})");
}

TEST(HipLaunch, a_cooperative_launch_points_to_each_argument) {
  StubHip stub;
  auto artifact = hipArtifact({"i8", "*fp32"});
  artifact.cooperative = true;
  const auto kernel = loadedOn(stub.device(), artifact);
  ASSERT_TRUE(stub.device().launch(*kernel, {2, 1, 1}, nullptr, patternBlock(artifact)));
  EXPECT_EQ(onlyCall(stub, "hipModuleLaunchCooperativeKernel"),
            R"({"call": "hipModuleLaunchCooperativeKernel", "name": "kernel", "grid": [2, 1, 1], )"
            R"("block": [256, 1, 1], "shared": 0, "stream": 0, "device": 0, )"
            R"("arguments": ["01", "0202020202020202", "0000000000000000", "0000000000000000"]})");
}

TEST(HipLaunch, on_the_device_that_loaded_it) {
  StubHip stub("devices=2");
  const auto kernel = loadedOn(stub.device(1), hipArtifact({}));
  EXPECT_EQ(stub.device(0).launch(*kernel, {}, nullptr, patternBlock(kernel->artifact())).error().code,
            "launch-device");
  ASSERT_TRUE(stub.device(1).launch(*kernel, {}, nullptr, patternBlock(kernel->artifact())));
  EXPECT_TRUE(contains(onlyCall(stub, "hipModuleLaunchKernel"), R"("device": 1)"));
  EXPECT_TRUE(contains(stub.calls("hipSetDevice").back(), R"("device": 0)")); // the thread's device is restored
}

TEST(HipLaunch, wrong_arguments_and_empty_grids) {
  StubHip stub;
  const auto kernel = loadedOn(stub.device(), hipArtifact({"i32"}));
  EXPECT_EQ(stub.device().launch(*kernel, {}, nullptr, std::vector<char>(8)).error().text,
            "kernel `kernel` takes 24 bytes of arguments; 8 were given");
  for (Grid grid : {Grid{0, 1, 1}, Grid{1, 0, 1}, Grid{1, 1, 0}})
    EXPECT_TRUE(stub.device().launch(*kernel, grid, nullptr, patternBlock(kernel->artifact())));
  EXPECT_TRUE(stub.calls("hipModuleLaunchKernel").empty());
}

// The documentation of hipModuleLaunchKernel: grid times block is less than 2^32 in each dimension.
TEST(HipLaunch, grids_beyond_the_hardware_are_an_error) {
  StubHip stub;
  const auto kernel = loadedOn(stub.device(), hipArtifact({}));
  const auto errorOf = [&](Grid grid) {
    const auto result = stub.device().launch(*kernel, grid, nullptr, patternBlock(kernel->artifact()));
    return result ? "" : result.error().code + ": " + result.error().text;
  };
  EXPECT_EQ(errorOf({16777215, 65535, 65535}), "");
  EXPECT_EQ(errorOf({16777216, 1, 1}), "launch-grid: a grid of 16777216 x 1 x 1 programs is too large for kernel "
                                       "`kernel`; hip:0 takes at most 16777215 x 65535 x 65535");
  EXPECT_TRUE(errorOf({1, 65536, 1}).starts_with("launch-grid: "));
  EXPECT_TRUE(errorOf({1, 1, 65536}).starts_with("launch-grid: "));
}

TEST(HipLaunch, scratch_is_allocated_in_the_order_of_the_stream) {
  StubHip stub;
  auto artifact = hipArtifact({"i32"});
  artifact.globalScratchBytes = 100;
  artifact.globalScratchAlign = 128;
  const auto kernel = loadedOn(stub.device(), artifact);
  stub.clear();
  ASSERT_TRUE(stub.device().launch(*kernel, {3, 2, 1}, reinterpret_cast<void *>(0x80), patternBlock(artifact)));
  EXPECT_TRUE(contains(onlyCall(stub, "hipMallocAsync"), R"("bytes": 727, "stream": 128)")); // 6 * 100 + 127
  EXPECT_TRUE(contains(onlyCall(stub, "hipFreeAsync"), R"("stream": 128)"));
  const std::string launch = onlyCall(stub, "hipModuleLaunchKernel");
  EXPECT_FALSE(contains(launch, R"("arguments": ["01010101", "0000000000000000")")) << launch;
  auto given = patternBlock(artifact);
  const uint64_t address = 0x1234;
  std::memcpy(given.data() + nereid::artifact::scratchOffset(artifact), &address, sizeof address);
  stub.clear();
  ASSERT_TRUE(stub.device().launch(*kernel, {3, 2, 1}, nullptr, given));
  EXPECT_TRUE(stub.calls("hipMallocAsync").empty()); // the caller's own
  EXPECT_TRUE(contains(onlyCall(stub, "hipModuleLaunchKernel"), R"("arguments": ["01010101", "3412000000000000")"));
}

TEST(HipLaunch, no_memory_for_scratch) {
  StubHip stub("fail=hipMallocAsync:2");
  auto artifact = hipArtifact({});
  artifact.globalScratchBytes = 100;
  const auto kernel = loadedOn(stub.device(), artifact);
  const auto result = stub.device().launch(*kernel, {}, nullptr, patternBlock(artifact));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, "launch-memory");
  EXPECT_TRUE(contains(result.error().text, "hipErrorOutOfMemory from hipMallocAsync")) << result.error().text;
}

TEST(HipLaunch, failures_name_their_cause) {
  StubHip stub("fail=hipModuleLaunchKernel:701");
  auto artifact = hipArtifact({});
  artifact.sharedBytes = 512;
  const auto kernel = loadedOn(stub.device(), artifact);
  const auto result = stub.device().launch(*kernel, {}, nullptr, patternBlock(artifact));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, "launch-failed");
  EXPECT_TRUE(contains(result.error().text, "its blocks have 256 threads of 32 registers and 512 bytes of shared"));
}

TEST(HipLaunch, a_kernel_that_failed_before_is_named) {
  StubHip stub("dies=first:700");
  const auto first = loadedOn(stub.device(), hipArtifact({}, "first"));
  const auto second = loadedOn(stub.device(), hipArtifact({}, "second"));
  ASSERT_TRUE(stub.device().launch(*first, {}, nullptr, patternBlock(first->artifact())));
  const auto result = stub.device().launch(*second, {}, nullptr, patternBlock(second->artifact()));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, "launch-earlier");
  EXPECT_TRUE(contains(result.error().text, "newest last: `first`; with HIP_LAUNCH_BLOCKING=1 set"))
      << result.error().text;
}

//--- Streams, events, memory -------------------------------------------------------------------

TEST(Hip, streams_wait_by_an_event) {
  StubHip stub;
  ASSERT_TRUE(stub.device().orderStreams(reinterpret_cast<void *>(0x10), reinterpret_cast<void *>(0x20)));
  EXPECT_TRUE(contains(onlyCall(stub, "hipEventCreateWithFlags"), R"("flags": 2)"));
  EXPECT_TRUE(contains(onlyCall(stub, "hipEventRecord"), R"("stream": 16)"));
  EXPECT_TRUE(contains(onlyCall(stub, "hipStreamWaitEvent"), R"("stream": 32)"));
  EXPECT_EQ(stub.calls("hipEventDestroy").size(), 1u);
}

TEST(Hip, pointers_are_known_or_not) {
  StubHip stub;
  stub.addMemory(0x5000, 256, 2, 0);
  const auto known = stub.device().pointerInfo(0x5010), unknown = stub.device().pointerInfo(0x9);
  ASSERT_TRUE(known && unknown);
  EXPECT_TRUE(known->isKnown && !known->isOnHost);
  EXPECT_EQ(known->start, 0x5000u);
  EXPECT_EQ(known->bytes, 256u);
  EXPECT_FALSE(unknown->isKnown);
}
