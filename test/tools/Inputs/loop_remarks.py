# SPDX-License-Identifier: MIT
import triton
import triton.language as tl


@triton.jit
def dots(a, b, c, n, step, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, STAGES: tl.constexpr):
    rows, columns, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    acc = tl.zeros((M, N), tl.float32)
    for i in tl.range(0, n, num_stages=STAGES):
        left = tl.load(a + rows[:, None] * 1024 + i * K + k[None, :])
        right = tl.load(b + (i * K + k[:, None]) * 1024 + columns[None, :])
        acc = tl.dot(left, right, acc)
    tl.store(c + rows[:, None] * 1024 + columns[None, :], acc)


@triton.jit
def loops(x, n, step):
    for i in tl.range(0, n, tl.num_programs(0), loop_unroll_factor=4):
        tl.store(x + i, i)
    for i in tl.range(0, n, flatten=True):
        for j in tl.range(0, i):
            tl.store(x + j, i)
