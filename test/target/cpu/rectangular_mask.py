# The row bound is a condition on the whole vector, the column bound a prefix of the vector dimension.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s --target cpu:x86-64-v3 --signature '*fp32,*fp32,i32,i32,32,64' --emit plan -o - | FileCheck %s
import triton
import triton.language as tl


@triton.jit
def copy(x, o, rows, cols, BM: tl.constexpr, BN: tl.constexpr):
    r = tl.arange(0, BM)[:, None]
    c = tl.arange(0, BN)[None, :]
    m = (r < rows) & (c < cols)
    tl.store(o + r * cols + c, tl.load(x + r * cols + c, mask=m), mask=m)


# CHECK: nest {{.*}} [32x64] loops (d0, d1) vector d1 x32
# CHECK-DAG: prefix d0 < arg2
# CHECK-DAG: prefix d1 < arg3
# CHECK-DAG: conditions 1
# CHECK: store f32 arg1 + 0 strides (4*arg3, 4) masked
