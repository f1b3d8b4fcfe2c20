# Matmul and attention with the tiles of fast kernels take no scratch memory, also where a thread has 256 registers.
# SPDX-License-Identifier: MIT
# DEFINE: %{matmul} = nereid compile %s:matmul --emit amdgcn -o -
# DEFINE: %{sizes} = i32:16,i32:16,i32:16,i32:16,i32:16,i32:16
# DEFINE: %{attention} = nereid compile %s:attention --emit amdgcn -o - --signature
# DEFINE: %{tensors} = *fp16:16,*fp16:16,*fp16:16,*fp16:16,i32:16,fp32
# RUN: %{matmul} --target hip:gfx1100 --signature '*fp16:16,*fp16:16,*fp16:16,%{sizes},64,64,64' | FileCheck %s
# RUN: %{matmul} --target hip:gfx1100 --signature '*fp16:16,*fp16:16,*fp16:16,%{sizes},128,128,32' | FileCheck %s
# RUN: %{matmul} --target hip:gfx1100 --signature '*fp16:16,*fp16:16,*fp16:16,%{sizes},128,128,64' | FileCheck %s --check-prefixes=CHECK,VECTORS
# RUN: %{matmul} --target hip:gfx1100 --signature '*bf16:16,*bf16:16,*bf16:16,%{sizes},128,128,64' | FileCheck %s --check-prefixes=CHECK,VECTORS
# RUN: %{matmul} --target hip:gfx1100 --signature '*fp16:16,*fp16:16,*fp16:16,%{sizes},128,256,32' --num-warps 8 | FileCheck %s
# RUN: %{matmul} --target hip:gfx942 --signature '*fp16:16,*fp16:16,*fp16:16,%{sizes},128,128,64' | FileCheck %s --check-prefixes=CHECK,CDNA
# RUN: %{matmul} --target hip:gfx942 --signature '*fp16:16,*fp16:16,*fp16:16,%{sizes},256,128,64' --num-warps 8 | FileCheck %s --check-prefixes=CHECK,CDNA
# RUN: %{attention} '%{tensors},128,64,64,False' --target hip:gfx1100 | FileCheck %s
# RUN: %{attention} '%{tensors},128,64,64,True' --target hip:gfx1100 | FileCheck %s
# RUN: %{attention} '%{tensors},128,64,128,False' --target hip:gfx1100 | FileCheck %s
# RUN: %{attention} '%{tensors},128,64,128,False' --target hip:gfx1100 --num-warps 8 | FileCheck %s
# RUN: %{attention} '%{tensors},128,64,64,False' --target hip:gfx90a | FileCheck %s --check-prefixes=CHECK,CDNA
# RUN: %{attention} '%{tensors},128,64,64,False' --target hip:gfx942 | FileCheck %s --check-prefixes=CHECK,CDNA
import triton
import triton.language as tl


@triton.jit
def matmul(
    a_ptr, b_ptr, c_ptr, M, N, K, stride_a, stride_b, stride_c,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    k = tl.arange(0, BLOCK_K)
    a_at = a_ptr + (rows % M)[:, None] * stride_a + k[None, :]
    b_at = b_ptr + k[:, None] * stride_b + (columns % N)[None, :]
    acc = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for start in range(0, K, BLOCK_K):
        a = tl.load(a_at, mask=k[None, :] < K - start, other=0.0)
        b = tl.load(b_at, mask=k[:, None] < K - start, other=0.0)
        acc = tl.dot(a, b, acc)
        a_at += BLOCK_K
        b_at += BLOCK_K * stride_b
    c_at = c_ptr + rows[:, None] * stride_c + columns[None, :]
    tl.store(c_at, acc.to(c_ptr.dtype.element_ty), mask=(rows[:, None] < M) & (columns[None, :] < N))


@triton.jit
def attention(
    q_ptr, k_ptr, v_ptr, out_ptr, N, scale,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, D: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    head = tl.program_id(1) * N * D
    start = tl.program_id(0) * BLOCK_M
    rows, d = start + tl.arange(0, BLOCK_M), tl.arange(0, D)
    q = tl.load(q_ptr + head + rows[:, None] * D + d[None, :])
    peak = tl.full([BLOCK_M], float("-inf"), tl.float32)
    total = tl.zeros([BLOCK_M], tl.float32)
    acc = tl.zeros([BLOCK_M, D], tl.float32)
    end = start + BLOCK_M if CAUSAL else N
    for begin in range(0, end, BLOCK_N):
        columns = begin + tl.arange(0, BLOCK_N)
        at = columns[:, None] * D + d[None, :]
        s = tl.dot(q, tl.trans(tl.load(k_ptr + head + at))) * scale
        if CAUSAL:
            s = tl.where(rows[:, None] >= columns[None, :], s, float("-inf"))
        higher = tl.maximum(peak, tl.max(s, 1))
        p = tl.exp2(s - higher[:, None])
        rescale = tl.exp2(peak - higher)
        total = total * rescale + tl.sum(p, 1)
        acc = tl.dot(p.to(q.dtype), tl.load(v_ptr + head + at), acc * rescale[:, None])
        peak = higher
    tl.store(out_ptr + head + rows[:, None] * D + d[None, :], (acc / total[:, None]).to(q.dtype))


# Operands are read as vectors.
# VECTORS-NOT: ds_load_u16
# CHECK-NOT: scratch_{{load|store}}
# CHECK: .private_segment_fixed_size: 0
# CHECK: .sgpr_spill_count: 0
# Three waves share the 512 registers of a SIMD unit.
# CDNA: .vgpr_count: {{ *([0-9]{1,2}|1[0-6][0-9])$}}
# CHECK: .vgpr_spill_count: 0
