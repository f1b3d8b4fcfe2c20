// st.async, red.async, bulk reductions and multicasts of the simulator.
// SPDX-License-Identifier: MIT
#include "runtime/sim/units/TensorMap.h"
#include "test/unit/runtime/SimKernel.h"

using namespace nereid;

/// A thread that initialises the mbarrier %m for one arrival, and waits for it.
static const std::string kBarrier = R"(
    .shared .align 8 .b8 barrier[8];
    .reg .pred %p<4>; .reg .b32 %r<16>; .reg .b32 %m; .reg .b64 %d<8>; .reg .f32 %f<4>;
    mov.u32 %m, barrier;
    mbarrier.init.shared::cta.b64 [%m], 1;
    fence.proxy.async.shared::cta;)";
static std::string waitFor(unsigned bytes) {
  return "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%m], " + std::to_string(bytes) + R"(;
WAIT:
    mbarrier.try_wait.parity.shared::cta.b64 %p0, [%m], 0;
    @!%p0 bra WAIT;)";
}

TEST(SimAsyncStore, storesAndReductionsInSharedMemory) {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    uint32_t out[6] = {};
    const std::string ptx = simKernel(".param .u64 out", kBarrier + R"(
    .shared .align 16 .b8 words[32];
    mov.u32 %r0, words;
    st.shared.v2.u32 [%r0+16], {5, 7};
    st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.v4.b32 [%r0], {1, 2, 3, 4}, [%m];
    red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%r0+16], 10, [%m];
    red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.min.s32 [%r0+20], -3, [%m];
    )" + waitFor(24) + R"(
    ld.param.u64 %d0, [out];
    ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [%r0];
    st.global.v4.u32 [%d0], {%r1, %r2, %r3, %r4};
    ld.shared.v2.u32 {%r1, %r2}, [%r0+16];
    st.global.v2.u32 [%d0+16], {%r1, %r2};
    ret;)");
    alignas(16) uint32_t aligned[8] = {};
    SimArguments arguments;
    arguments.add(&aligned[0]);
    auto counters = runSim(ptx, arguments, {}, {.x = 1}, seed);
    ASSERT_TRUE(counters) << counters.error().text;
    std::copy_n(aligned, 6, out);
    EXPECT_EQ((std::vector<uint32_t>(out, out + 6)), (std::vector<uint32_t>{1, 2, 3, 4, 15, uint32_t(-3)}));
  }
}

TEST(SimAsyncStore, bulkReductions) {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    alignas(16) float out[4] = {1, 2, 3, 4};
    alignas(16) uint32_t words[4] = {};
    const std::string ptx = simKernel(".param .u64 out, .param .u64 words", kBarrier + R"(
    .shared .align 16 .b8 from[32];
    .shared .align 16 .b8 to[16];
    mov.u32 %r0, from;
    mov.u32 %r1, to;
    st.shared.v4.f32 [%r0], {0f3f800000, 0f40000000, 0fbf800000, 0f00000000};
    st.shared.v4.u32 [%r0+16], {6, 5, 4, 3};
    st.shared.v4.u32 [%r1], {12, 13, 14, 15};
    fence.proxy.async.shared::cta;
    ld.param.u64 %d0, [out];
    cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%d0], [%r0], 16;
    cp.async.bulk.commit_group;
    cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.and.b32 [%r1], [%r0+16], 16, [%m];
    )" + waitFor(16) + R"(
    ld.param.u64 %d1, [words];
    ld.shared.v4.u32 {%r2, %r3, %r4, %r5}, [%r1];
    st.global.v4.u32 [%d1], {%r2, %r3, %r4, %r5};
    cp.async.bulk.wait_group 0;
    ret;)");
    SimArguments arguments;
    arguments.add(&out[0]).add(&words[0]);
    auto counters = runSim(ptx, arguments, {}, {.x = 1}, seed);
    ASSERT_TRUE(counters) << counters.error().text;
    EXPECT_EQ((std::vector<float>(out, out + 4)), (std::vector<float>{2, 4, 2, 4}));
    EXPECT_EQ((std::vector<uint32_t>(words, words + 4)), (std::vector<uint32_t>{4, 5, 4, 3}));
  }
}

