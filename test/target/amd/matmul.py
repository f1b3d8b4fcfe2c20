# What a matmul becomes on each generation: matrix instructions, vectors of 16 bytes, no scratch, registers, LDS.
# SPDX-License-Identifier: MIT
# DEFINE: %{compile} = nereid compile %s:matmul --num-warps 4 --emit amdgcn -o -
# RUN: %{compile} --signature '*fp16:16,*fp16:16,*fp16:16,i32:16,128,128,64' --target hip:gfx90a | FileCheck %s --check-prefixes=CDNA,F16
# RUN: %{compile} --signature '*fp16:16,*fp16:16,*fp16:16,i32:16,128,128,64' --target hip:gfx942 | FileCheck %s --check-prefixes=CDNA,F16
# RUN: %{compile} --signature '*fp16:16,*fp16:16,*fp16:16,i32:16,128,128,64' --target hip:gfx950 | FileCheck %s --check-prefixes=CDNA,WIDE
# RUN: %{compile} --signature '*bf16:16,*bf16:16,*bf16:16,i32:16,128,128,64' --target hip:gfx942 | FileCheck %s --check-prefixes=CDNA,BF16
# RUN: %{compile} --signature '*fp8e4b8:16,*fp8e5b16:16,*fp32:16,i32:16,128,128,64' --target hip:gfx942 | FileCheck %s --check-prefixes=FNUZ
# RUN: %{compile} --signature '*fp8e4nv:16,*fp8e4nv:16,*fp32:16,i32:16,128,128,64' --target hip:gfx942 | FileCheck %s --check-prefixes=F16
# RUN: %{compile} --signature '*fp8e4nv:16,*fp8e5:16,*fp32:16,i32:16,128,128,64' --target hip:gfx950 | FileCheck %s --check-prefixes=OCP
# RUN: %{compile} --signature '*i8:16,*i8:16,*i32:16,i32:16,128,128,64' --target hip:gfx90a | FileCheck %s --check-prefixes=INT8
# RUN: %{compile} --signature '*i8:16,*i8:16,*i32:16,i32:16,128,128,64' --target hip:gfx942 | FileCheck %s --check-prefixes=INT8WIDE
# RUN: %{compile} --signature '*fp32:16,*fp32:16,*fp32:16,i32:16,64,64,32' --target hip:gfx942 | FileCheck %s --check-prefixes=F32
# RUN: %{compile} --signature '*fp64:16,*fp64:16,*fp64:16,i32:16,32,32,16' --target hip:gfx90a | FileCheck %s --check-prefixes=F64
# RUN: %{compile} --signature '*fp16:16,*fp16:16,*fp16:16,i32:16,64,64,32' --target hip:gfx1100 | FileCheck %s --check-prefixes=RDNA
# RUN: %{compile} --signature '*i8:16,*i8:16,*i32:16,i32:16,64,64,32' --target hip:gfx1100 | FileCheck %s --check-prefixes=RDNAINT
# RUN: %{compile} --signature '*fp8e4nv:16,*fp8e4nv:16,*fp16:16,i32:16,64,64,32' --target hip:gfx1200 | FileCheck %s --check-prefixes=RDNA8
import triton
import triton.language as tl


@triton.jit
def matmul(a, b, o, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    d = tl.arange(0, K)
    dtype: tl.constexpr = tl.int32 if a.dtype.element_ty == tl.int8 else tl.float64 if a.dtype.element_ty == tl.float64 else tl.float32
    sums = tl.zeros((M, N), dtype=dtype)
    for i in range(0, k, K):
        x = tl.load(a + m[:, None] * k + (i + d)[None, :])
        y = tl.load(b + (i + d)[:, None] * N + n[None, :])
        sums = tl.dot(x, y, sums)
    tl.store(o + m[:, None] * N + n[None, :], sums.to(o.dtype.element_ty))


# Operands come from and go to memory in vectors, also the one whose rows are not along K.
# CDNA-NOT: ds_read_u16
# CDNA-NOT: scratch_
# CDNA-DAG: global_load_dwordx4
# CDNA-DAG: ds_{{(read|load)}}_b128
# F16: v_mfma_f32_32x32x8{{_?}}f16
# WIDE: v_mfma_f32_32x32x16_f16
# BF16: v_mfma_f32_32x32x8_bf16
# FNUZ: v_mfma_f32_32x32x16_bf8_fp8
# OCP: v_mfma_f32_32x32x64_f8f6f4
# INT8: v_mfma_i32_32x32x8i8
# INT8WIDE: v_mfma_i32_32x32x16_i8
# F32: v_mfma_f32_32x32x2{{_?}}f32
# F64: v_mfma_f64_16x16x4
# RDNA: v_wmma_f32_16x16x16_f16
# RDNAINT: v_wmma_i32_16x16x16_iu8
# RDNA8: v_wmma_f32_16x16x16_fp8_fp8
# CDNA: .group_segment_fixed_size: 0
# CDNA: .private_segment_fixed_size: 0
# CDNA: .vgpr_spill_count: 0
# RDNA: .private_segment_fixed_size: 0
# RDNA: .vgpr_spill_count: 0
