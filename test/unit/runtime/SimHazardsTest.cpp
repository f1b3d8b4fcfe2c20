// What asynchronous operations allow to be done wrong: buffers, mbarriers, proxies. Each kernel with and without its
// fault.
// SPDX-License-Identifier: MIT
#include "test/unit/runtime/SimChecks.h"

using namespace nereid;

namespace {
constexpr uint32_t kThreads = 128;

/// Two mbarriers at the beginning of shared memory; %p0 holds for all threads but the first.
const std::string kInit = R"(
    setp.ne.u32 %p0, %r0, 0;
    @%p0 bra ready;
    mbarrier.init.shared::cta.b64 [%r2], 1;
    mbarrier.init.shared::cta.b64 [%r2+8], 1;
    fence.mbarrier_init.release.cluster;
ready:
    bar.sync 0;)";

/// A copy of 2048 bytes to byte 1024, which signals the mbarrier at `barrier`.
std::string load(const std::string &barrier) {
  return R"(
    @%p0 bra loaded)" +
         barrier + R"(;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2+)" +
         barrier + R"(], 2048;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2+1024], [%rd0], 2048, [%r2+)" +
         barrier + R"(];
loaded)" +
         barrier + ":";
}

std::string wait(const std::string &barrier, const std::string &parity = "0") {
  return R"(
wait)" + barrier +
         R"(:
    mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r2+)" +
         barrier + "], " + parity + R"(;
    @!%p1 bra wait)" +
         barrier + ";";
}

/// Starts a wgmma that reads what has been loaded.
const std::string kMultiply = R"(
    .reg .b64 %da;
    add.u32 %r8, %r2, 1024;
    cvt.u64.u32 %da, %r8;
    shr.u64 %da, %da, 4;
    or.b64 %da, %da, 0x0000000800080000;
    mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;
    wgmma.fence.sync.aligned;
    wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %da, %da, 1, 1, 1, 0, 0;
    wgmma.commit_group.sync.aligned;)";
const std::string kMultiplied = "\n    wgmma.wait_group.sync.aligned 0;";
const std::string kFill = R"(
    mad.lo.u32 %r3, %r0, 16, %r2;
    st.shared.v4.u32 [%r3+1024], {%r0, %r0, %r0, %r0};)";
const std::string kFence = "\n    fence.proxy.async.shared::cta;";
const std::string kBarrier = "\n    bar.sync 0;";
const std::string kStore = R"(
    @%p0 bra stored;
    cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r2+1024], 2048;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
stored:)";
} // namespace

//--- proxies -------------------------------------------------------------------------------

TEST(SimHazards, generalWritesBeforeABulkStore) {
  expectClean(kInit + kFill + kFence + kBarrier + kStore, kThreads);
  expectClean(kInit + kFill + kBarrier + kFence + kStore, kThreads); // the issuing thread may execute it, alone
  expectClean(kInit + kFill + kBarrier + "@!%p0 fence.proxy.async.shared::cta;" + kStore, kThreads);
  expectReport(kInit + kFill + "@!%p0 fence.proxy.async.shared::cta;" + kBarrier + kStore, kThreads, "sanitize-sync",
               {"st.shared.v4.u32"});
  const std::vector<std::string> parts = {"without a `fence.proxy.async`", "[%r2+1024], 2048", "st.shared.v4.u32"};
  expectReport(kInit + kFill + kBarrier + kStore, kThreads, "sanitize-sync", parts);
  expectReport(kInit + kFence + kFill + kBarrier + kStore, kThreads, "sanitize-sync", parts);
}

TEST(SimHazards, generalWritesBeforeABulkLoad) {
  expectClean(kInit + kFill + kFence + kBarrier + load("0") + wait("0"), kThreads);
  expectReport(kInit + kFill + kBarrier + load("0") + wait("0"), kThreads, "sanitize-sync",
               {"without a `fence.proxy.async`", "[%r2+1024], [%rd0]", "st.shared.v4.u32"});
}

TEST(SimHazards, generalWritesBeforeWgmma) {
  expectClean(kInit + kFill + kFence + kBarrier + kMultiply + kMultiplied, kThreads);
  expectReport(kInit + kFill + kBarrier + kMultiply + kMultiplied, kThreads, "sanitize-sync",
               {"without a `fence.proxy.async`", "wgmma.mma_async", "st.shared.v4.u32"});
}

