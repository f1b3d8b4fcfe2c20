// The handlers as XLA calls them: queries, registration, and launches on a stub of a GPU.
// SPDX-License-Identifier: MIT
#include "xla/handlers/Handlers.h"

#include "test/unit/runtime/StubDriver.h"
#include "test/unit/xla/FakeXla.h"

#include <gtest/gtest.h>

using namespace nereid;
using namespace nereid::xla;
using artifact::ElementType;

static bool contains(const std::string &text, const std::string &part) { return text.find(part) != std::string::npos; }

//--- Questions and registration ----------------------------------------------------------------

TEST(XlaHandlers, answer_with_the_version_that_asks) {
  bool refused = true;
  const auto oldest = askHandler(nereid_xla_cpu, nullptr, refused); // 0.1 has no table then
  EXPECT_FALSE(refused);
  EXPECT_EQ(oldest.version.major, 0);
  EXPECT_EQ(oldest.version.minor, 1);
  for (int minor = 1; minor <= 5; ++minor) {
    const FakeXla xla(minor);
    const auto metadata = askHandler(nereid_xla_cuda, &xla, refused);
    EXPECT_FALSE(refused);
    EXPECT_EQ(metadata.version.minor, minor);
    EXPECT_EQ(metadata.traits, ffi::kCapturableTrait);
  }
}

TEST(XlaHandlers, only_what_a_graph_can_record_says_so) {
  bool refused = true;
  const FakeXla xla(4);
  EXPECT_EQ(askHandler(nereid_xla_cpu, &xla, refused).traits, 0u);
  EXPECT_EQ(askHandler(nereid_xla_cuda_autotuned, &xla, refused).traits, 0u);
}

TEST(XlaHandlers, an_interface_that_nobody_has_seen_is_refused) {
  FakeXla xla(6);
  bool refused = false;
  askHandler(nereid_xla_cpu, &xla, refused);
  EXPECT_TRUE(refused);
  EXPECT_TRUE(contains(xla.failure, "version 0.6 of the foreign-function interface; versions up to 0.5 are known"))
      << xla.failure;
}

TEST(XlaHandlers, registration_through_the_table) {
  FakeXla xla(1);
  EXPECT_EQ(nereid_xla_register(&xla.api, "call", "Host", nereid_xla_cpu), nullptr);
  EXPECT_EQ(xla.registered, "call on Host");
  EXPECT_EQ(reinterpret_cast<void *>(xla.handler), reinterpret_cast<void *>(nereid_xla_cpu));
  xla.refusal = "no such platform";
  EXPECT_STREQ(nereid_xla_register(&xla.api, "call", "Host", nereid_xla_cpu), "no such platform");
  const FakeXla newer(4);
  EXPECT_TRUE(contains(nereid_xla_register(&newer.api, "call", "Host", nereid_xla_cpu), "only versions up to 0.3"));
}

//--- A GPU -------------------------------------------------------------------------------------

namespace {
/// The stub as the process's driver, its first GPU's context current.
class XlaCuda : public testing::Test {
protected:
  XlaCuda() {
    runtime::CudaDriver::process().setLibrary(runtime::stubLibrary());
    auto device = runtime::CudaDriver::process().device(0);
    EXPECT_TRUE(device);
    auto context = (*device)->context();
    EXPECT_TRUE(context);
    (*device)->driver().calls().cuCtxSetCurrent(*context);
    stub.clear();
  }
  ~XlaCuda() override { runtime::CudaDriver::process().setLibrary(""); }

  /// PTX alone, as jax_triton's payloads have it. Each test has a kernel of its own: what was loaded is kept.
  static KernelCall call(const std::string &name, const std::vector<std::string> &types) {
    KernelCall made;
    made.kernel.name = name;
    made.kernel.ptx = runtime::cudaArtifact(types, name).binary;
    made.kernel.numWarps = 8;
    made.kernel.computeCapability = 90;
    made.kernel.numCtas = 1;
    made.grid = {5, 6, 7};
    return made;
  }

  runtime::StubDriver stub;
  FakeXla xla{4};
};
} // namespace

