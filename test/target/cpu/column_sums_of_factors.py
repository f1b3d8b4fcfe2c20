# A factor of each row is read once for all columns: it does not decide along which dimension sums are adjacent.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s:column_sums --target cpu:x86-64-v4 --signature '*fp32,*fp32,*fp32,i32,i32,64,4' --emit plan -o - | FileCheck %s
import triton
import triton.language as tl


@triton.jit
def column_sums(x, factors, y, rows, columns, BX: tl.constexpr, BR: tl.constexpr):
    i = tl.program_id(0) * BX + tl.arange(0, BX)[:, None]
    total = tl.zeros([BX, BR], tl.float32)
    for start in range(0, rows, BR):
        j = start + tl.arange(0, BR)[None, :]
        inside = (i < columns) & (j < rows)
        total += tl.load(x + i + columns * j, inside, 0) * tl.load(factors + j, j < rows, 0)
    tl.store(y + i, tl.sum(total, 1)[:, None], i < columns)


# CHECK: [64x4] f32 carried d0 innermost
# CHECK: scf.for
# CHECK: nest {{.*}} [64x4] loops (d1, d0) vector d0 x64
