// Warps and CTAs of the simulator: collectives, atomics, barriers, asynchronous copies, deadlocks.
// SPDX-License-Identifier: MIT
#include "test/unit/runtime/SimKernel.h"

using namespace nereid;

/// `code` computes %r3 from the thread's index %r0; it may use %r1 to %r9, %p0 to %p3, %rd0 to %rd5 and 4096 bytes of
/// shared memory.
static std::vector<uint32_t> threadResults(const std::string &code, uint32_t threads, uint64_t seed = 0,
                                           sim::Dim grid = {}, sim::Dim cluster = {}) {
  const std::string ptx = simKernel(".param .u64 out", R"(
    .reg .pred %p<4>; .reg .b32 %r<10>; .reg .b64 %rd<6>; .reg .b64 %o; .reg .b32 %i;
    mov.u32 %r0, %tid.x;
    )" + code + R"(
    mov.u32 %i, %ctaid.x;
    mad.lo.u32 %i, %i, )" + std::to_string(threads) + R"(, %r0;
    ld.param.u64 %o, [out];
    mad.wide.u32 %o, %i, 4, %o;
    st.global.u32 [%o], %r3;
    ret;)",
                                    ".extern .shared .align 1024 .b8 memory[];");
  std::vector<uint32_t> out(threads * grid.x);
  auto counters = runSim(ptx, SimArguments().add(out.data()), grid, {.x = threads}, seed, 1000000, 4096, cluster);
  EXPECT_TRUE(counters) << counters.error().text;
  return out;
}

TEST(SimWarp, collectives) {
  auto ballot = threadResults("and.b32 %r1, %r0, 1; setp.ne.u32 %p0, %r1, 0; vote.sync.ballot.b32 %r3, %p0, -1;", 32);
  EXPECT_EQ(ballot[7], 0xaaaaaaaau);
  auto sum = threadResults("redux.sync.add.u32 %r3, %r0, 0xffffffff;", 32);
  EXPECT_EQ(sum[3], 496u);
  auto match = threadResults("and.b32 %r1, %r0, 3; match.any.sync.b32 %r3, %r1, -1;", 32);
  EXPECT_EQ(match[1], 0x22222222u);
  auto up = threadResults("shfl.sync.up.b32 %r3|%p0, %r0, 2, 0, -1; @!%p0 mov.u32 %r3, 99;", 32);
  EXPECT_EQ(up[1], 99u);
  EXPECT_EQ(up[9], 7u);
  // Two halves of a warp exchange on their own.
  auto halves = threadResults(R"(
    setp.lt.u32 %p0, %r0, 16;
    @%p0 bra low;
    shfl.sync.bfly.b32 %r3, %r0, 1, 31, 0xffff0000;
    bra.uni both;
low:
    shfl.sync.bfly.b32 %r3, %r0, 2, 31, 0x0000ffff;
both:)",
                              32);
  EXPECT_EQ(halves[4], 6u);
  EXPECT_EQ(halves[20], 21u);
}

TEST(SimWarp, sharedMemoryAndBarriers) {
  for (uint64_t seed : {0, 1, 5}) {
    auto reversed = threadResults(R"(
      mov.u32 %r1, memory;
      mad.lo.u32 %r2, %r0, 4, %r1;
      st.shared.u32 [%r2], %r0;
      bar.sync 0;
      sub.u32 %r4, 127, %r0;
      cvta.shared.u64 %rd0, memory;
      mad.wide.u32 %rd0, %r4, 4, %rd0;
      ld.u32 %r3, [%rd0];)",
                                  128, seed);
    for (uint32_t thread = 0; thread < 128; ++thread)
      ASSERT_EQ(reversed[thread], 127 - thread);
    auto counted = threadResults(R"(
      setp.eq.u32 %p0, %r0, 0;
      @%p0 st.shared.u32 [memory], 0;
      bar.sync 0;
      atom.shared.add.u32 %r1, [memory], %r0;
      setp.gt.u32 %p1, %r0, 100;
      barrier.cta.red.popc.u32 %r2, 0, %p1;
      ld.shared.u32 %r3, [memory];
      add.u32 %r3, %r3, %r2;)",
                                 128, seed);
    EXPECT_EQ(counted[17], 127 * 64 + 27u);
  }
}

