# The buffer of a loop-carried tile is the accumulator; operands are copied once, rows that do not wrap as whole vectors.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s:matmul --target cpu:x86-64-v4 --signature '*fp16:16,*fp16:16,*fp32:16,i32:16,i32:16,i32:16,64,64,32' --emit plan -o - | FileCheck %s --check-prefix=MATMUL
# RUN: nereid compile %s:attention --target cpu:x86-64-v4 --signature '*fp32:16,*fp32:16,*fp32:16,*fp32:16,i32,64,32,16' --emit plan -o - | FileCheck %s --check-prefix=ATTENTION
# RUN: nereid compile %s:matmul --target cpu:x86-64-v4 --signature '*fp16:16,*fp16:16,*fp32:16,i32:16,i32:16,i32:16,64,64,32' --emit asm -o - | FileCheck %s --check-prefix=ASM
# RUN: nereid compile %s:matmul --target cpu:sapphirerapids --signature '*bf16:16,*bf16:16,*fp32:16,i32:16,i32:16,i32:16,64,64,32' --emit asm -o - | FileCheck %s --check-prefix=AMX
# RUN: nereid compile %s:matmul --target cpu:x86-64-v4 --signature '*fp32:16,*fp32:16,*fp32:16,i32:16,i32:16,i32:16,64,64,32' --emit plan -o - | FileCheck %s --check-prefix=INPLACE
# RUN: nereid compile %s:integers --target cpu:x86-64-v3 --signature '*i8,*i8,*i32' --emit asm -o - | FileCheck %s --check-prefix=V3
# RUN: nereid compile %s:integers --target cpu:x86-64-v4 --signature '*i8,*i8,*i32' --emit asm -o - | FileCheck %s --check-prefix=V4
# RUN: nereid compile %s:integers --target cpu:znver4 --signature '*i8,*i8,*i32' --emit asm -o - | FileCheck %s --check-prefix=VNNI
# RUN: nereid compile %s:integers --target cpu:alderlake --signature '*i8,*i8,*i32' --emit asm -o - | FileCheck %s --check-prefix=AVXVNNI
# RUN: nereid compile %s:bytes --target cpu:sapphirerapids --signature '*i8,*i8,*i32' --emit asm -o - | FileCheck %s --check-prefix=AMXBYTES
# RUN: nereid compile %s:matmul --target cpu:znver4 --signature '*bf16:16,*bf16:16,*fp32:16,i32:16,i32:16,i32:16,64,64,32' --emit plan,asm -o - | FileCheck %s --check-prefix=BF16
import triton
import triton.language as tl