TEST_F(XlaCuda, ptx_is_launched_on_xlas_stream) {
  KernelCall made = call("plain", {"*fp32", "i32", "*fp32", "fp64"});
  made.kernel.sharedBytes = 100'000;
  made.parameters = {ArrayParameter{0, 16, {}, {}}, ScalarParameter{nereid::artifact::ElementType::Int32, 0x01020304},
                     ArrayParameter{24, 16, {}, {}},
                     ScalarParameter{nereid::artifact::ElementType::Float64, 0x3fe0000000000000}};
  FakeCall frame(xla, writePayload({made, "", ""}));
  frame.add(false, ElementType::Float32, {3, 2}, 0x1000);
  frame.add(true, ElementType::Float32, {6}, 0x2000);
  ASSERT_EQ(nereid_xla_cuda(frame.frame()), nullptr) << xla.failure;
  const auto calls = stub.calls("cuLaunchKernelEx"), zeroed = stub.calls("cuMemsetD8Async");
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_TRUE(contains(calls[0], R"("grid": [5, 6, 7], "block": [256, 1, 1], "shared": 100000, "stream": 64,)"))
      << calls[0];
  EXPECT_TRUE(
      contains(calls[0], R"("arguments": ["0010000000000000", "04030201", "0020000000000000", "000000000000e03f",)"));
  ASSERT_EQ(zeroed.size(), 1u);
  EXPECT_TRUE(contains(zeroed[0], R"("address": 8192, "value": 0, "bytes": 24, "stream": 64)")) << zeroed[0];
  ASSERT_EQ(nereid_xla_cuda(frame.frame()), nullptr);
  EXPECT_EQ(stub.calls("cuModuleLoadDataEx").size(), 1u) << "loaded again for a second run";
}

TEST_F(XlaCuda, clusters) {
  KernelCall made = call("clustered", {"*fp32"});
  made.kernel.numCtas = 4;
  made.parameters = {ArrayParameter{}};
  FakeCall frame(xla, writePayload({made, "", ""}));
  frame.add(true, ElementType::Float32, {6}, 0x2000);
  ASSERT_EQ(nereid_xla_cuda(frame.frame()), nullptr) << xla.failure;
  EXPECT_TRUE(contains(stub.calls("cuLaunchKernelEx").back(), R"("attributes": {"cluster": [4, 1, 1]})"));
}

TEST_F(XlaCuda, scratch_is_the_streams_own) {
  KernelCall made = call("scratching", {"*fp32"});
  made.kernel.scratch = {128, 64};
  made.parameters = {ArrayParameter{}};
  FakeCall frame(xla, writePayload({made, "", ""}));
  frame.add(true, ElementType::Float32, {6}, 0x2000);
  ASSERT_EQ(nereid_xla_cuda(frame.frame()), nullptr) << xla.failure;
  const auto allocated = stub.calls("cuMemAllocAsync");
  ASSERT_EQ(allocated.size(), 1u);
  EXPECT_TRUE(contains(allocated[0], R"("stream": 64)"));
}

TEST_F(XlaCuda, the_untyped_interface_has_addresses_alone) {
  KernelCall made = call("untyped", {"*fp32", "*fp32"});
  made.parameters = {ArrayParameter{0, 16, {}, {}}, ArrayParameter{8, 16, {}, {}}};
  const std::string payload = writePayload({made, "", ""});
  void *buffers[] = {reinterpret_cast<void *>(0x1000), reinterpret_cast<void *>(0x2000)};
  nereid_xla_cuda_untyped(reinterpret_cast<void *>(0x80), buffers, payload.data(), payload.size(), nullptr);
  ASSERT_EQ(stub.calls("cuLaunchKernelEx").size(), 1u);
  EXPECT_TRUE(contains(stub.calls("cuLaunchKernelEx")[0], R"("stream": 128)"));
  EXPECT_TRUE(contains(stub.calls("cuMemsetD8Async")[0], R"("address": 8192)"));
}

TEST_F(XlaCuda, a_payload_where_another_one_was_is_not_taken_for_it) {
  std::string storage;
  void *buffers[] = {reinterpret_cast<void *>(0x1000)};
  for (const char *name : {"first_here", "second_here", "first_here"}) {
    KernelCall made = call(name, {"*fp32"});
    made.parameters = {ArrayParameter{}};
    const std::string payload = writePayload({made, "", ""});
    storage.reserve(4096);
    storage.assign(payload);
    stub.clear();
    for (int run = 0; run < 2; ++run)
      nereid_xla_cuda_untyped(reinterpret_cast<void *>(0x80), buffers, storage.data(), storage.size(), nullptr);
    const auto launched = stub.calls("cuLaunchKernelEx");
    ASSERT_EQ(launched.size(), 2u);
    for (const std::string &line : launched)
      EXPECT_TRUE(contains(line, name)) << line;
  }
}

