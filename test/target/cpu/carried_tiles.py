# A loop-carried tile is updated in place if its old value is read at the same index only, else it has two buffers.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s:swap --target cpu:x86-64-v3 --signature '*fp32,*fp32,i32,64' --emit plan -o - | FileCheck %s --check-prefix=SWAP
# RUN: nereid compile %s:transpose --target cpu:x86-64-v3 --signature '*fp32,i32,64' --emit plan -o - | FileCheck %s --check-prefix=TRANSPOSE
import triton
import triton.language as tl


@triton.jit
def swap(x, y, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    a = tl.load(x + at)
    b = tl.load(y + at)
    for i in range(n):
        a, b = b, a + b
    tl.store(x + at, a)
    tl.store(y + at, b)


# SWAP: b0 [64] f32 carried
# SWAP-NOT: double
# SWAP: scf.for carries b0, b1
# SWAP-NEXT: nest
# SWAP: assign b0
# SWAP-NEXT: assign b1


@triton.jit
def transpose(x, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    a = tl.load(x + at)
    for i in range(n):
        s = tl.reshape(a, (8, BLOCK // 8))
        a = tl.reshape(tl.trans(s), (BLOCK,))
    tl.store(x + at, a)


# TRANSPOSE: b{{[0-9]+}} [64] f32 carried
# TRANSPOSE: scf.for carries
