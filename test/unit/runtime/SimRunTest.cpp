// Runs small PTX kernels on the simulated GPU.
// SPDX-License-Identifier: MIT
#include "test/unit/runtime/SimKernel.h"

using namespace nereid;

TEST(SimRun, addsVectors) {
  const std::string ptx = simKernel(".param .u64 x, .param .u64 y, .param .u64 out, .param .u32 n", R"(
    .reg .pred %p<2>; .reg .b32 %r<6>; .reg .f32 %f<4>; .reg .b64 %rd<8>;
    ld.param.u64 %rd1, [x];
    ld.param.u64 %rd2, [y];
    ld.param.u64 %rd3, [out];
    ld.param.u32 %r1, [n];
    mov.u32 %r2, %ctaid.x;
    mov.u32 %r3, %tid.x;
    mad.lo.s32 %r4, %r2, 64, %r3;
    setp.ge.s32 %p1, %r4, %r1;
    @%p1 bra done;
    mul.wide.s32 %rd4, %r4, 4;
    add.s64 %rd5, %rd1, %rd4;
    add.s64 %rd6, %rd2, %rd4;
    add.s64 %rd7, %rd3, %rd4;
    ld.global.f32 %f1, [%rd5];
    ld.global.f32 %f2, [%rd6];
    add.rn.f32 %f3, %f1, %f2;
    st.global.f32 [%rd7], %f3;
done:
    ret;)");
  std::vector<float> x(1000), y(1000), out(1000, -1);
  for (size_t index = 0; index < x.size(); ++index)
    x[index] = float(index) / 3, y[index] = float(index) * 7;
  SimArguments arguments;
  arguments.add(x.data()).add(y.data()).add(out.data()).add(uint32_t(x.size() - 1));
  auto counters = runSim(ptx, arguments, {.x = 16}, {.x = 64});
  ASSERT_TRUE(counters) << counters.error().text;
  EXPECT_EQ(counters->threadInstructions, 1024 * 9u + 999 * 8 + 25);
  for (size_t index = 0; index + 1 < x.size(); ++index)
    ASSERT_EQ(out[index], x[index] + y[index]) << index;
  EXPECT_EQ(out.back(), -1);
}

TEST(SimRun, lanesMeetAfterABranch) {
  const std::string ptx = simKernel(".param .u64 out", R"(
    .reg .pred %p<3>; .reg .b32 %r<6>; .reg .b64 %rd<4>;
    mov.u32 %r1, %tid.x;
    and.b32 %r2, %r1, 3;
    mov.u32 %r3, 0;
loop:
    add.u32 %r3, %r3, 10;
    sub.u32 %r2, %r2, 1;
    setp.ge.s32 %p1, %r2, 0;
    @%p1 bra loop;
    shfl.sync.bfly.b32 %r4, %r3, 1, 31, -1;
    ld.param.u64 %rd1, [out];
    mul.wide.u32 %rd2, %r1, 4;
    add.u64 %rd1, %rd1, %rd2;
    st.global.u32 [%rd1], %r4;
    ret;)");
  std::vector<uint32_t> out(32);
  auto counters = runSim(ptx, SimArguments().add(out.data()), {}, {.x = 32});
  ASSERT_TRUE(counters) << counters.error().text;
  for (uint32_t lane = 0; lane < 32; ++lane)
    EXPECT_EQ(out[lane], 10 * ((lane ^ 1) % 4 + 1));
}

TEST(SimRun, callsFunctions) {
  const std::string function = R"(
.func (.param .b32 result) twice(.param .b32 value)
{
  .reg .b32 %r<3>; .reg .pred %p1;
  ld.param.b32 %r1, [value];
  setp.gt.s32 %p1, %r1, 5;
  @%p1 bra big;
  st.param.b32 [result], %r1;
  ret;
big:
  add.s32 %r2, %r1, %r1;
  st.param.b32 [result], %r2;
  ret;
})";
  const std::string ptx = simKernel(".param .u64 out", R"(
    .reg .b32 %r<3>; .reg .b64 %rd<3>;
    mov.u32 %r1, %tid.x;
    {
    .param .b32 value;
    st.param.b32 [value], %r1;
    .param .b32 result;
    call.uni (result), twice, (value);
    ld.param.b32 %r2, [result];
    }
    ld.param.u64 %rd1, [out];
    mad.wide.u32 %rd1, %r1, 4, %rd1;
    st.global.u32 [%rd1], %r2;
    ret;)",
                                    function);
  std::vector<uint32_t> out(32);
  auto counters = runSim(ptx, SimArguments().add(out.data()), {}, {.x = 32});
  ASSERT_TRUE(counters) << counters.error().text;
  for (uint32_t lane = 0; lane < 32; ++lane)
    EXPECT_EQ(out[lane], lane > 5 ? 2 * lane : lane);
}

TEST(SimRun, reportsErrorsWithTheirLine) {
  auto unknown = sim::parse(simKernel("", "  wobble.b32 %r1, %r2;"));
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, "sim-ptx");
  EXPECT_NE(unknown.error().text.find("wobble.b32 %r1, %r2;"), std::string::npos);
  auto fault = runSim(simKernel("", ".reg .b32 %r1; .reg .b64 %rd1;\n mov.b64 %rd1, 16;\n ld.global.b32 %r1, [%rd1];"),
                      {}, {}, {.x = 32});
  ASSERT_FALSE(fault);
  EXPECT_EQ(fault.error().code, "sim-fault");
  EXPECT_NE(fault.error().text.find("ld.global.b32 %r1, [%rd1];"), std::string::npos);
  auto loop = runSim(simKernel("", "again: bra again;"), {}, {}, {.x = 32}, 0, 10000);
  ASSERT_FALSE(loop);
  EXPECT_EQ(loop.error().code, "sim-limit");
  EXPECT_EQ(runSim(simKernel("", "trap;"), {}, {}, {.x = 32}).error().code, "sim-trap");
}
