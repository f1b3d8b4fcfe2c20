// Matrix instructions of the simulator against sums of products.
// SPDX-License-Identifier: MIT
#include "test/unit/runtime/SimKernel.h"

using namespace nereid;

static constexpr char kShared[] = ".extern .shared .align 1024 .b8 memory[];";

/// Small integers, which every format holds.
static int entry(uint32_t row, uint32_t column) { return int((row * 7 + column * 3) % 5) - 2; }

/// ldmatrix, mma and stmatrix: C = A B with A (16 x 16) and B (16 x 8) in row-major order.
TEST(SimMatrix, multipliesHalves) {
  std::vector<_Float16> a(256), b(128);
  std::vector<uint16_t> out(128);
  for (uint32_t row = 0; row < 16; ++row)
    for (uint32_t column = 0; column < 16; ++column) {
      a[row * 16 + column] = _Float16(entry(row, column));
      if (column < 8)
        b[row * 8 + column] = _Float16(entry(column, row + 1));
    }
  const std::string ptx = simKernel(".param .u64 a, .param .u64 b, .param .u64 out", R"(
    .reg .b32 %r<20>; .reg .f32 %f<4>; .reg .b64 %rd<4>; .reg .b32 %x<4>;
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, memory;
    ld.param.u64 %rd0, [a];
    mad.wide.u32 %rd0, %r0, 16, %rd0;
    ld.global.v4.b32 {%x0, %x1, %x2, %x3}, [%rd0];
    mad.lo.u32 %r2, %r0, 16, %r1;
    st.shared.v4.b32 [%r2], {%x0, %x1, %x2, %x3};
    ld.param.u64 %rd0, [b];
    mad.wide.u32 %rd0, %r0, 8, %rd0;
    ld.global.v2.b32 {%x0, %x1}, [%rd0];
    mad.lo.u32 %r2, %r0, 8, %r1;
    st.shared.v2.b32 [%r2+512], {%x0, %x1};
    bar.warp.sync -1;
    // Rows 0-15 of columns 0-7, then of columns 8-15.
    and.b32 %r3, %r0, 15;
    shr.u32 %r4, %r0, 4;
    mad.lo.u32 %r5, %r3, 32, %r1;
    mad.lo.u32 %r5, %r4, 16, %r5;
    ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r6, %r7, %r8, %r9}, [%r5];
    mad.lo.u32 %r5, %r3, 16, %r1;
    ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%r10, %r11}, [%r5+512];
    mov.f32 %f0, 0f00000000;
    mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r6, %r7, %r8, %r9}, {%r10, %r11},
        {%f0, %f0, %f0, %f0};
    cvt.rn.f16x2.f32 %r12, %f1, %f0;
    cvt.rn.f16x2.f32 %r13, %f3, %f2;
    stmatrix.sync.aligned.m8n8.x2.shared.b16 [%r5+1024], {%r12, %r13};
    bar.warp.sync -1;
    mad.lo.u32 %r2, %r0, 8, %r1;
    ld.shared.v2.b32 {%x0, %x1}, [%r2+1024];
    ld.param.u64 %rd0, [out];
    mad.wide.u32 %rd0, %r0, 8, %rd0;
    st.global.v2.b32 [%rd0], {%x0, %x1};)",
                                    kShared);
  SimArguments arguments;
  arguments.add(a.data()).add(b.data()).add(out.data());
  auto counters = runSim(ptx, arguments, {}, {.x = 32}, 0, 0, 4096);
  ASSERT_TRUE(counters) << counters.error().text;
  for (uint32_t row = 0; row < 16; ++row)
    for (uint32_t column = 0; column < 8; ++column) {
      int sum = 0;
      for (uint32_t k = 0; k < 16; ++k)
        sum += entry(row, k) * entry(column, k + 1);
      _Float16 value;
      std::memcpy(&value, &out[row * 8 + column], 2);
      ASSERT_EQ(float(value), float(sum)) << row << ", " << column;
    }
}

/// wgmma of 64 x 8 x 32 bytes: A and B K-major without swizzle, in boxes of 8 rows and 16 bytes.
TEST(SimMatrix, multipliesBytesByWarpGroups) {
  std::vector<int8_t> memory(64 * 32 + 8 * 32);
  for (uint32_t row = 0; row < 72; ++row)
    for (uint32_t k = 0; k < 32; ++k)
      memory[row / 8 * 256 + k / 16 * 128 + row % 8 * 16 + k % 16] = int8_t(entry(row, k) * 20);
  std::vector<int32_t> out(64 * 8, -1);
  // Leading offset 128, stride 256 bytes.
  const std::string ptx = simKernel(".param .u64 in, .param .u64 out", R"(
    .reg .b32 %r<20>; .reg .b64 %rd<6>; .reg .pred %p<2>; .reg .b32 %x<4>;
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, memory;
    ld.param.u64 %rd0, [in];
    mad.wide.u32 %rd0, %r0, 18, %rd0;
    mad.lo.u32 %r2, %r0, 18, %r1;
    mov.u32 %r3, 0;
copy:
    ld.global.b16 %x0, [%rd0];
    st.shared.b16 [%r2], %x0;
    add.u64 %rd0, %rd0, 2;
    add.u32 %r2, %r2, 2;
    add.u32 %r3, %r3, 1;
    setp.lt.u32 %p0, %r3, 9;
    @%p0 bra copy;
    fence.proxy.async;
    bar.sync 0;
    shr.u32 %r4, %r1, 4;
    cvt.u64.u32 %rd1, %r4;
    or.b64 %rd1, %rd1, 0x0000001000080000;
    add.u64 %rd2, %rd1, 128;
    setp.ne.u32 %p1, 0, 0;
    wgmma.fence.sync.aligned;
    wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {%r5, %r6, %r7, %r8}, %rd1, %rd2, %p1;
    wgmma.commit_group.sync.aligned;
    wgmma.wait_group.sync.aligned 0;
    ld.param.u64 %rd3, [out];
    // Row of the lane and its pair of columns.
    shr.u32 %r9, %r0, 5;
    bfe.u32 %r10, %r0, 2, 3;
    mad.lo.u32 %r9, %r9, 16, %r10;
    and.b32 %r11, %r0, 3;
    mul.lo.u32 %r9, %r9, 8;
    mad.lo.u32 %r9, %r11, 2, %r9;
    mad.wide.u32 %rd3, %r9, 4, %rd3;
    st.global.v2.b32 [%rd3], {%r5, %r6};
    st.global.v2.b32 [%rd3+256], {%r7, %r8};)",
                                    kShared);
  SimArguments arguments;
  arguments.add(memory.data()).add(out.data());
  for (uint64_t seed : {0, 1}) {
    auto counters = runSim(ptx, arguments, {}, {.x = 128}, seed, 0, 4096);
    ASSERT_TRUE(counters) << counters.error().text;
    for (uint32_t row = 0; row < 64; ++row)
      for (uint32_t column = 0; column < 8; ++column) {
        int sum = 0;
        for (uint32_t k = 0; k < 32; ++k)
          sum += entry(row, k) * entry(64 + column, k) * 400;
        ASSERT_EQ(out[row * 8 + column], sum) << row << ", " << column;
      }
  }
}
