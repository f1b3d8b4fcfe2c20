// Races between warps, lanes and CTAs: each kernel with and without its fault.
// SPDX-License-Identifier: MIT
#include "test/unit/runtime/SimChecks.h"

using namespace nereid;

TEST(SimRace, barrierOrdersSharedMemory) {
  const std::string code = R"(
    mad.lo.u32 %r3, %r0, 4, %r2;
    st.shared.u32 [%r3], %r0;
    bar.sync 0;
    xor.b32 %r4, %r0, 64;
    mad.lo.u32 %r4, %r4, 4, %r2;
    ld.shared.u32 %r5, [%r4];)";
  expectClean(code, 128);
  expectReport(replaced(code, "bar.sync 0;", ""), 128, "sanitize-race", {"st.shared.u32", "ld.shared.u32", "line "});
  // The barrier of other threads orders nothing.
  expectReport(replaced(code, "bar.sync 0;", "shr.u32 %r6, %r0, 6; bar.sync %r6, 64;"), 128, "sanitize-race",
               {"ld.shared.u32"});
}

TEST(SimRace, writeAfterReadNeedsABarrier) {
  const std::string code = R"(
    mad.lo.u32 %r3, %r0, 4, %r2;
    ld.shared.u32 %r5, [%r2];
    bar.sync 0;
    st.shared.u32 [%r3], %r0;)";
  expectClean(code, 128);
  expectReport(replaced(code, "bar.sync 0;", ""), 128, "sanitize-race", {"read", "write"});
}

TEST(SimRace, bytesOfAWordAreApart) {
  expectClean("add.u32 %r3, %r2, %r0; st.shared.u8 [%r3], %r0;", 128);
  expectReport("shr.u32 %r4, %r0, 1; add.u32 %r3, %r2, %r4; st.shared.u8 [%r3], %r0;", 128, "sanitize-race", {"write"});
}

TEST(SimRace, lanesOfAWarpNeedItsBarrier) {
  const std::string code = R"(
    mad.lo.u32 %r3, %r0, 4, %r2;
    st.shared.u32 [%r3], %r0;
    bar.warp.sync -1;
    xor.b32 %r4, %r0, 1;
    mad.lo.u32 %r4, %r4, 4, %r2;
    ld.shared.u32 %r5, [%r4];)";
  expectClean(code, 128);
  expectReport(replaced(code, "bar.warp.sync -1;", ""), 128, "sanitize-race", {"st.shared.u32"});
}

/// The first CTA leaves a number for the others, which wait for the flag that `publish` sets.
static std::string message(const std::string &publish) {
  return R"(
    setp.ne.u32 %p0, %r1, 0;
    @%p0 bra reader;
    st.global.u32 [%rd0+64], 7;
    )" + publish +
         R"(
    bra.uni last;
reader:
    ld.acquire.gpu.global.u32 %r3, [%rd0];
    setp.ne.u32 %p1, %r3, 1;
    @%p1 bra reader;
    ld.global.u32 %r4, [%rd0+64];
last:)";
}

TEST(SimRace, ctasAreOrderedByReleaseAndAcquire) {
  const std::string code = message("st.release.gpu.global.u32 [%rd0], 1;");
  expectClean(code, 1, {.x = 2});
  expectReport(replaced(code, "st.release.gpu", "st.relaxed.gpu"), 1, "sanitize-race", {"[%rd0+64]"}, {.x = 2});
  expectReport(replaced(code, "ld.acquire.gpu", "ld.relaxed.gpu"), 1, "sanitize-race", {"[%rd0+64]"}, {.x = 2});
  expectReport(replaced(code, "ld.acquire.gpu", "ld.acquire.cta"), 1, "sanitize-race", {"scopes"}, {.x = 2});
  expectReport(replaced(code, "st.release.gpu.global", "st.global"), 1, "sanitize-race", {"[%rd0]"}, {.x = 2});
  // Fences make relaxed accesses release and acquire.
  const std::string fenced = replaced(replaced(code, "st.release.gpu", "fence.acq_rel.gpu; st.relaxed.gpu"),
                                      "ld.acquire.gpu", "ld.relaxed.gpu");
  const std::string acquired = replaced(fenced, "ld.global.u32 %r4", "membar.gl; ld.global.u32 %r4");
  expectClean(acquired, 1, {.x = 2});
  expectReport(replaced(acquired, "fence.acq_rel.gpu", "fence.acq_rel.cta"), 1, "sanitize-race", {"[%rd0+64]"},
               {.x = 2});
  expectReport(fenced, 1, "sanitize-race", {"[%rd0+64]"}, {.x = 2});
}

TEST(SimRace, whatAClusterReleasesIsNotForOthers) {
  const std::string code = message("fence.acq_rel.cluster; st.relaxed.gpu.global.u32 [%rd0], 1;");
  expectClean(code, 1, {.x = 2}, {.x = 2});
  expectClean(replaced(code, "acq_rel.cluster", "acq_rel.gpu"), 1, {.x = 2});
  expectReport(code, 1, "sanitize-race", {"[%rd0+64]"}, {.x = 2});
  expectReport(replaced(code, "acq_rel.cluster", "acq_rel.cta"), 1, "sanitize-race", {"[%rd0+64]"}, {.x = 2}, {.x = 2});
}

TEST(SimRace, atomicsCountTheLastCta) {
  // The CTA that counts last reads what all have stored.
  const std::string code = R"(
    mad.wide.u32 %rd1, %r1, 4, %rd0;
    st.global.u32 [%rd1+256], %r1;
    atom.add.acq_rel.gpu.global.u32 %r3, [%rd0+128], 1;
    and.b32 %r3, %r3, 3;
    setp.ne.u32 %p0, %r3, 3;
    @%p0 bra last;
    ld.global.u32 %r4, [%rd0+256];
    ld.global.u32 %r5, [%rd0+260];
last:)";
  expectClean(code, 1, {.x = 4});
  expectReport(replaced(code, "add.acq_rel.gpu", "add.acq_rel.cta"), 1, "sanitize-race", {"scopes"}, {.x = 4});
  expectReport(replaced(code, "add.acq_rel.gpu", "add.relaxed.gpu"), 1, "sanitize-race", {"[%rd0+256]"}, {.x = 4});
  expectReport(replaced(code, "atom.add.acq_rel.gpu.global.u32 %r3, [%rd0+128], 1;",
                        "ld.global.u32 %r3, [%rd0+128]; add.u32 %r6, %r3, 1; st.global.u32 [%rd0+128], %r6;"),
               1, "sanitize-race", {"[%rd0+128]"}, {.x = 4});
}

TEST(SimRace, clusterBarrierOrdersDistributedSharedMemory) {
  const std::string code = R"(
    st.shared.u32 [%r2+16], %r1;
    barrier.cluster.arrive.release.aligned;
    barrier.cluster.wait.acquire.aligned;
    xor.b32 %r3, %r1, 1;
    mapa.shared::cluster.u32 %r4, %r2, %r3;
    ld.shared::cluster.u32 %r5, [%r4+16];
    barrier.cluster.arrive.aligned;
    barrier.cluster.wait.aligned;)";
  expectClean(code, 1, {.x = 2}, {.x = 2});
  expectReport(replaced(code, "arrive.release", "arrive.relaxed"), 1, "sanitize-race", {"[%r4+16]"}, {.x = 2},
               {.x = 2});
}
