// Opens the driver; the errors where it is missing, old or without a GPU.
// SPDX-License-Identifier: MIT
#include "runtime/cuda/CodeRequirements.h"
#include "test/unit/runtime/StubDriver.h"

#include <gtest/gtest.h>

#include <sys/wait.h>
#include <unistd.h>

using namespace nereid::runtime;

static std::string openError(const std::string &settings, std::string &text) {
  const StubDriver stub(settings);
  if (stub.opened)
    return "";
  text = stub.opened.error().text;
  return stub.opened.error().code;
}

TEST(CudaDriver, opens_and_sees_devices) {
  StubDriver stub("devices=3 version=12080");
  ASSERT_TRUE(stub.opened);
  EXPECT_EQ((*stub.opened)->deviceCount(), 3);
  EXPECT_EQ((*stub.opened)->version(), 12080);
  EXPECT_FALSE((*stub.opened)->device(3));
  EXPECT_FALSE((*stub.opened)->device(-1));
}

TEST(CudaDriver, opening_makes_no_context) {
  StubDriver stub("devices=2");
  ASSERT_TRUE(stub.opened);
  EXPECT_GT(stub.device().properties().multiprocessorCount, 0u);
  EXPECT_TRUE(stub.calls("cuDevicePrimaryCtxRetain").empty());
}

TEST(CudaDriver, missing_library_is_named) {
  const auto opened = CudaDriver::open("/nowhere/libcuda.so.1");
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, "cuda-library");
  EXPECT_NE(opened.error().text.find("/nowhere/libcuda.so.1"), std::string::npos) << opened.error().text;
}

TEST(CudaDriver, old_driver_is_refused_with_both_versions) {
  std::string text;
  EXPECT_EQ(openError("version=11040", text), "cuda-version");
  EXPECT_NE(text.find("CUDA 11.4"), std::string::npos) << text;
  EXPECT_NE(text.find("CUDA 11.8 or newer"), std::string::npos) << text;
}

TEST(CudaDriver, no_device) {
  std::string text;
  EXPECT_EQ(openError("devices=0", text), "cuda-no-device");
  EXPECT_NE(text.find("CUDA_ERROR_NO_DEVICE from cuInit"), std::string::npos) << text;
}

TEST(CudaDriver, other_failures_name_the_call) {
  std::string text;
  EXPECT_EQ(openError("fail=cuInit:999", text), "cuda-call");
  EXPECT_NE(text.find("result 999 from cuInit"), std::string::npos) << text;
}

TEST(CudaDriver, forked_child_is_told_to_spawn) {
  const StubDriver stub;
  ASSERT_TRUE(stub.opened);
  const pid_t child = fork();
  if (child == 0) {
    const auto again = CudaDriver::open(stubLibrary());
    _exit(!again && again.error().code == "cuda-forked" && again.error().text.find("spawn") != std::string::npos ? 0
                                                                                                                 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
}

TEST(CudaDriver, process_driver_follows_the_library) {
  const StubDriver configured("devices=2");
  CudaDriver::process().setLibrary("/nowhere/libcuda.so.1");
  EXPECT_FALSE(CudaDriver::process().hasLibrary());
  EXPECT_FALSE(CudaDriver::process().get());
  CudaDriver::process().setLibrary(stubLibrary());
  EXPECT_TRUE(CudaDriver::process().hasLibrary());
  EXPECT_FALSE(CudaDriver::process().isInitialized());
  auto driver = CudaDriver::process().get();
  ASSERT_TRUE(driver);
  EXPECT_TRUE(CudaDriver::process().isInitialized());
  EXPECT_EQ((*driver)->deviceCount(), 2);
  const auto device = CudaDriver::process().device(1);
  ASSERT_TRUE(device);
  EXPECT_EQ((*device)->name(), "cuda:1");
  CudaDriver::process().setLibrary("");
  EXPECT_FALSE(CudaDriver::process().isInitialized());
}

//--- Which code fits which GPU and driver ------------------------------------------------------

TEST(CodeRequirements, machine_code_stays_in_its_generation) {
  EXPECT_TRUE(runsOn("80", false, 80));
  EXPECT_TRUE(runsOn("80", false, 86));
  EXPECT_FALSE(runsOn("86", false, 80));
  EXPECT_FALSE(runsOn("80", false, 90));
  EXPECT_TRUE(runsOn("90a", false, 90));
  EXPECT_FALSE(runsOn("100a", false, 103));
  EXPECT_TRUE(runsOn("100f", false, 103));
  EXPECT_FALSE(runsOn("100f", false, 120));
}

TEST(CodeRequirements, ptx_runs_on_later_generations_unless_tied) {
  EXPECT_TRUE(runsOn("80", true, 90));
  EXPECT_FALSE(runsOn("90", true, 80));
  EXPECT_FALSE(runsOn("90a", true, 100));
  EXPECT_FALSE(runsOn("100f", true, 120));
}

TEST(CodeRequirements, needed_cuda) {
  nereid::artifact::Artifact artifact;
  artifact.binary = "//\n.version 8.7\n.target sm_90a\n";
  EXPECT_EQ(neededCuda(artifact), 12080);
  artifact.binary = ".version 9.0\n";
  EXPECT_EQ(neededCuda(artifact), 13000);
  artifact.binary = "no directive";
  EXPECT_EQ(neededCuda(artifact), 0);
  artifact.binary = "\x7f"
                    "ELF...";
  EXPECT_EQ(neededCuda(artifact), 0);
  artifact.toolVersion = "13.0.88";
  EXPECT_EQ(neededCuda(artifact), 13000);
}
