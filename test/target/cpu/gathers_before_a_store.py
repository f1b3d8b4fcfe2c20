# Loads from computed addresses that a store may overwrite are kept by one nest, which computes their index once.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s:neighbours --target cpu:x86-64-v4 --signature '*fp32,*i32,*fp32,128' --emit plan -o - | FileCheck %s
import triton
import triton.language as tl


@triton.jit
def neighbours(x, at, y, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    index = tl.load(at + i) // 7 * 3
    left = tl.load(x + index)
    right = tl.load(x + index + 1)
    chained = tl.load(x + right.to(tl.int32))  # reads what the nest writes
    tl.store(y + i, left + right + chained)


# CHECK: nest {{.*}} [128]
# CHECK: materialise tt.load in b[[LEFT:[0-9]+]]
# CHECK-NEXT: materialise tt.load in b[[RIGHT:[0-9]+]]
# CHECK: nest {{.*}} [128]
# CHECK: read b[[RIGHT]]
# CHECK: materialise tt.load
# CHECK: store f32
