// Loads code on a GPU: checks, calls of the driver, and the errors where the code does not fit the device.
// SPDX-License-Identifier: MIT
#include "test/unit/runtime/StubDriver.h"

#include <gtest/gtest.h>

using namespace nereid::runtime;

namespace {
struct Failure {
  std::string code, text, resource;
  uint64_t required = 0, limit = 0;
};
} // namespace

static Failure loadFailure(StubDriver &stub, const nereid::artifact::Artifact &artifact) {
  const auto loaded = stub.device().load(artifact);
  if (loaded)
    return {};
  const Error &error = loaded.error();
  return {error.code, error.text, error.resource, error.required, error.limit};
}

TEST(CudaLoad, properties_are_the_devices) {
  StubDriver stub("capability=8.6");
  const DeviceProperties &known = stub.device().properties();
  EXPECT_EQ(known.name, "NVIDIA H200");
  EXPECT_EQ(known.multiprocessorCount, 132u);
  EXPECT_EQ(known.maxSharedMem, 232448u);
  EXPECT_EQ(known.maxNumRegs, 65536u);
  EXPECT_EQ(known.maxThreadsPerSm, 2048u);
  EXPECT_EQ(known.memBusWidthBits, 6144u);
  EXPECT_EQ(stub.device().capability(), 86);
}

TEST(CudaLoad, properties_come_from_the_driver) {
  StubDriver stub("registers=40 local=24 max_threads=512");
  const auto kernel = stub.device().load(cudaArtifact({"*fp32"}));
  ASSERT_TRUE(kernel);
  EXPECT_EQ((*kernel)->resources().registers, 40u);
  EXPECT_EQ((*kernel)->resources().spills, 6u);
  EXPECT_EQ((*kernel)->resources().maxThreads, 512u);
  EXPECT_NE((*kernel)->handle(), nullptr);
}

TEST(CudaLoad, caller_context_is_left_as_it_was) {
  StubDriver stub("devices=2");
  (*stub.opened)->calls().cuCtxSetCurrent(nullptr);
  ASSERT_TRUE(stub.device(1).load(cudaArtifact({})));
  cuda::Context current = nullptr;
  (*stub.opened)->calls().cuCtxGetCurrent(&current);
  EXPECT_EQ(current, nullptr);
  EXPECT_EQ(stub.calls("cuModuleLoadDataEx").front(), R"({"call": "cuModuleLoadDataEx", "device": 1})");
}

TEST(CudaLoad, unloads_when_the_kernel_goes) {
  StubDriver stub;
  ASSERT_TRUE(stub.device().load(cudaArtifact({})));
  EXPECT_EQ(stub.calls("cuModuleUnload").size(), 1u);
}

TEST(CudaLoad, shared_memory_above_the_usual_is_asked_for) {
  StubDriver stub;
  auto artifact = cudaArtifact({});
  artifact.sharedBytes = 48 * 1024;
  ASSERT_TRUE(stub.device().load(artifact));
  EXPECT_TRUE(stub.calls("cuFuncSetAttribute").empty());
  artifact.sharedBytes = 200000;
  ASSERT_TRUE(stub.device().load(artifact));
  EXPECT_EQ(stub.calls("cuFuncSetAttribute"),
            std::vector<std::string>{R"({"call": "cuFuncSetAttribute", "attribute": 8, "value": 200000})"});
}

TEST(CudaLoad, shared_memory_beyond_the_device_is_out_of_resources) {
  StubDriver stub;
  auto artifact = cudaArtifact({});
  artifact.sharedBytes = 232449;
  const Failure failure = loadFailure(stub, artifact);
  EXPECT_EQ(failure.code, "out-of-resources");
  EXPECT_EQ(failure.resource, "shared memory");
  EXPECT_EQ(failure.required, 232449u);
  EXPECT_EQ(failure.limit, 232448u);
  EXPECT_TRUE(contains(failure.text, "out of resource: shared memory, Required: 232449, Hardware limit: 232448"));
}

TEST(CudaLoad, more_threads_than_the_code_allows_is_out_of_resources) {
  StubDriver stub("max_threads=64");
  const Failure failure = loadFailure(stub, cudaArtifact({}));
  EXPECT_EQ(failure.code, "out-of-resources");
  EXPECT_EQ(failure.resource, "threads");
  EXPECT_EQ(failure.required, 128u);
  EXPECT_EQ(failure.limit, 64u);
  EXPECT_EQ(stub.calls("cuModuleUnload").size(), 1u);
}

TEST(CudaLoad, large_clusters_are_asked_for) {
  StubDriver stub;
  auto artifact = cudaArtifact({});
  artifact.clusterDims = {16, 1, 1};
  ASSERT_TRUE(stub.device().load(artifact));
  EXPECT_EQ(stub.calls("cuFuncSetAttribute"),
            std::vector<std::string>{R"({"call": "cuFuncSetAttribute", "attribute": 14, "value": 1})"});
}

TEST(CudaLoad, code_of_another_target_is_refused) {
  StubDriver stub("capability=8.0");
  const Failure other = loadFailure(stub, cudaArtifact({}));
  EXPECT_EQ(other.code, "load-target");
  EXPECT_TRUE(contains(other.text, "compiled for sm_90")) << other.text;
  EXPECT_TRUE(contains(other.text, "is sm_80")) << other.text;
  auto host = cudaArtifact({});
  host.target.backend = "cpu";
  EXPECT_EQ(loadFailure(stub, host).code, "load-target");
}

TEST(CudaLoad, missing_entry) {
  StubDriver stub;
  auto artifact = cudaArtifact({}, "kernel");
  artifact.entry = "other";
  const Failure failure = loadFailure(stub, artifact);
  EXPECT_EQ(failure.code, "load-entry");
  EXPECT_TRUE(contains(failure.text, "no kernel `other`")) << failure.text;
}

TEST(CudaLoad, driver_older_than_the_code_is_told_apart) {
  StubDriver stub("version=12040 fail=cuModuleLoadDataEx:222");
  auto artifact = cudaArtifact({});
  artifact.binary.replace(artifact.binary.find("8.0"), 3, "9.0");
  const Failure failure = loadFailure(stub, artifact);
  EXPECT_EQ(failure.code, "load-driver");
  EXPECT_TRUE(contains(failure.text, "needs a driver for CUDA 13.0; the installed one is for CUDA 12.4"))
      << failure.text;
}

TEST(CudaLoad, driver_log_is_passed_on) {
  StubDriver stub("fail=cuModuleLoadDataEx:200");
  const Failure failure = loadFailure(stub, cudaArtifact({}));
  EXPECT_EQ(failure.code, "load-binary");
  EXPECT_TRUE(contains(failure.text, "CUDA_ERROR_INVALID_IMAGE from cuModuleLoadDataEx")) << failure.text;
  EXPECT_TRUE(contains(failure.text, "\nptxas fatal")) << failure.text;
}

TEST(CudaLoad, works_while_a_stream_is_captured) {
  StubDriver stub;
  stub.setCapturing(true);
  const auto kernel = stub.device().load(cudaArtifact({}));
  stub.setCapturing(false);
  EXPECT_TRUE(kernel) << (kernel ? "" : kernel.error().text);
  EXPECT_EQ(stub.calls("cuThreadExchangeStreamCaptureMode").back(),
            R"({"call": "cuThreadExchangeStreamCaptureMode", "mode": 0})");
}
