# An unrolled loop of many nests becomes several functions; a small one stays one. A chain that many nests evaluate is
# kept once in so many operations.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s:copies --target cpu:x86-64-v4 --signature '*fp32,*fp32,i32,150' --emit llir -o - | FileCheck %s
# RUN: nereid compile %s:copies --target cpu:x86-64-v4 --signature '*fp32,*fp32,i32,4' --emit llir -o - | FileCheck %s --check-prefix=SMALL
# RUN: nereid compile %s:chain --target cpu:x86-64-v4 --signature '*fp32,*fp32,100' --emit plan -o - | FileCheck %s --check-prefix=CHAIN
# RUN: nereid compile %s:chain --target cpu:x86-64-v4 --signature '*fp32,*fp32,20' --emit plan -o - | FileCheck %s --check-prefix=SHORT
import triton
import triton.language as tl


@triton.jit
def copies(x, out, n, N: tl.constexpr):
    i = tl.arange(0, 256)
    for j in tl.static_range(N):
        tl.store(out + j * 256 + i, tl.load(x + j * 256 + i, mask=i < n), mask=i < n)


@triton.jit
def chain(x, out, N: tl.constexpr):
    i = tl.arange(0, 256)
    v = tl.load(x + i)
    for j in tl.static_range(N):
        v = v - tl.max(v, 0) * 0.5
    tl.store(out + i, v)


# CHECK: define internal {{.*}}@copies.part
# SMALL-NOT: @copies.part
# CHAIN: materialised
# SHORT-NOT: materialised