@triton.jit
def matmul(a, b, c, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    i = (tl.program_id(0) * BM + tl.arange(0, BM)) % m
    j = (tl.program_id(1) * BN + tl.arange(0, BN)) % n
    depth = tl.arange(0, BK)
    a += i[:, None] * k + depth[None, :]
    b += depth[:, None] * n + j[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for _ in range(0, k, BK):
        acc = tl.dot(tl.load(a), tl.load(b), acc)
        a += BK
        b += BK * n
    tl.store(c + i[:, None] * n + j[None, :], acc)


# MATMUL: b0 [64x64] f32 carried{{$}}
# MATMUL-NOT: carried
# MATMUL: scf.for carries b0{{$}}
# MATMUL: load{{.+}} where no remainder wraps
# MATMUL: dot [64x32] by [32x64] of b{{[0-9]+}} and b{{[0-9]+}} added to b0
# MATMUL-NOT: assign b0
# MATMUL: store

# Rows of an f32 left operand stay in memory; widened and right operands are copied.
# MATMUL-NOT: left out where all
# INPLACE: left out where all of load0 is in memory
# INPLACE-NEXT: load0 f32 arg0
# INPLACE: assign b[[A:[0-9]+]]
# INPLACE-NOT: left out where all
# INPLACE: load1 f32 arg1
# INPLACE: assign b[[B:[0-9]+]]
# INPLACE-NEXT: dot [64x32] by [32x64] of b[[A]] and b[[B]] added to b0

# Accumulators stay in registers: only loads stand between the multiply-adds.
# ASM: vbroadcastss
# ASM-NEXT: vfmadd231ps {{.*}}%zmm
# ASM-NEXT: vfmadd231ps {{.*}}%zmm
# ASM-NEXT: vfmadd231ps {{.*}}%zmm
# ASM-NEXT: vfmadd231ps {{.*}}%zmm
# ASM-NEXT: vbroadcastss

# Whole tiles of bf16 are multiplied without widening where the processor has AMX.
# Tiles are configured once for all programs of a call, not in the function of the dot.
# AMX-LABEL: matmul:
# AMX: ldtilecfg
# AMX: tilerelease
# AMX-LABEL: dot.{{.*}}.by2:
# AMX-NOT: {{ldtilecfg|tilerelease}}
# AMX-COUNT-4: tileloadd {{.*}}%tmm{{[0-3]$}}
# AMX: tileloadd {{.*}}%tmm4
# AMX-COUNT-4: tdpbf16ps {{.*}}%tmm4,
# AMX-NOT: {{tdpbf16ps|ldtilecfg|tilerelease}}
# AMX-COUNT-4: tilestored
# AMX-NOT: {{ldtilecfg|tilerelease}}
# The dots of several iterations load and store the accumulators once.
# AMX-LABEL: dot.{{.*}}.by2.most4:
# AMX-COUNT-4: tilestored
# AMX-NOT: {{tilestored|ldtilecfg|tilerelease}}
# AMX-COUNT-4: tileloadd {{.*}}%tmm{{[0-3]$}}
# AMX: tileloadd {{.*}}%tmm4
# AMX-COUNT-4: tdpbf16ps {{.*}}%tmm4,
# AMX-NOT: {{tdpbf16ps|tilestored|ldtilecfg|tilerelease}}
# AMX: .init_array


@triton.jit
def attention(q, k, v, o, n, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    i = tl.arange(0, BM)
    j = tl.arange(0, BN)
    d = tl.arange(0, D)
    x = tl.load(q + i[:, None] * D + d[None, :])
    top = tl.full([BM], float("-inf"), tl.float32)
    acc = tl.zeros([BM, D], tl.float32)
    for start in range(0, n, BN):
        s = tl.dot(x, tl.load(k + (start + j)[None, :] * D + d[:, None]))
        new_top = tl.maximum(top, tl.max(s, 1))
        p = tl.exp(s - new_top[:, None])
        acc *= tl.exp(top - new_top)[:, None]
        acc = tl.dot(p, tl.load(v + (start + j)[:, None] * D + d[None, :]), acc)
        top = new_top
    tl.store(o + i[:, None] * D + d[None, :], acc)


# The query is copied before the loop, the keys as they lie, the probabilities by the nest that computes them.
# ATTENTION: load0 f32 arg0
# ATTENTION-NEXT: assign b[[Q:[0-9]+]]
# ATTENTION: scf.for carries
# ATTENTION: assign b[[K:[0-9]+]]
# ATTENTION: dot [64x16] by [16x32] of b[[Q]] and b[[K]] transposed into b[[S:[0-9]+]]
# ATTENTION: reduce axis 1
# ATTENTION: nest {{[0-9]+}} [64x32]
# ATTENTION: assign b[[P:[0-9]+]]
# ATTENTION: dot [64x32] by [32x16] of b[[P]] and b{{[0-9]+}} added to b


@triton.jit
def integers(a, b, c):
    i = tl.arange(0, 32)
    at = i[:, None] * 32 + i[None, :]
    tl.store(c + at, tl.dot(tl.load(a + at), tl.load(b + at)))


# Pairs of widened integers are multiplied and added in one instruction.
# V3: vpmaddwd {{.*}}%ymm
# V4: vpmaddwd {{.*}}%zmm

# Four bytes, one factor of them made unsigned.
# VNNI: vpdpbusd {{.*}}%zmm
# AVXVNNI: vpdpbusd {{.*}}%ymm


@triton.jit
def bytes(a, b, c):
    i = tl.arange(0, 64)
    at = i[:, None] * 64 + i[None, :]
    tl.store(c + at, tl.dot(tl.load(a + at), tl.load(b + at)))


# AMXBYTES-COUNT-4: tdpbssd
# AMXBYTES-NOT: tdpbssd

# Pairs of bf16; rows of the left operand stay in memory, as those of f32 do.
# BF16: left out where all of load0 is in memory
# BF16: 2 along K at once
# BF16: vdpbf16ps {{.*}}%zmm
# BF16-NEXT: vdpbf16ps {{.*}}%zmm
