# A dot multiplies only the rows and columns that the mask of the store after its loop selects.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s:edges --target cpu:x86-64-v4 --signature '*fp32,*fp32,*fp32,i32,i32,i32' --emit plan -o - | FileCheck %s
# RUN: nereid compile %s:all_rows --target cpu:x86-64-v4 --signature '*fp32,*fp32,*fp32,*fp32,i32,i32,i32' --emit plan -o - | FileCheck %s --check-prefix ALL
import triton
import triton.language as tl


@triton.jit
def edges(a, b, c, m, n, k):
    i = tl.program_id(0) * 64 + tl.arange(0, 64)[:, None]
    j = tl.program_id(1) * 64 + tl.arange(0, 64)[None, :]
    acc = tl.zeros((64, 64), tl.float32)
    for first in range(0, k, 32):
        x = tl.load(a + i % m * k + first + tl.arange(0, 32)[None, :])
        y = tl.load(b + (first + tl.arange(0, 32)[:, None]) * n + j % n)
        acc = tl.dot(x, y, acc)
    tl.store(c + i * n + j, acc * 2, (i < m) & (j < n))


# CHECK: dot [64x32] by [32x64] {{.*}}, rows before {{.*}}arg3{{.*}}, columns before {{.*}}arg4


@triton.jit
def all_rows(a, b, c, d, m, n, k):
    i = tl.program_id(0) * 64 + tl.arange(0, 64)[:, None]
    j = tl.program_id(1) * 64 + tl.arange(0, 64)[None, :]
    acc = tl.dot(tl.load(a + i % m * k + tl.arange(0, 32)[None, :]), tl.load(b + tl.arange(0, 32)[:, None] * n + j))
    tl.store(d + tl.arange(0, 64), tl.sum(acc, 0))
    tl.store(c + i * n + j, acc, (i < m) & (j < n))


# ALL: dot
# ALL-NOT: before