TEST(SimHazards, globalMemoryBeforeABulkLoad) {
  const std::string code = kInit + "@!%p0 st.global.u32 [%rd0+128], 5;" + "\n    fence.proxy.async.global;" + kBarrier +
                           load("0") + wait("0");
  expectClean(code, kThreads);
  for (const char *other : {"", "fence.proxy.async.shared::cta;"})
    expectReport(replaced(code, "fence.proxy.async.global;", other), kThreads, "sanitize-sync",
                 {"without a `fence.proxy.async`", "st.global.u32"});
}

/// What an asynchronous operation has done is visible to whoever waits for it: an implicit fence.
TEST(SimHazards, theEndOfAnOperationIsAFence) {
  expectClean(kInit + load("0") + wait("0") + "ld.shared.u32 %r5, [%r2+1024];" + kBarrier + load("8") + wait("8"),
              kThreads);
  const std::string stored = kInit + kFill + kFence + kBarrier + kStore + "@!%p0 ld.global.u32 %r5, [%rd0];" +
                             "@!%p0 st.shared.u32 [%r2+1024], 1;";
  expectClean(stored, kThreads);
  expectReport(replaced(stored, "wait_group 0", "wait_group.read 0"), kThreads, "sanitize-race", {"ld.global.u32"});
}

TEST(SimHazards, initialisedForTheOtherCta) {
  const std::string code = kInit + R"(
    barrier.cluster.arrive.relaxed.aligned;
    barrier.cluster.wait.acquire.aligned;
    setp.ne.u32 %p2, %r1, 1;
    @%p2 bra waits;
    mov.u32 %r3, 0;
    mapa.shared::cluster.u32 %r4, %r2, %r3;
    @!%p0 mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r4];
    bra.uni last;
waits:)" + wait("0") + R"(
last:
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;)";
  const sim::Dim both = {.x = 2};
  expectClean(code, kThreads, both, both);
  const std::string unfenced = replaced(code, "fence.mbarrier_init.release.cluster;", "");
  expectReport(unfenced, kThreads, "sanitize-race", {"mbarrier.arrive.release", "mbarrier.init"}, both, both);
  expectClean(replaced(unfenced, "arrive.relaxed", "arrive.release"), kThreads, both, both);
  // The fence orders the initialisation alone.
  expectReport(replaced(replaced(code, "@%p0 bra ready;", "@%p0 bra ready; st.shared.u32 [%r2+64], 7;"),
                        "@!%p0 mbarrier.arrive", "ld.shared::cluster.u32 %r5, [%r4+64]; @!%p0 mbarrier.arrive"),
               kThreads, "sanitize-race", {"ld.shared::cluster.u32"}, both, both);
}

/// A fence is of the lanes that execute it.
TEST(SimHazards, fencesByOtherLanes) {
  const std::string code = kInit + R"(
    @%p0 bra others;
    st.shared.u32 [%r2+1024], 7;
    fence.proxy.async.shared::cta;
    bra.uni met;
others:
    nop_or_fence
met:)" + kBarrier + kStore;
  expectClean(replaced(code, "nop_or_fence", ""), kThreads);
  const std::string byOthers = replaced(code, "fence.proxy.async.shared::cta;\n    bra", "bra");
  expectReport(replaced(byOthers, "nop_or_fence", "fence.proxy.async.shared::cta;"), kThreads, "sanitize-sync",
               {"st.shared.u32 [%r2+1024], 7"});
}

TEST(SimHazards, registersOfWgmma) {
  const std::string begin = kInit + load("0") + wait("0");
  const std::string code = begin + kMultiply + kMultiplied;
  expectClean(code, kThreads);
  expectReport(replaced(replaced(code, "wgmma.fence.sync.aligned;", ""),
                        "mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;", ""),
               kThreads, "sanitize-sync", {"the first wgmma of a warp", "wgmma.mma_async"});
  const std::string again = R"(
    add.f32 %f4, %f1, %f1;
    wgmma.fence.sync.aligned ;
    wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %da, %da, 1, 1, 1, 0, 0;
    wgmma.commit_group.sync.aligned;
    wgmma.wait_group.sync.aligned 0;)";
  const auto with = [&](const std::string &text) { return ".reg .f32 %g<2>;" + replaced(code + text, "%f4", "%g1"); };
  expectClean(with(again), kThreads);
  expectReport(with(replaced(again, "wgmma.fence.sync.aligned ;", "")), kThreads, "sanitize-sync",
               {"a register that was read without a `wgmma.fence`", "add.f32"});
}

//--- buffers -------------------------------------------------------------------------------

