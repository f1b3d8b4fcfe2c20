# The zeros of an accumulator are written once although its loop may not run.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s:totals --signature '*fp32:16,*fp32:16,i32' --target cuda:90 --emit llir -o - | FileCheck %s
import triton
import triton.language as tl


@triton.jit
def totals(x, y, n):
    at = tl.arange(0, 1024)
    total = tl.zeros([1024], tl.float32)
    for row in tl.range(0, n, num_stages=1):
        total += tl.load(x + row * 1024 + at)
    tl.store(y + at, total)


# CHECK: [[ZEROS:%.*]] = call { i32, i32, i32, i32, i32, i32, i32, i32 } asm "mov.b32 \09$0, 0x0;
# CHECK: [[BITS:%.*]] = extractvalue {{.*}} [[ZEROS]], 0
# CHECK: [[ZERO:%.*]] = bitcast i32 [[BITS]] to float
# CHECK: br i1
# CHECK: {{^}}for:
# CHECK: phi float [ [[ZERO]],
# CHECK-NOT: phi float [ 0.000000e+00
