# The zeros of a dot's accumulator are written once although its loop may not run; those of sums are left to ptxas.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s:product --signature '*fp16:16,*fp16:16,*fp32:16,i32:16' --target cuda:90 --emit llir -o - | FileCheck %s
# RUN: nereid compile %s:totals --signature '*fp32:16,*fp32:16,i32' --target cuda:90 --emit llir -o - | FileCheck %s --check-prefix=SUM
import triton
import triton.language as tl


@triton.jit
def product(a, b, o, k):
    m = tl.arange(0, 16)
    n = tl.arange(0, 64)
    total = tl.zeros([16, 64], tl.float32)
    for i in tl.range(0, k, 16, num_stages=1):
        x = tl.load(a + m[:, None] * k + (i + m)[None, :])
        total = tl.dot(x, tl.load(b + (i + m)[:, None] * 64 + n[None, :]), total)
    tl.store(o + m[:, None] * 64 + n[None, :], total)


@triton.jit
def totals(x, y, n):
    at = tl.arange(0, 1024)
    total = tl.zeros([1024], tl.float32)
    for row in tl.range(0, n, num_stages=1):
        total += tl.load(x + row * 1024 + at)
    tl.store(y + at, total)


# CHECK: [[ZEROS:%.*]] = call { i32, i32, i32, i32, i32, i32, i32, i32 } asm sideeffect "mov.b32 \09$0, 0x0;
# CHECK: [[BITS:%.*]] = extractvalue {{.*}} [[ZEROS]], 0
# CHECK: [[ZERO:%.*]] = bitcast i32 [[BITS]] to float
# CHECK: br i1
# CHECK: {{^}}for:
# CHECK: phi float [ [[ZERO]],
# CHECK-NOT: phi float [ 0.000000e+00

# SUM: {{^}}for:
# SUM: phi float [ 0.000000e+00
