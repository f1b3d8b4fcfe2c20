// Forms of PTX that compilers emit are decoded.
// SPDX-License-Identifier: MIT
#include "test/unit/runtime/SimKernel.h"

using namespace nereid;

static constexpr char kRegisters[] = R"(
    .reg .pred %p<4>; .reg .b16 %h<9>; .reg .b32 %r<20>; .reg .f32 %f<9>; .reg .f64 %d<9>; .reg .b64 %rd<9>;
)";

static constexpr const char *kForms[] = {
    "@%p1 ld.global.L1::evict_last.L2::cache_hint.v4.b32 { %r1, %r2, %r3, %r4 }, [ %rd1 + 0 ], %rd2;",
    "ld.global.nc.L1::no_allocate.L2::128B.v2.b64 {%rd1, %rd2}, [%rd3+-16];",
    "ld.relaxed.gpu.global.u32 %r1, [%rd1];",
    "ld.acquire.sys.global.b64 %rd1, [%rd1];",
    "ld.volatile.shared.s8 %r1, [%r2];",
    "st.release.gpu.global.b32 [%rd1], %r1;",
    "st.global.wb.L2::cache_hint.b16 [%rd1], %h1, %rd2;",
    "createpolicy.fractional.L2::evict_first.b64 %rd1, 1.0;",
    "cp.async.ca.shared.global [ %r1 + 0 ], [ %rd1 + 0 ], 0x4, %r2;",
    "cp.async.cg.shared.global.L2::128B [%r1], [%rd1], 16;",
    "atom.global.gpu.acq_rel.cas.b32 %r1, [ %rd1 + 0 ], %r2, %r3;",
    "atom.global.gpu.relaxed.add.noftz.f16x2 %r1, [%rd1], %r2;",
    "red.relaxed.gpu.global.add.v4.f32 [%rd1], {%f1, %f2, %f3, %f4};",
    "atom.shared.gpu.acq_rel.max.u64 %rd1, [%r1], %rd2;",
    "fence.acq_rel.gpu; membar.gl; fence.mbarrier_init.release.cluster;",
    "fence.proxy.tensormap::generic.acquire.gpu [%rd1], 128;",
    "elect.sync _|%p1, 0xffffffff;",
    "bar.sync 1, 128; bar.arrive 2, 256; barrier.sync.aligned 0;",
    "griddepcontrol.wait; griddepcontrol.launch_dependents; setmaxnreg.dec.sync.aligned.u32 24; nanosleep.u32 20;",
    "mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r1+8], %r2;",
    "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r1], 1;",
    "mbarrier.arrive.shared.b64 %rd1, [%r1]; mbarrier.test_wait.shared.b64 %p1, [%r1], %rd1;",
    "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster.L2::cache_hint "
    "[%r1], [%rd1, {%r2, %r3}], [%r4], %h1, %rd2;",
    "cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%rd1, {%r2, %r3}], [%r1];",
    "cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.tile.bulk_group [%rd1, {%r2}], [%r1];",
    "cp.async.bulk.commit_group; cp.async.bulk.wait_group.read 0;",
    "tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%rd1], 0, %rd2;",
    "tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%rd1], 3;",
    "wgmma.mma_async.sync.aligned.m64n8k8.f32.tf32.tf32 {%f1, %f2, %f3, %f4}, %rd1, %rd2, %p1, 1, -1;",
    "wgmma.mma_async.sync.aligned.m64n8k32.f32.e4m3.e5m2 {%f1, %f2, %f3, %f4}, {%r1, %r2, %r3, %r4}, %rd2, 1, 1, 1;",
    "wgmma.mma_async.sync.aligned.m64n8k16.f16.f16.f16 {%r1, %r2}, %rd1, %rd2, %p1, 1, 1, 0, 1;",
    "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f1,%f2,%f3,%f4}, {%r1,%r2,%r3,%r4}, {%r5,%r6}, "
    "{%f1,%f2,%f3,%f4};",
    "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.u8.s32 {%r1,%r2,%r3,%r4}, {%r1,%r2,%r3,%r4}, {%r5,%r6}, "
    "{%r1,%r2,%r3,%r4};",
    "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%d1, %d2}, {%d3}, {%d4}, {%d1, %d2};",
    "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%r1,%r2}, {%r1,%r2,%r3,%r4}, {%r5,%r6}, {%r1,%r2};",
    "{ .reg .b32 tmp; mov.b64 {tmp, %r1}, %rd1; }",
    "mov.f32 %f1, 0fFF800000; mov.b16 %h1, 0x3C00U; mov.f64 %d1, 1.5; mov.u32 %r1, WARP_SZ;",
    "cvt.rn.relu.bf16x2.f32 %r1, %f1, %f2; cvt.rna.tf32.f32 %r1, %f1; cvt.rzi.f32.f32 %f1, %f2;",
    "cvt.f32.bf16 %f1, %h1; cvt.rn.bf16.f32 %h1, %f1; cvt.rni.sat.s8.f32 %r1, %f1;",
    "tanh.approx.f32 %f1, %f2; sin.approx.ftz.f32 %f1, %f2; div.full.ftz.f32 %f1, %f2, %f3;",
    "ex2.approx.ftz.bf16x2 %r1, %r2; max.NaN.bf16x2 %r1, %r2, %r3; fma.rn.relu.f16x2 %r1, %r2, %r3, %r4;",
    "setp.eq.and.s32 %p1|%p2, %r1, 0, !%p3; selp.f64 %d1, %d2, 0d3FF0000000000000, %p1;",
    "mov.u32 %r1, %clock; mov.u64 %rd1, %globaltimer; mov.u32 %r2, %smid; mov.u32 %r3, %nclusterid.x;",
    "match.all.sync.b32 %r1|%p1, %r2, -1; vote.sync.any.pred %p1, !%p2, -1; activemask.b32 %r1;",
    "isspacep.shared %p1, %rd1; cvta.to.shared.u64 %rd1, %rd2; getctarank.shared::cluster.u32 %r1, %r2;",
    "dp4a.s32.u32 %r1, %r2, %r3, %r4; bfind.shiftamt.u32 %r1, %r2; brev.b64 %rd1, %rd2; mul24.lo.u32 %r1, %r2, %r3;",
    "prefetch.global.L2 [%rd1]; discard.global.L2 [%rd1], 128; .pragma \"nounroll\";",
};

