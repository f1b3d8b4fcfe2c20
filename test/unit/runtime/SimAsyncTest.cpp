// Asynchronous copies, mbarriers and proxies under the checks: each kernel with and without its fault.
// SPDX-License-Identifier: MIT
#include "test/unit/runtime/SimChecks.h"

using namespace nereid;

TEST(SimAsync, copiesAreWaitedFor) {
  const std::string code = R"(
    mad.wide.u32 %rd1, %r0, 16, %rd0;
    mad.lo.u32 %r3, %r0, 16, %r2;
    cp.async.cg.shared.global [%r3], [%rd1], 16;
    cp.async.commit_group;
    cp.async.cg.shared.global [%r3+4096], [%rd1+4096], 16;
    cp.async.commit_group;
    cp.async.wait_group 1;
    ld.shared.u32 %r4, [%r3];
    cp.async.wait_group 0;
    bar.sync 0;
    ld.shared.u32 %r4, [%r2+4096];)";
  expectClean(code, 64);
  expectReport(replaced(code, "wait_group 1", "wait_group 2"), 64, "sanitize-race", {"cp.async", "[%r3]"});
  expectReport(replaced(code, "cp.async.wait_group 0;", ""), 64, "sanitize-race", {"[%r2+4096]"});
  expectReport(replaced(code, "bar.sync 0;", ""), 64, "sanitize-race", {"[%r2+4096]"});
}

static const char *const kBulkLoad = R"(
    setp.ne.u32 %p0, %r0, 0;
    @%p0 bra ready;
    mbarrier.init.shared::cta.b64 [%r2], 1;
    fence.mbarrier_init.release.cluster;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r2], 128;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2+1024], [%rd0], 128, [%r2];
ready:
    bar.sync 0;
wait:
    mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r2], 0;
    @!%p1 bra wait;
    ld.shared.u32 %r3, [%r2+1024];)";

TEST(SimAsync, bulkLoadsSignalTheirMbarrier) {
  expectClean(kBulkLoad, 64);
  expectReportOnSomeSeed(replaced(kBulkLoad, "@!%p1 bra wait;", ""), 64, "sanitize-race");
  // Some seeds poll the mbarrier before it is one, which is a fault.
  expectReport(replaced(kBulkLoad, "bar.sync 0;", ""), 64, "s", {"mbarrier"});
  // More bytes come than are expected: the phase does not end.
  expectReport(replaced(kBulkLoad, "b64 _, [%r2], 128", "b64 _, [%r2], 64"), 64, "sim-deadlock", {"try_wait"});
  expectReport(replaced(kBulkLoad, "arrive.expect_tx.shared::cta.b64 _, [%r2], 128", "arrive.shared::cta.b64 _, [%r2]"),
               64, "sanitize-race", {"[%r2+1024]"});
  expectReport(replaced(kBulkLoad, "fence.mbarrier_init.release.cluster;", ""), 64, "sanitize-sync",
               {"fence.proxy.async"});
}

TEST(SimAsync, bulkStoresNeedAProxyFence) {
  const std::string code = R"(
    mad.lo.u32 %r3, %r0, 4, %r2;
    st.shared.u32 [%r3], %r0;
    fence.proxy.async.shared::cta;
    bar.sync 0;
    setp.ne.u32 %p0, %r0, 0;
    @%p0 bra done;
    cp.async.bulk.global.shared::cta.bulk_group [%rd0], [%r2], 256;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group.read 0;
done:
    bar.sync 0;
    st.shared.u32 [%r3], 1;)";
  expectClean(code, 64);
  expectReport(replaced(code, "fence.proxy.async.shared::cta;", ""), 64, "sanitize-sync", {"st.shared.u32"});
  expectReport(replaced(code, "cp.async.bulk.wait_group.read 0;", ""), 64, "sanitize-race", {"cp.async.bulk"});
  // The reads are over then, the writes are not.
  const std::string reread =
      replaced(code, "cp.async.bulk.wait_group.read 0;", "cp.async.bulk.wait_group.read 0; ld.global.u32 %r4, [%rd0];");
  expectReport(reread, 64, "sanitize-race", {"ld.global.u32"});
  expectClean(replaced(reread, "wait_group.read 0", "wait_group 0"), 64);
}

TEST(SimAsync, wgmmaReadsThroughTheAsyncProxy) {
  const std::string code = R"(
    .reg .b64 %da;
    mad.lo.u32 %r3, %r0, 16, %r2;
    st.shared.v4.u32 [%r3], {%r0, %r0, %r0, %r0};
    fence.proxy.async;
    bar.sync 0;
    cvt.u64.u32 %da, %r2;
    shr.u64 %da, %da, 4;
    or.b64 %da, %da, 0x0000000800080000;
    mov.f32 %f0, 0f00000000; mov.f32 %f1, %f0; mov.f32 %f2, %f0; mov.f32 %f3, %f0;
    wgmma.fence.sync.aligned;
    wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f0, %f1, %f2, %f3}, %da, %da, 1, 1, 1, 0, 0;
    wgmma.commit_group.sync.aligned;
    wgmma.wait_group.sync.aligned 0;
    bar.sync 0;
    st.shared.v4.u32 [%r3], {%r0, %r0, %r0, %r0};)";
  expectClean(code, 128);
  expectReport(replaced(code, "fence.proxy.async;", ""), 128, "sanitize-sync", {"st.shared.v4.u32", "wgmma.mma_async"});
  expectReport(replaced(code, "wgmma.wait_group.sync.aligned 0;", ""), 128, "sanitize-race", {"wgmma.mma_async"});
  expectReport(replaced(code, "wgmma.commit_group.sync.aligned;", ""), 128, "sanitize-race", {"wgmma.mma_async"});
  expectReport(replaced(code, "wgmma.fence.sync.aligned;", ""), 128, "sanitize-sync", {"mov.f32", "wgmma.fence"});
  const std::string used =
      replaced(code, "bar.sync 0;\n    st.shared", "add.f32 %f0, %f0, %f1; bar.sync 0;\n    st.shared");
  expectClean(used, 128);
  expectReport(replaced(used, "wgmma.wait_group.sync.aligned 0;", ""), 128, "sanitize-sync",
               {"wgmma.wait_group", "add.f32"});
}

TEST(SimAsync, mbarriersOrderByArrivalAndWait) {
  const std::string code = R"(
    setp.eq.u32 %p0, %r0, 0;
    @%p0 mbarrier.init.shared::cta.b64 [%r2], 32;
    bar.sync 0;
    setp.ge.u32 %p1, %r0, 32;
    mad.lo.u32 %r3, %r0, 4, %r2;
    @%p1 bra consumer;
    st.shared.u32 [%r3+64], %r0;
    mbarrier.arrive.shared::cta.b64 _, [%r2];
    bra.uni done;
consumer:
    mbarrier.try_wait.parity.shared::cta.b64 %p2, [%r2], 0;
    @!%p2 bra consumer;
    ld.shared.u32 %r5, [%r2+80];
done:)";
  expectClean(code, 64);
  expectReport(
      replaced(code, "try_wait.parity.shared::cta.b64 %p2, [%r2], 0", "try_wait.parity.shared::cta.b64 %p2, [%r2], 1"),
      64, "s", {"%r2"});
  expectReport(replaced(code, "mbarrier.arrive.shared", "mbarrier.arrive.relaxed.cta.shared"), 64, "sanitize-race",
               {"[%r2+80]"});
}
