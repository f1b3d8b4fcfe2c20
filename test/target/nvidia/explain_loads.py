# RUN: nereid compile %s:gather_matmul --target cuda:90 --abi own --signature '*fp16:16,*fp16:16,*i32:16,*fp32:16,i32:16,64,64,64' --num-warps 4 --emit plan.lines -o - | FileCheck %s
# SPDX-License-Identifier: MIT
"""A load of a dot's operand that TMA cannot express says why."""

import triton
import triton.language as tl


@triton.jit
def gather_matmul(a_ptr, b_ptr, rows_ptr, c_ptr, K, M: tl.constexpr, N: tl.constexpr, BK: tl.constexpr):
    i = tl.arange(0, M)
    j = tl.arange(0, N)
    k = tl.arange(0, BK)
    row = tl.load(rows_ptr + i)
    acc = tl.zeros((M, N), tl.float32)
    for start in range(0, K, BK):
        # CHECK: a = tl.load
        # CHECK: threads load this operand of a dot, not TMA: its addresses are not affine in the tile's indices [load-by-threads]
        a = tl.load(a_ptr + row[:, None] * K + start + k[None, :])
        b = tl.load(b_ptr + (start + k)[:, None] * N + j[None, :])
        acc = tl.dot(a, b, acc)
    tl.store(c_ptr + i[:, None] * N + j[None, :], acc)