TEST(SimDecode, formsOfOtherCompilers) {
  for (const char *form : kForms) {
    auto module = sim::parse(simKernel("", std::string(kRegisters) + form));
    EXPECT_TRUE(module) << module.error().text;
  }
}

TEST(SimDecode, debugSectionsAndAttributes) {
  const char *text = R"(
.version 8.7
.target sm_90a, debug
.address_size 64
.extern .func (.param .b32 result) vprintf (.param .b64 a, .param .b64 b);
.extern .shared .align 16 .b8 global_smem[];
.global .align 1 .b8 text[3] = {37, 100, 0};
.global .align 4 .u32 table[2] = {1, 0xffffffff};
.visible .entry kernel(
	.param .u64 .ptr .global .align 1 kernel_param_0,
	.param .align 64 .b8 kernel_param_1[128]
)
.maxntid 128, 1, 1
.minnctapersm 1
{
	.loc	1 19 0, function_name $L__info_string0, inlined_at 1 2 3
$L__func_begin0:
	ret;
$L__tmp0:
}
	.file	1 "/a/b.py"
	.section	.debug_abbrev
	{
.b8 1   // Abbreviation Code
.b8 17
	}
)";
  auto module = sim::parse(text);
  EXPECT_TRUE(module) << module.error().text;
}

TEST(SimDecode, variablesHaveTypes) {
  for (const char *variable : {".param .global .ptr .align 1 x", ".param .func .ptr .global x", ".param .u64x x",
                               ".param .align 8 x", ".param x", ".param .v4 x[4]"}) {
    auto module =
        sim::parse(".version 8.0\n.target sm_80\n.visible .entry kernel(" + std::string(variable) + ") {ret;}");
    ASSERT_FALSE(module) << variable;
    EXPECT_EQ(module.error().text, "line 3 of the PTX: `x` has no type that is known");
  }
  auto shared = sim::parse(".version 8.0\n.target sm_80\n.shared .align 16 x[64];\n.visible .entry kernel() {ret;}");
  EXPECT_FALSE(shared);
}

TEST(SimDecode, whatIsNotKnownIsAnError) {
  for (const char *form :
       {"ld.global.b32 %r1, [%rd99];", "add.wobble.s32 %r1, %r2, %r3;", "bra nowhere;", "add.s32 %r1, %r2;",
        "mov.b64 %r1, %rd1;", "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1}, %rd1, %rd2, 1, 1, 1, 0, 0;",
        "tcgen05.alloc.b32 [%r1], 32;", "add.s32 %r1, %r2, %r3", "ld.global.b32 %r1, [%rd1;"}) {
    auto module = sim::parse(simKernel("", std::string(kRegisters) + form));
    ASSERT_FALSE(module) << form;
    EXPECT_EQ(module.error().code, "sim-ptx");
    EXPECT_NE(module.error().text.find("line "), std::string::npos) << module.error().text;
  }
}
