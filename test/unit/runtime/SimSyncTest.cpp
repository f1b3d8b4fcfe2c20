// Misuse of barriers, collectives and mbarriers: each kernel with and without its fault.
// SPDX-License-Identifier: MIT
#include "test/unit/runtime/SimChecks.h"

using namespace nereid;

TEST(SimSync, alignedBarriersNeedAllLanes) {
  const std::string code = R"(
    setp.ge.u32 %p0, %r0, 64;
    @%p0 bra done;
    bar.sync 0;
done:)";
  expectClean(replaced(code, "@%p0 bra done;", ""), 64);
  expectReport(replaced(code, "%r0, 64", "%r0, 40"), 64, "sanitize-sync",
               {"divergent barrier", "lanes 8 to 31", "bar.sync"});
  expectReport(
      "and.b32 %r3, %r0, 1; setp.eq.u32 %p0, %r3, 0; @%p0 bra even; bar.sync 0; bra.uni done; even: bar.sync 0; done:",
      64, "sanitize-sync", {"different barriers"});
  expectClean(replaced("@%p0 bra even; barrier.sync 0; bra.uni done; even: barrier.sync 0; done:", "@%p0 bra",
                       "setp.lt.u32 %p0, %r0, 7; @%p0 bra"),
              64);
}

TEST(SimSync, countsAreWholeWarpsAndAgree) {
  expectClean("bar.sync 1, 64;", 64);
  expectReport("bar.sync 1, 40;", 64, "sanitize-sync", {"no multiple of 32"});
  expectReport("shr.u32 %r3, %r0, 5; mad.lo.u32 %r3, %r3, 32, 64; bar.sync 1, %r3;", 64, "sanitize-sync",
               {"in the same phase"});
}

TEST(SimSync, collectivesNameTheirLanes) {
  expectClean("shfl.sync.bfly.b32 %r3, %r0, 1, 31, 0xffffffff;", 32);
  expectReport("shfl.sync.bfly.b32 %r3, %r0, 1, 31, 0x0000ffff;", 32, "sanitize-sync", {"lanes 16 to 31"});
}

TEST(SimSync, copiesAreWaitedForBeforeTheEnd) {
  const std::string code = R"(
    mad.lo.u32 %r3, %r0, 16, %r2;
    cp.async.cg.shared.global [%r3], [%rd0], 16;
    cp.async.commit_group;
    cp.async.wait_group 0;)";
  expectClean(code, 32);
  expectReport(replaced(code, "cp.async.wait_group 0;", ""), 32, "sanitize-sync", {"without a wait"});
  // Empty groups count.
  expectClean(replaced(code, "cp.async.wait_group 0;", "cp.async.commit_group; cp.async.wait_group 1;"), 32);
  expectReport(replaced(code, "wait_group 0", "wait_group 1"), 32, "sanitize-sync", {"without a wait"});
}

TEST(SimSync, mbarriersAreInvalidatedBeforeTheyBeginAnew) {
  const std::string code = R"(
    mbarrier.init.shared::cta.b64 [%r2], 1;
    mbarrier.inval.shared::cta.b64 [%r2];
    mbarrier.init.shared::cta.b64 [%r2], 2;)";
  expectClean(code, 1);
  expectReport(replaced(code, "mbarrier.inval.shared::cta.b64 [%r2];", ""), 1, "sanitize-sync", {"initialised again"});
}

TEST(SimSync, aTensorMapThatTheKernelWrites) {
  const std::string code = R"(
    setp.ne.u32 %p0, %r0, 0;
    @%p0 bra last;
    add.u64 %rd0, %rd0, 63;
    and.b64 %rd0, %rd0, -64;
    add.u64 %rd1, %rd0, 1024;
    mov.u32 %r9, 0;
    tensormap.replace.tile.global_address.global.b1024.b64 [%rd0], %rd1;
    tensormap.replace.tile.rank.global.b1024.b32 [%rd0], 0;
    tensormap.replace.tile.box_dim.global.b1024.b32 [%rd0], 0, 32;
    tensormap.replace.tile.global_dim.global.b1024.b32 [%rd0], 0, 32;
    tensormap.replace.tile.element_stride.global.b1024.b32 [%rd0], 0, 1;
    tensormap.replace.tile.elemtype.global.b1024.b32 [%rd0], 2;
    tensormap.replace.tile.interleave_layout.global.b1024.b32 [%rd0], 0;
    tensormap.replace.tile.swizzle_mode.global.b1024.b32 [%rd0], 0;
    tensormap.replace.tile.fill_mode.global.b1024.b32 [%rd0], 0;
    fence.proxy.tensormap::generic.acquire.gpu [%rd0], 128;
    cp.async.bulk.tensor.1d.global.shared::cta.bulk_group [%rd0, {%r9}], [%r2];
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
last:)";
  expectClean(code, 64);
  const std::string fence = "fence.proxy.tensormap::generic.acquire.gpu [%rd0], 128;";
  const std::vector<std::string> parts = {"a tensor map is read", "tensormap::generic.acquire", "tensormap.replace"};
  expectReport(replaced(code, fence, ""), 64, "sanitize-sync", parts);
  expectReport(replaced(code, fence, "fence.proxy.tensormap::generic.release.gpu;"), 64, "sanitize-sync", parts);
  expectReport(replaced(code, fence, "fence.proxy.async;"), 64, "sanitize-sync", parts);
}
