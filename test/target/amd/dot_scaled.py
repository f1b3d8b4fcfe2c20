# Dots of microscaling formats: scaled matrix instructions on gfx950, 16-bit operands elsewhere and for other formats.
# SPDX-License-Identifier: MIT
# DEFINE: %{compile} = nereid compile %s:scaled --num-warps 4 --emit amdgcn -o -
# RUN: %{compile} --signature '*u8:16,*u8:16,*u8:16,*u8:16,*fp32:16,i32:16,128,128,256,"e4m3","e5m2"' --target hip:gfx950 | FileCheck %s --check-prefixes=NATIVE,FP8
# RUN: %{compile} --signature '*u8:16,*u8:16,*u8:16,*u8:16,*fp32:16,i32:16,128,128,256,"e2m1","e2m1"' --target hip:gfx950 | FileCheck %s --check-prefixes=NATIVE,FP4
# RUN: %{compile} --signature '*u8:16,*u8:16,*u8:16,*u8:16,*fp32:16,i32:16,32,16,128,"e2m1","e4m3"' --target hip:gfx950 | FileCheck %s --check-prefixes=NATIVE,MIXED
# RUN: %{compile} --signature '*u8:16,*u8:16,*u8:16,*u8:16,*fp32:16,i32:16,64,64,128,"e4m3","e5m2"' --target hip:gfx942 | FileCheck %s --check-prefix=HALVES
# RUN: nereid compile %s:plain --num-warps 4 --signature '*fp8e4nv:16,*fp8e5:16,*fp32:16,64,64,128' --target hip:gfx950 --emit amdgcn -o - | FileCheck %s --check-prefix=PLAIN
# RUN: nereid compile %s:plain --num-warps 4 --signature '*fp8e4nv:16,*fp8e5:16,*fp32:16,64,64,32' --target hip:gfx950 --emit amdgcn -o - | FileCheck %s --check-prefix=SHALLOW
# RUN: %{compile} --signature '*u8:16,*u8:16,*u8:16,*u8:16,*fp32:16,i32:16,128,128,256,"e4m3","e4m3"' --target hip:gfx950 --matrix-instr-nonkdim 16 | FileCheck %s --check-prefix=SIXTEEN
# DEFINE: %{once} = nereid compile %s:once --num-warps 4 --target hip:gfx1100
# RUN: %{once} --signature '*u8:16,*u8:16,*u8:16,*u8:16,*fp32:16,128,32,256' --emit amdgcn -o - | FileCheck %s --check-prefix=DECODED
# RUN: %{once} --signature '*u8:16,*u8:16,*u8:16,*u8:16,*fp32:16,4,64,512' --emit amdgcn -o - | FileCheck %s --check-prefix=DECODED
# RUN: %{once} --signature '*u8:16,*u8:16,*u8:16,*u8:16,*fp32:16,4,64,512' --emit llir -o - | FileCheck %s --check-prefix=STEPS
import triton
import triton.language as tl


@triton.jit
def scaled(a, s, b, t, o, k, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, A: tl.constexpr, B: tl.constexpr):
    A_PACK: tl.constexpr = 2 if A == "e2m1" else 1
    B_PACK: tl.constexpr = 2 if B == "e2m1" else 1
    m = tl.arange(0, M)[:, None]
    n = tl.arange(0, N)
    groups = tl.arange(0, K // 32)[None, :]
    sums = tl.zeros((M, N), tl.float32)
    for i in range(0, k, K):
        x = tl.load(a + m * (k // A_PACK) + (i // A_PACK + tl.arange(0, K // A_PACK))[None, :])
        y = tl.load(b + n[None, :] * (k // B_PACK) + (i // B_PACK + tl.arange(0, K // B_PACK))[:, None])
        x_scale = tl.load(s + m * (k // 32) + i // 32 + groups)
        y_scale = tl.load(t + n[:, None] * (k // 32) + i // 32 + groups)
        sums = tl.dot_scaled(x, x_scale, A, y, y_scale, B, sums)
    tl.store(o + m * N + n[None, :], sums)


@triton.jit
def once(a, s, b, t, o, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m = tl.arange(0, M)[:, None]
    n = tl.arange(0, N)
    groups = tl.arange(0, K // 32)[None, :]
    x = tl.load(a + m * (K // 2) + tl.arange(0, K // 2)[None, :])
    y = tl.load(b + tl.arange(0, K // 2)[:, None] * N + n[None, :])
    x_scale = tl.load(s + m * (K // 32) + groups)
    y_scale = tl.load(t + n[:, None] * (K // 32) + groups)
    tl.store(o + m * N + n[None, :], tl.dot_scaled(x, x_scale, "e2m1", y, y_scale, "e2m1"))


@triton.jit
def plain(a, b, o, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m = tl.arange(0, M)[:, None]
    n = tl.arange(0, N)[None, :]
    k = tl.arange(0, K)
    x = tl.load(a + m * K + k[None, :])
    y = tl.load(b + n * K + k[:, None])
    tl.store(o + m * N + n, tl.dot(x, y))


# Operands are read as vectors, and scales of several instructions come in one register.
# NATIVE-NOT: v_mfma_f32_{{.*}}bf16
# FP8: ds_{{(read|load)}}_b128
# FP8: v_mfma_scale_f32_32x32x64_f8f6f4 {{.*}}cbsz:1
# FP4: v_mfma_scale_f32_32x32x64_f8f6f4 {{.*}}op_sel{{.*}}cbsz:4 blgp:4
# MIXED: v_mfma_scale_f32_16x16x128_f8f6f4 {{.*}}blgp:4
# NATIVE: .vgpr_spill_count: 0
# HALVES: v_mfma_f32_32x32x8_bf16
# HALVES-NOT: v_mfma_scale
# PLAIN: v_mfma_f32_32x32x64_f8f6f4 {{.*}}cbsz:1
# SHALLOW: v_mfma_f32_32x32x16_bf8_fp8
# SIXTEEN: v_mfma_scale_f32_16x16x128_f8f6f4
# The decoded operands take two to four times the registers of a lane; each step along k decodes what it multiplies.
# DECODED-COUNT-32: v_wmma_f32_16x16x16_bf16
# DECODED: .vgpr_spill_count: 0
# STEPS-LABEL: @once
# STEPS-NOT: fmul {{.*}}bfloat
# STEPS-COUNT-3: call void @llvm.amdgcn.sched.barrier
# STEPS-COUNT-64: fmul {{.*}}bfloat
# STEPS: call {{.*}}@llvm.amdgcn.wmma