TEST(SimHazards, overwrittenWhileWgmmaReads) {
  const std::string begin = kInit + load("0") + wait("0") + kMultiply;
  const std::string copy = "cp.async.cg.shared.global [%r3+1024], [%rd0], 16; cp.async.wait_all;";
  const std::string at = "mad.lo.u32 %r3, %r0, 16, %r2;";
  expectClean(begin + kMultiplied + kBarrier + load("8") + wait("8"), kThreads);
  expectReport(begin + load("8") + kMultiplied + wait("8"), kThreads, "sanitize-race",
               {"[%r2+1024], [%rd0]", "wgmma.mma_async"});
  expectReport(begin + kMultiplied + load("8") + wait("8"), kThreads, "sanitize-race",
               {"[%r2+1024], [%rd0]", "wgmma.mma_async"}); // other warps have not waited
  expectReport(begin + at + copy + kMultiplied, kThreads, "sanitize-race", {"cp.async.cg", "wgmma.mma_async"});
  expectClean(begin + kMultiplied + kBarrier + at + copy, kThreads);
  expectReport(begin + at + "st.shared.u32 [%r3+1024], 1;" + kMultiplied, kThreads, "sanitize-race",
               {"st.shared.u32 [%r3+1024]", "wgmma.mma_async"});
}

TEST(SimHazards, wgmmaThatNobodyWaitsFor) {
  const std::string begin = kInit + load("0") + wait("0") + kMultiply;
  expectReport(begin, kThreads, "sanitize-sync", {"the warp ends without a `wgmma.wait_group`", "wgmma.mma_async"});
  expectReport(begin + replaced(kMultiplied, "0", "1"), kThreads, "sanitize-sync", {"the warp ends without"});
}

TEST(SimHazards, copiedTwice) {
  const std::string copy = "cp.async.cg.shared.global [%r3], [%rd0], 16; cp.async.commit_group;";
  const std::string code =
      "mad.lo.u32 %r3, %r0, 16, %r2;" + copy + "cp.async.wait_group 0;" + copy + "cp.async.wait_group 0 ;";
  expectClean(code, kThreads);
  expectReport(replaced(code, "cp.async.wait_group 0;", ""), kThreads, "sanitize-race", {"cp.async of warp"});
}

//--- mbarriers -----------------------------------------------------------------------------

TEST(SimHazards, loadThatNobodyWaitsFor) {
  expectReport(kInit + load("0"), kThreads, "sanitize-sync",
               {"the kernel ends without a wait", "cp.async.bulk.shared::cluster"});
  expectReport(kInit + load("0") + wait("8", "1"), kThreads, "sanitize-sync", {"the kernel ends without a wait"});
}

TEST(SimHazards, theOtherParity) {
  expectReport(kInit + load("0") + wait("0", "1") + "ld.shared.u32 %r5, [%r2+1024];", kThreads, "sanitize-race",
               {"[%r2+1024]", "cp.async.bulk"});
}

TEST(SimHazards, moreArrivalsThanAreCounted) {
  const std::string code = kInit + "@!%p0 mbarrier.arrive.shared::cta.b64 _, [%r2], 1;" + wait("0");
  expectClean(code, kThreads);
  expectReport(replaced(code, "[%r2], 1;\nwait", "[%r2], 2;\nwait"), kThreads, "sim-fault",
               {"more arrivals", "[%r2], 2"});
}

/// A second arrival ends the next phase too early.
TEST(SimHazards, arrivesTwice) {
  const std::string code = kInit + "@!%p0 mbarrier.arrive.shared::cta.b64 _, [%r2];" + wait("0") + kBarrier + R"(
    @!%p0 st.shared.u32 [%r2+64], 7;
    @!%p0 mbarrier.arrive.release.cta.shared::cta.b64 _, [%r2];
again:
    mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r2], 1;
    @!%p1 bra again;
    ld.shared.u32 %r5, [%r2+64];)";
  expectClean(code, kThreads);
  for (uint64_t seed = 0; seed < 8; ++seed) { // a fault, or the others wait forever, as the phases go by
    const std::string text =
        checkedRun(replaced(code, "_, [%r2];\nwait", "_, [%r2]; @!%p0 mbarrier.arrive.shared::cta.b64 _, [%r2];\nwait"),
                   kThreads, seed);
    EXPECT_TRUE(text.starts_with("sanitize-race") || text.starts_with("sim-deadlock")) << text;
  }
}

