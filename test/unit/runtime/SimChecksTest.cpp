// The checks `bounds` and `uninit` of the simulated GPU, on instructions that Triton kernels rarely show alone.
// SPDX-License-Identifier: MIT
#include "test/unit/runtime/SimKernel.h"

using namespace nereid;

namespace {
struct Checked {
  std::string code, text;
};
} // namespace

/// Runs 32 threads with a buffer of `bytes` bytes as the only parameter; empty code: no report.
static Checked check(const std::string &body, uint32_t checks, uint32_t bytes = 4096, uint64_t seed = 0) {
  alignas(16) static char memory[8192];
  auto module = sim::parse(simKernel(".param .u64 data", body));
  if (!module)
    return {module.error().code, module.error().text};
  SimArguments arguments;
  arguments.add(&memory[0]);
  sim::Launch launch;
  launch.entry = "kernel";
  launch.block = {.x = 32};
  launch.sharedBytes = 4096;
  launch.params = arguments.bytes;
  launch.seed = seed;
  launch.checks = checks;
  const auto base = reinterpret_cast<uint64_t>(&memory[0]);
  launch.buffers = {{"data", 0, base, base, base + bytes, 4, true}};
  auto done = sim::run(**module, launch);
  return done ? Checked() : Checked{done.error().code, done.error().text};
}

TEST(SimChecks, words) {
  EXPECT_EQ(sim::checksOf("bounds,race"), artifact::Bounds | artifact::Race);
  EXPECT_EQ(sim::checksOf(""), 0u);
  EXPECT_FALSE(sim::checksOf("bounds,bond"));
}

/// The pointer passes through a choice, a shuffle and two registers of 32 bits.
TEST(SimChecks, boundsFollowPointers) {
  const std::string body = R"(.reg .pred %p<2>; .reg .b32 %r<6>; .reg .b64 %rd<6>;
    ld.param.u64 %rd1, [data]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 128; add.u64 %rd3, %rd1, %rd2;
    setp.eq.u32 %p1, %r1, 31; selp.b64 %rd4, %rd1, %rd3, %p1;
    mov.b64 {%r2, %r3}, %rd4; shfl.sync.idx.b32 %r2, %r2, %r1, 31, -1; mov.b64 %rd5, {%r2, %r3};
    ld.global.u32 %r4, [%rd5];
    ret;)";
  EXPECT_EQ(check(body, artifact::Bounds, 3844).text, "");
  const Checked report = check(body, artifact::Bounds, 3840);
  EXPECT_EQ(report.code, "sanitize-bounds");
  EXPECT_NE(report.text.find("element 960 of `data`, at byte 3840, is read; `data` has 960 elements, 3840 bytes"),
            std::string::npos)
      << report.text;
  EXPECT_NE(report.text.find("warp 0, lane 30"), std::string::npos) << report.text;
}

/// A vector that is partly outside, and a bulk copy.
TEST(SimChecks, boundsOfWholeAccesses) {
  const std::string load = ".reg .b32 %r<6>; .reg .b64 %rd<2>; ld.param.u64 %rd1, [data];\n"
                           "ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1+16]; ret;";
  EXPECT_EQ(check(load, artifact::Bounds, 32).text, "");
  EXPECT_NE(check(load, artifact::Bounds, 28).text.find("element 7 of `data`, at byte 28"), std::string::npos);
  const std::string copy = ".reg .b64 %rd<2>; ld.param.u64 %rd1, [data];\n"
                           "cp.async.bulk.global.shared::cta.bulk_group [%rd1], [0], 64; ret;";
  EXPECT_EQ(check(copy, artifact::Bounds, 64).text, "");
  EXPECT_NE(check(copy, artifact::Bounds, 48).text.find("is written"), std::string::npos);
}

/// The report of a kernel that multiplies matrices and stores one of the results %r8 to %r11. %r2 is undefined in lanes
/// 16 to 31, %r12 in all lanes, %r3 to %r7 are 0.
static std::string productReport(const std::string &instruction, const std::string &result, bool storesAll = true) {
  const std::string body = R"(.reg .pred %p<2>; .reg .b32 %r<16>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [data]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2;
    setp.lt.u32 %p1, %r1, 16; mov.u32 %r3, 0; mov.u32 %r4, 0; mov.u32 %r5, 0; mov.u32 %r6, 0; mov.u32 %r7, 0;
    @%p1 mov.u32 %r2, 0;
    )" + instruction + (storesAll ? "" : " @%p1 ") +
                           "st.global.u32 [%rd1], " + result + "; ret;";
  return check(body, artifact::Uninit).text;
}

