"""A matmul of bfloat16 matrices that are stored row by row; matmul.cpp launches it from C++."""

# SPDX-License-Identifier: MIT
import triton
import triton.language as tl


@triton.jit
def matmul_kernel(
    a_ptr, b_ptr, c_ptr, N, K, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr
):
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    depth = tl.arange(0, BLOCK_K)
    a = a_ptr + rows[:, None] * K + depth[None, :]
    b = b_ptr + depth[:, None] * N + columns[None, :]
    c = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for _ in range(0, K, BLOCK_K):
        c = tl.dot(tl.load(a), tl.load(b), c)
        a += BLOCK_K
        b += BLOCK_K * N
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], c)
