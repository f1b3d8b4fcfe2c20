# 16-bit elements have no masked vector access here: enabled lanes are copied in a loop, not each in a branch.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s --target cpu:x86-64-v3 --signature '*bf16,*bf16,i32,256' --emit plan,asm -o - | FileCheck %s
import triton
import triton.language as tl


@triton.jit
def scale(x, o, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    m = at < n
    tl.store(o + at, tl.load(x + at, mask=m) * 2.0, mask=m)


# CHECK: nest {{.*}} [256] loops (d0) vector d0 x32
# CHECK: prefix d0 < arg2
# CHECK: vpmovzxwd
# CHECK: {{tzcnt|bsf}}
# CHECK-NOT: vpinsrw
# CHECK-NOT: call