/// Rows 4 to 7 of the left matrix are undefined; a lane has the row lane / 4 of the result.
TEST(SimChecks, undefinedRowsOfMatrices) {
  for (const char *instruction :
       {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%r8, %r9, %r10, %r11}, {%r2, %r3, %r2, %r3}, {%r4, %r5}, "
        "{%r6, %r6, %r7, %r7};",
        "mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32 {%r8, %r9, %r10, %r11}, {%r2, %r3, %r2, %r3}, {%r4, %r5}, "
        "{%r6, %r6, %r7, %r7};",
        "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%r8, %r9, %r10, %r11}, {%r2, %r3, %r2, %r3}, "
        "{%r4, %r5, %r4, %r5}, {%r6, %r6, %r7, %r7}, %r3, 0;",
        "mma.sp.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32 {%r8, %r9, %r10, %r11}, {%r2, %r3, %r2, %r3}, "
        "{%r4, %r5, %r4, %r5}, {%r6, %r6, %r7, %r7}, %r3, 1;"}) {
    EXPECT_EQ(productReport(instruction, "%r8", /*storesAll=*/false), "") << instruction;
    EXPECT_EQ(productReport(instruction, "%r10"), "") << instruction; // rows 8 to 15
    const std::string report = productReport(instruction, "%r8");
    EXPECT_NE(report.find("a register is read that nobody has written"), std::string::npos) << instruction << report;
    EXPECT_NE(report.find("lane 16"), std::string::npos) << instruction << report;
  }
}

/// Of each four lanes only those that the selector names give metadata; a word is for two rows.
TEST(SimChecks, undefinedMetadata) {
  const auto report = [](const std::string &selector, const std::string &setup, const std::string &result) {
    return productReport(setup +
                             "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%r8, %r9, %r10, %r11}, "
                             "{%r3, %r3, %r3, %r3}, {%r4, %r5, %r4, %r5}, {%r6, %r6, %r7, %r7}, %r12, " +
                             selector + ";",
                         result);
  };
  const std::string inFirstTwo = "and.b32 %r13, %r1, 2; setp.eq.u32 %p0, %r13, 0; @%p0 mov.u32 %r12, 0; ";
  for (const char *result : {"%r8", "%r11"}) {
    EXPECT_EQ(report("0", inFirstTwo, result), "");
    EXPECT_NE(report("1", inFirstTwo, result).find("nobody has written"), std::string::npos);
    EXPECT_NE(report("0", "mov.u32 %r12, %r2; ", result).find("lane 16"), std::string::npos);
  }
}

/// An undefined accumulator, and a column of the right matrix: the lanes of the results that they reach.
TEST(SimChecks, undefinedColumnsOfMatrices) {
  const auto product = [](const std::string &right, const std::string &sums) {
    return "mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%r8, %r9, %r10, %r11}, {%r3, %r3, %r3, %r3}, {" +
           right + "}, {" + sums + "}, %r3, 0; ";
  };
  // Columns 4 to 7: two lanes of four.
  EXPECT_NE(productReport(product("%r4, %r2, %r4, %r5", "%r6, %r6, %r7, %r7"), "%r8").find("lane 2"),
            std::string::npos);
  EXPECT_EQ(productReport(product("%r4, %r5, %r4, %r5", "%r6, %r12, %r7, %r7"), "%r8"), "");
  EXPECT_NE(productReport(product("%r4, %r5, %r4, %r5", "%r6, %r12, %r7, %r7"), "%r9").find("lane 0"),
            std::string::npos);
}

/// With late completion cp.async has not written what is read without a wait.
TEST(SimChecks, unwrittenBeforeTheWait) {
  const std::string body = R"(.reg .b32 %r<4>; .reg .b64 %rd<4>;
    ld.param.u64 %rd1, [data]; mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 16; add.u64 %rd1, %rd1, %rd2;
    cvt.u32.u64 %r2, %rd2;
    cp.async.cg.shared.global [%r2], [%rd1], 16;
    WAIT
    ld.shared.u32 %r3, [%r2+4];
    st.global.u32 [%rd1], %r3;
    ret;)";
  const auto with = [&](const std::string &wait, uint64_t seed) {
    std::string text = body;
    return check(text.replace(text.find("WAIT"), 4, wait), artifact::Uninit, 4096, seed).text;
  };
  EXPECT_EQ(with("cp.async.wait_all;", 0), "");
  EXPECT_EQ(with("", 1), "");
  const std::string report = with("", 0);
  EXPECT_NE(report.find("byte 4 of shared memory is read, and nobody has written it"), std::string::npos) << report;
}

TEST(SimChecks, undefinedAddressesAndPredicates) {
  const auto with = [&](const std::string &use) {
    return check(".reg .pred %p<3>; .reg .b32 %r<4>; .reg .b64 %rd<4>; ld.param.u64 %rd1, [data];\n" + use + "\nret;",
                 artifact::Uninit)
        .text;
  };
  EXPECT_NE(with("ld.shared.u32 %r1, [%r2];").find("used as an address"), std::string::npos);
  EXPECT_NE(with("@%p1 st.global.u32 [%rd1], 0;").find("used as a predicate"), std::string::npos);
  EXPECT_EQ(with("setp.eq.u32 %p1, 0, 1; and.pred %p1, %p1, %p2; @%p1 st.global.u32 [%rd1], 0;"), "");
  EXPECT_EQ(with("st.shared.u32 [0], %r1;"), "");
}
