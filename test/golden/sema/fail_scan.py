# Operands that cannot be scanned, and combine functions that do not fit.
# SPDX-License-Identifier: MIT
# RUN: not nereid compile %s:kernel --signature '*fp32,i32' --target cpu --emit ttir -o - 2>&1 | FileCheck %s
import triton
import triton.language as tl


@triton.jit
def add(a, b):
    return a + b


@triton.jit
def kernel(x_ptr, n):
    x = tl.arange(0, 16)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: associative_scan needs a tile or a tuple of tiles of numbers, but got `int32`; a scalar is its own result [reduce-operand]
    tl.associative_scan(n, 0, add)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: all scan inputs must have the same shape, but they are `int32[16]` and `int32[8]` [reduce-shapes]
    tl.associative_scan((x, tl.arange(0, 8)), 0, add)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: invalid axis 1 of a tile of 1 dimensions; it must be in [-1, 0] [axis-range]
    tl.associative_scan(x, 1, add)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: the combine function `add` must take 4 parameters{{.*}}[combine-parameter-count]
    tl.associative_scan((x, x), 0, add)