/// An mbarrier orders lanes of one warp, too: those that wait.
TEST(SimHazards, lanesOfTheWarpThatArrives) {
  const std::string code = kInit + R"(
    @!%p0 st.shared.u32 [%r2+64], 7;
    @!%p0 mbarrier.arrive.shared::cta.b64 _, [%r2];)" +
                           wait("0") + "\n    ld.shared.u32 %r5, [%r2+64];";
  expectClean(code, 32);
  expectReport(replaced(code, wait("0"), ""), 32, "sanitize-race", {"ld.shared.u32"});
  expectReport(replaced(code, "wait0:", "wait0: @%p0 bra over;") + "over: ld.shared.u32 %r6, [%r2+64];", 32,
               "sanitize-race", {"ld.shared.u32 %r6"});
}

TEST(SimHazards, bytesThatAreExpected) {
  const std::string code = kInit + load("0") + wait("0");
  expectReport(replaced(code, "], 2048;\n    cp", "], 1024;\n    cp"), kThreads, "sim-deadlock",
               {"1024 bytes more than expected have come", "CTA 0 warps 0 to 3", "try_wait"});
  expectReport(replaced(code, "], 2048;\n    cp", "], 4096;\n    cp"), kThreads, "sim-deadlock",
               {"the mbarrier at byte 0, waited for parity 0, lacks 0 of 1 arrivals and 2048 bytes"});
  expectReport(replaced(code, "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2+0], 2048;", ""), kThreads,
               "sim-deadlock", {"lacks 1 of 1 arrivals; 2048 bytes more"});
}

TEST(SimHazards, mbarriersThatAreNone) {
  const std::string code = kInit + "@!%p0 mbarrier.inval.shared::cta.b64 [%r2+8];" + load("0") + wait("0");
  expectClean(code, kThreads);
  expectReport(replaced(code, "mbarrier.init.shared::cta.b64 [%r2], 1;", ""), kThreads, "sim-fault",
               {"there is no mbarrier at this address"});
  expectReport(replaced(code, "inval.shared::cta.b64 [%r2+8]", "inval.shared::cta.b64 [%r2]"), kThreads, "s",
               {"mbarrier"}); // some seeds poll it before
  // A copy that signals none.
  expectReport(replaced(code, "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2+0], 2048;",
                        "mbarrier.inval.shared::cta.b64 [%r2];"),
               1, "sim-fault", {"there is no mbarrier at this address", "cp.async.bulk"});
}

TEST(SimHazards, memoryOfMbarriers) {
  const std::string begin = kInit + load("0") + wait("0") + kBarrier;
  const std::string ended = begin + "@!%p0 mbarrier.inval.shared::cta.b64 [%r2];";
  for (const char *access : {"@!%p0 st.shared.u32 [%r2+4], 0;", "@!%p0 ld.shared.u32 %r5, [%r2];"}) {
    expectClean(ended + access, kThreads);
    expectReport(begin + access, kThreads, "sanitize-sync",
                 {"the memory of an mbarrier", "mbarrier.init.shared::cta.b64 [%r2], 1", "shared.u32"});
  }
  expectClean(begin + "@!%p0 st.shared.u32 [%r2+16], 0;", kThreads);
}

TEST(SimHazards, barriersThatLackThreads) {
  expectReport("setp.ge.u32 %p0, %r0, 64; @%p0 bra other; bar.sync 1, 128; bra.uni last; other: bar.sync 2, 96; last:",
               kThreads, "sim-deadlock",
               {"CTA 0 warps 0 to 1", "[64 of 128 threads have come to barrier 1]", "CTA 0 warps 2 to 3",
                "[64 of 96 threads have come to barrier 2]"});
}

/// However many warps wait, and give up now and then.
TEST(SimHazards, allOfManyWarpsWait) {
  const sim::Dim eight = {.x = 8};
  for (const uint64_t seed : {1, 2, 3})
    EXPECT_TRUE(checkedRun(kInit + wait("0"), 1024, seed, eight, eight).starts_with("sim-deadlock"));
}

TEST(SimHazards, whoWaitsForEver) {
  const std::string code = kInit + "setp.ge.u32 %p2, %r0, 64; @%p2 bra other;" + wait("0") +
                           "\n bra.uni last;\nother:" + wait("8") + "\nlast:";
  expectReport(code, kThreads, "sim-deadlock",
               {"CTA 0 warps 0 to 1 at line ",
                "[%r2+0], 0; [the mbarrier at byte 0, waited for parity 0, lacks 1 of 1 "
                "arrivals]",
                "CTA 0 warps 2 to 3 at line ", "[the mbarrier at byte 8"});
}
