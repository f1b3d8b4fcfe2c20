# Which accesses become buffer instructions: those whose offset is known to be from 0 to 2^31 - 1 bytes.
# SPDX-License-Identifier: MIT
# DEFINE: %{compile} = nereid compile --num-warps 4 --emit amdgcn -o -
# RUN: %{compile} %s:add --signature '*fp32:16:S,*fp32:16:S,*fp32:16:S,i32:16,1024' --target hip:gfx942 | FileCheck %s --check-prefixes=ADD
# RUN: %{compile} %s:add --signature '*fp32:16:S,*fp32:16:S,*fp32:16:S,i32:16,1024' --target hip:gfx90a | FileCheck %s --check-prefixes=ADD
# RUN: %{compile} %s:add --signature '*fp32:16:S,*fp32:16:S,*fp32:16:S,i32:16,512' --target hip:gfx1100 | FileCheck %s --check-prefixes=ADD11
# RUN: %{compile} %s:add --signature '*fp32:16:S,*fp32:16:S,*fp32:16:S,i32:16,512' --target hip:gfx1200 | FileCheck %s --check-prefixes=ADD12
# RUN: %{compile} %s:add --signature '*fp32:16:S,*fp32:16:S,*fp32:16:S,i32:16,1024' --target hip:gfx942 --no-buffer-ops | FileCheck %s --check-prefixes=NONE
# RUN: %{compile} %s:softmax --signature '*fp32:16,*fp32:16,i32:16,i32:16,1024' --target hip:gfx942 | FileCheck %s --check-prefixes=SOFTMAX
# RUN: %{compile} %s:matmul --signature '*fp16:16:S,*fp16:16:S,*fp16:16:S,i32:16,i32:16,128,128,64' --target hip:gfx942 | FileCheck %s --check-prefixes=MATMUL
# RUN: %{compile} %s:matmul --signature '*fp16:16,*fp16:16,*fp16:16,i32:16,i32:16,128,128,64' --target hip:gfx942 | FileCheck %s --check-prefixes=LARGE
# RUN: %{compile} %s:signed --signature '*fp32:16:S,*fp32:16:S,i32,256' --target hip:gfx942 | FileCheck %s --check-prefixes=NONE
# RUN: %{compile} %s:gather --signature '*fp32:16:S,*i32:16:S,*fp32:16,256' --target hip:gfx942 | FileCheck %s --check-prefixes=GATHER
# RUN: %{compile} %s:wide --signature '*fp32:16:S,*fp32:16:S,i64,256' --target hip:gfx942 | FileCheck %s --check-prefixes=NONE
# RUN: %{compile} %s:before --signature '*fp32:16:S,*fp32:16:S,256' --target hip:gfx942 | FileCheck %s --check-prefixes=BEFORE
# RUN: %{compile} %s:others --signature '*fp32:16:S,*fp32:16:S,i32:16,1024' --target hip:gfx942 | FileCheck %s --check-prefixes=OTHERS
# RUN: %{compile} %s:cached --signature '*fp32:16:S,*fp32:16:S,1024' --target hip:gfx942 | FileCheck %s --check-prefixes=CACHED
# RUN: nereid compile --num-warps 4 --emit llir -o - %s:add --signature '*fp32:16:S,*fp32:16:S,*fp32:16:S,i32:16,1024' --target hip:gfx942 | FileCheck %s --check-prefixes=CDNA
# RUN: nereid compile --num-warps 4 --emit llir -o - %s:add --signature '*fp32:16:S,*fp32:16:S,*fp32:16:S,i32:16,1024' --target hip:gfx1100 | FileCheck %s --check-prefixes=RDNA
import triton
import triton.language as tl


# No branch: lanes that the mask leaves out have an offset of 2^31.
# ADD-NOT: saveexec
# ADD-NOT: global_
# ADD-COUNT-2: buffer_load_dwordx4
# ADD: buffer_store_dwordx4
# ADD11-COUNT-2: buffer_load_b128
# ADD11: buffer_store_b128
# ADD12-COUNT-2: buffer_load_b128
# ADD12: buffer_store_b128
# CDNA: make.buffer.rsrc{{.*}}(ptr addrspace(1) {{.*}}, i16 0, i64 2147483648, i32 159744)
# RDNA: make.buffer.rsrc{{.*}}(ptr addrspace(1) {{.*}}, i16 0, i64 2147483648, i32 805396480)
# NONE-NOT: buffer_
# NONE: global_store
@triton.jit
def add(x, y, o, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o + i, tl.load(x + i, mask=i < n) + tl.load(y + i, mask=i < n), mask=i < n)


# The row's address is a scalar; the columns' offsets have few bits, whatever the tensor's size is.
# SOFTMAX-NOT: global_
# SOFTMAX: buffer_load_dwordx4
# SOFTMAX: buffer_store_dwordx4
@triton.jit
def softmax(x, o, stride, n, BLOCK: tl.constexpr):
    row, i = tl.program_id(0), tl.arange(0, BLOCK)
    v = tl.load(x + row * stride + i, mask=i < n, other=-float("inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(o + row * stride + i, e / tl.sum(e, 0), mask=i < n)


# Pointers that the loop moves, and offsets that grow with a stride which is assumed not to be negative.
# MATMUL-NOT: global_load
# MATMUL: buffer_load_dwordx4
# LARGE-NOT: buffer_load
# LARGE: global_load_dwordx4
@triton.jit
def matmul(a, b, o, k, stride, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    tl.assume(stride >= 0)
    m, n, d = tl.program_id(0) * M + tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    x, y = a + m[:, None] * stride + d[None, :], b + n[:, None] * stride + d[None, :]
    sums = tl.zeros((M, N), dtype=tl.float32)
    for i in range(0, k, K):
        sums = tl.dot(tl.load(x), tl.load(y).T, sums)
        x += K
        y += K
    tl.store(o + m[:, None] * N + n[None, :], sums.to(tl.float16))


@triton.jit
def signed(x, o, stride, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK) * stride
    tl.store(o + i, tl.load(x + i))


# GATHER: buffer_load_dword
# GATHER: global_load_dword
# GATHER: buffer_store_dword
@triton.jit
def gather(x, index, o, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(o + i, tl.load(x + tl.load(index + i)))


@triton.jit
def wide(x, o, stride, BLOCK: tl.constexpr):
    tl.assume(stride >= 0)
    i = tl.arange(0, BLOCK).to(tl.int64) * stride
    tl.store(o + i, tl.load(x + i))


# The constant is a part of the scalar.
# BEFORE: buffer_load
# BEFORE: buffer_store
@triton.jit
def before(x, o, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(o + i, tl.load(x + i - 1))


# OTHERS-NOT: saveexec
# OTHERS: buffer_load_dwordx4
# OTHERS: v_cndmask_b32
@triton.jit
def others(x, o, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(o + i, tl.load(x + i, mask=i < n, other=3.0))


# CACHED: buffer_load_dwordx4 {{.*}} nt{{$}}
# CACHED: buffer_load_dwordx4 {{.*}} sc0 sc1{{$}}
# CACHED: buffer_store_dwordx4 {{.*}} nt{{$}}
@triton.jit
def cached(x, o, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i, eviction_policy="evict_first") + tl.load(x + 4096 + i, cache_modifier=".cv")
    tl.store(o + i, v, cache_modifier=".cs")