TEST_F(XlaCuda, many_arrays) {
  constexpr size_t kArrays = 70;
  KernelCall made = call("many", std::vector<std::string>(kArrays, "*fp32"));
  made.parameters.assign(kArrays, ArrayParameter{0, 16, {}, {}});
  FakeCall frame(xla, writePayload({made, "", ""}));
  for (uint64_t i = 0; i < kArrays; ++i)
    frame.add(i > 40, ElementType::Float32, {4}, 0x1000 + 16 * i);
  ASSERT_EQ(nereid_xla_cuda(frame.frame()), nullptr) << xla.failure;
  EXPECT_TRUE(contains(stub.calls("cuLaunchKernelEx").back(), R"("5014000000000000")")) << "the last one's address";
}

TEST_F(XlaCuda, a_failure_of_the_untyped_interface_is_seen) {
  testing::internal::CaptureStderr();
  nereid_xla_cuda_untyped(nullptr, nullptr, "x", 1, nullptr);
  EXPECT_TRUE(contains(testing::internal::GetCapturedStderr(), "[payload-compression]"));
  EXPECT_TRUE(stub.calls("cuLaunchKernelEx").empty());
}

TEST_F(XlaCuda, what_does_not_fit_launches_nothing) {
  KernelCall made = call("strict", {"*fp32", "*fp32"});
  made.parameters = {ArrayParameter{0, 16, {}, {}}, ArrayParameter{0, 0, std::vector<uint64_t>{2, 3}, {}}};
  const auto failureOf = [&](uint64_t address, std::vector<int64_t> dims, void *stream) {
    FakeCall frame(xla, writePayload({made, "", ""}));
    frame.add(false, ElementType::Float32, {6}, address);
    frame.add(true, ElementType::Float32, dims, 0x2000);
    xla.stream = stream;
    xla.failure.clear();
    EXPECT_NE(nereid_xla_cuda(frame.frame()), nullptr);
    return xla.failure;
  };
  void *const stream = reinterpret_cast<void *>(0x40);
  EXPECT_TRUE(
      contains(failureOf(0x1008, {2, 3}, stream), "no multiple of 16, which the code counts on [xla-alignment]"));
  EXPECT_EQ(xla.code, ffi::Code::InvalidArgument);
  EXPECT_TRUE(contains(failureOf(0x1000, {6}, stream), "has the shape [6]; the call was made for [2, 3] [xla-shape]"));
  EXPECT_TRUE(contains(failureOf(0x1000, {2, 3}, nullptr), "[xla-stream]"));
  made.kernel.computeCapability = 80;
  made.kernel.ptx = made.kernel.ptx.replace(made.kernel.ptx.find("sm_90"), 5, "sm_99");
  EXPECT_TRUE(contains(failureOf(0x1000, {2, 3}, stream), "[load-target]")) << xla.failure;
  EXPECT_EQ(xla.code, ffi::Code::FailedPrecondition);
  EXPECT_TRUE(stub.calls("cuLaunchKernelEx").empty());
}

TEST_F(XlaCuda, tuning_restores_operands_that_share_memory_with_results) {
  AutotunedCall tuned{"tuned", {}, {{0, 1, 24}}};
  for (const char *name : {"first_candidate", "second_candidate"}) {
    KernelCall made = call(name, {"*fp32"});
    made.parameters = {ArrayParameter{0, 0, {}, 0}};
    tuned.configs.push_back({made, name});
  }
  FakeCall frame(xla, writePayload({tuned, "", ""}));
  frame.add(false, ElementType::Float32, {6}, 0x1000);
  frame.add(true, ElementType::Float32, {6}, 0x1000);
  ASSERT_EQ(nereid_xla_cuda_autotuned(frame.frame()), nullptr) << xla.failure;
  EXPECT_EQ(stub.calls("cuMemcpyDtoH").size(), 1u);
  EXPECT_EQ(stub.calls("cuMemcpyHtoD").size(), 2u);
  const size_t launches = stub.calls("cuLaunchKernelEx").size();
  EXPECT_GT(launches, 4u);
  ASSERT_EQ(nereid_xla_cuda_autotuned(frame.frame()), nullptr);
  EXPECT_EQ(stub.calls("cuLaunchKernelEx").size(), launches + 1) << "tuned again for a second run";
}
