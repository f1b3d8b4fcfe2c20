# Three nests: the maximum, the exponentials with their sum, the quotient. The row is read twice, the exponentials once.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s --target cpu:x86-64-v3 --signature '*fp32,*fp32,i32,i32,1024' --emit plan -o - | FileCheck %s
import triton
import triton.language as tl


@triton.jit
def softmax(o, x, stride, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    m = at < n
    v = tl.load(x + row * stride + at, mask=m, other=-float("inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(o + row * stride + at, e / tl.sum(e, axis=0), mask=m)


# CHECK: b0 [1024] f32 materialised
# CHECK-NOT: guard
# CHECK: nest 0 [1024] loops (d0) vector d0 x32
# CHECK: reduce axis 0 by
# CHECK: nest 1 [1024] loops (d0) vector d0 x16
# CHECK: materialise math.exp in b0
# CHECK-NEXT: reduce axis 0 by arith.addf
# CHECK: nest 2 [1024] loops (d0) vector d0 x32
# CHECK-NOT: load
# CHECK: read b0
# CHECK-NEXT: store f32
