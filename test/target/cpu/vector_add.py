# One nest: the mask becomes a trip count, a copy is made only where the output overlaps an input.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s --target cpu:x86-64-v3 --signature '*fp32,*fp32,*fp32,i32,1024' --emit plan -o - | FileCheck %s
import triton
import triton.language as tl


@triton.jit
def add(x, y, o, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = at < n
    tl.store(o + at, tl.load(x + at, mask=m) + tl.load(y + at, mask=m), mask=m)


# CHECK: b0 [1024] f32 copied
# CHECK: b1 [1024] f32 copied
# CHECK: guard load0 copy b0 against 1 store, equal bases are harmless
# CHECK: guard load1 copy b1 against 1 store, equal bases are harmless
# CHECK: nest {{.*}} [1024] loops (d0) vector d0 x32
# CHECK-NEXT: prefix d0 < {{.*}}arg3
# CHECK-NEXT: load0 f32 arg0 + {{.*}} strides (4) masked hoisted
# CHECK-NEXT: load1 f32 arg1 + {{.*}} strides (4) masked hoisted
# CHECK-NEXT: store f32 arg2 + {{.*}} strides (4) masked
# CHECK-NOT: nest