TEST(SimWarp, asynchronousCopiesArriveAtBarriers) {
  for (uint64_t seed : {0, 1, 5, 6}) {
    auto copied = threadResults(R"(
      mov.u32 %r1, memory;
      setp.eq.u32 %p0, %r0, 0;
      @%p0 mbarrier.init.shared::cta.b64 [%r1], 64;
      bar.sync 0;
      ld.param.u64 %rd0, [out];
      mad.wide.u32 %rd0, %r0, 16, %rd0;
      mad.lo.u32 %r2, %r0, 16, %r1;
      add.u32 %r4, %r0, 7;
      cp.async.cg.shared.global [%r2+1024], [%rd0], 16, 0;
      cp.async.mbarrier.arrive.noinc.shared::cta.b64 [%r1];
wait:
      mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], 0;
      @!%p1 bra wait;
      ld.shared.u32 %r3, [%r2+1024];
      add.u32 %r3, %r3, %r4;)",
                                64, seed);
    EXPECT_EQ(copied[9], 16u);
    auto bulk = threadResults(R"(
      .global .align 16 .b8 unused[16];
      mov.u32 %r1, memory;
      setp.ne.u32 %p0, %r0, 0;
      mul.lo.u32 %r4, %r0, 3;
      mad.lo.u32 %r2, %r0, 4, %r1;
      st.shared.u32 [%r2+1024], %r4;
      fence.proxy.async.shared::cta;
      bar.sync 0;
      @%p0 bra after;
      ld.param.u64 %rd0, [out];
      add.u32 %r5, %r1, 1024;
      cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r5], 128;
      cp.async.bulk.commit_group;
      cp.async.bulk.wait_group 0;
      mbarrier.init.shared::cta.b64 [%r1], 1;
      mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1], 128;
      add.u32 %r5, %r1, 2048;
      cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r5], [%rd0], 128, [%r1];
wait:
      mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1], 0;
      @!%p1 bra wait;
after:
      bar.sync 0;
      ld.shared.u32 %r3, [%r2+2048];)",
                              32, seed);
    EXPECT_EQ(bulk[9], 27u) << seed;
  }
}

TEST(SimWarp, clusters) {
  for (uint64_t seed : {0, 1, 5}) {
    auto swapped = threadResults(R"(
      mov.u32 %r1, %cluster_ctarank;
      mad.lo.u32 %r2, %r1, 100, %r0;
      mad.lo.u32 %r4, %r0, 4, 64;
      mov.u32 %r5, memory;
      add.u32 %r4, %r4, %r5;
      st.shared.u32 [%r4], %r2;
      barrier.cluster.arrive.release.aligned;
      barrier.cluster.wait.acquire.aligned;
      xor.b32 %r1, %r1, 1;
      mapa.shared::cluster.u32 %r6, %r4, %r1;
      ld.shared::cluster.u32 %r3, [%r6];
      barrier.cluster.arrive;
      barrier.cluster.wait;)",
                                 32, seed, {.x = 4}, {.x = 2});
    EXPECT_EQ(swapped[3], 103u);
    EXPECT_EQ(swapped[32 * 3 + 5], 5u);
  }
}

TEST(SimWarp, findsDeadlocks) {
  const std::string ptx = simKernel("", R"(
    .reg .pred %p; .reg .b32 %r;
    mov.u32 %r, %tid.x;
    setp.lt.u32 %p, %r, 32;
    @%p bar.sync 1, 64;
    bar.sync 0;)");
  auto result = runSim(ptx, {}, {}, {.x = 64});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, "sim-deadlock");
  EXPECT_NE(result.error().text.find("bar.sync 1, 64;"), std::string::npos);
  // A lock that one lane holds while the others of its warp spin.
  auto counted = threadResults(R"(
    setp.eq.u32 %p0, %r0, 0;
    @%p0 st.shared.v2.u32 [memory], {0, 0};
    bar.warp.sync -1;
retry:
    atom.shared.cas.b32 %r1, [memory], 0, 1;
    setp.ne.u32 %p1, %r1, 0;
    @%p1 bra retry;
    ld.shared.u32 %r2, [memory+4];
    add.u32 %r2, %r2, 1;
    st.shared.u32 [memory+4], %r2;
    atom.shared.exch.b32 %r1, [memory], 0;
    bar.warp.sync -1;
    ld.shared.u32 %r3, [memory+4];)",
                               32);
  EXPECT_EQ(counted[31], 32u);
}