/// CTA 0 copies to CTAs 1 and 2 of three.
TEST(SimAsyncStore, bulkMulticast) {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    alignas(16) uint32_t in[4] = {9, 8, 7, 6}, out[12] = {};
    const std::string ptx = simKernel(".param .u64 in, .param .u64 out", kBarrier + R"(
    .shared .align 16 .b8 to[16];
    .reg .b16 %h;
    mov.u32 %r1, to;
    mov.u32 %r2, %cluster_ctarank;
    st.shared.v4.u32 [%r1], {0, 0, 0, 0};
    fence.proxy.async.shared::cta;
    barrier.cluster.arrive.release.aligned;
    barrier.cluster.wait.acquire.aligned;
    ld.param.u64 %d0, [in];
    mov.b16 %h, 6;
    setp.eq.u32 %p1, %r2, 0;
    @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%r1], [%d0], 16, [%m], %h;
    @%p1 bra MET;
    )" + waitFor(16) + R"(
MET:
    barrier.cluster.arrive.release.aligned;
    barrier.cluster.wait.acquire.aligned;
    ld.param.u64 %d1, [out];
    mad.wide.u32 %d1, %r2, 16, %d1;
    ld.shared.v4.u32 {%r3, %r4, %r5, %r6}, [%r1];
    st.global.v4.u32 [%d1], {%r3, %r4, %r5, %r6};
    ret;)");
    SimArguments arguments;
    arguments.add(&in[0]).add(&out[0]);
    auto counters = runSim(ptx, arguments, {.x = 3}, {.x = 1}, seed, 0, 0, {.x = 3});
    ASSERT_TRUE(counters) << counters.error().text;
    EXPECT_EQ((std::vector<uint32_t>(out, out + 12)), (std::vector<uint32_t>{0, 0, 0, 0, 9, 8, 7, 6, 9, 8, 7, 6}));
  }
}

/// The error of a store of the words 1 to 4 to an array of eight, from an index on; or empty.
static std::string errorOfStoreAt(int32_t index, uint32_t (&out)[8]) {
  const std::string ptx = simKernel(".param .u64 map, .param .u32 index", R"(
    .shared .align 128 .b8 box[16];
    .reg .b32 %r<2>; .reg .b64 %d<1>;
    mov.u32 %r0, box;
    st.shared.v4.u32 [%r0], {1, 2, 3, 4};
    fence.proxy.async.shared::cta;
    ld.param.u64 %d0, [map];
    ld.param.u32 %r1, [index];
    cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%d0, {%r1}], [%r0];
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
    ret;)");
  struct alignas(128) {
    sim::TensorMap map;
  } memory;
  memory.map.element = sim::TensorElement::U32;
  memory.map.base = reinterpret_cast<uint64_t>(&out[0]);
  memory.map.extents[0] = 8;
  memory.map.box[0] = 4;
  SimArguments arguments;
  arguments.add(&memory).add(index);
  auto counters = runSim(ptx, arguments, {}, {.x = 1});
  return counters ? std::string() : counters.error().code + ": " + counters.error().text;
}

TEST(SimAsyncStore, boxesEndBeyondTheArrayButDoNotBeginBeforeIt) {
  alignas(16) uint32_t out[8] = {};
  EXPECT_EQ(errorOfStoreAt(4, out), "");
  EXPECT_EQ(errorOfStoreAt(6, out), "");
  EXPECT_EQ(errorOfStoreAt(8, out), "");
  EXPECT_EQ(std::vector<uint32_t>(out, out + 8), (std::vector<uint32_t>{0, 0, 0, 0, 1, 2, 1, 2}));
  const std::string error = errorOfStoreAt(-2, out);
  EXPECT_TRUE(error.starts_with("sim-fault: ")) << error;
  EXPECT_NE(error.find("the stored box begins before the array"), std::string::npos) << error;
}
