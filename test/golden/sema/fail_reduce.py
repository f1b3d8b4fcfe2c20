# Operands that cannot be reduced, and combine functions that do not fit.
# SPDX-License-Identifier: MIT
# RUN: not nereid compile %s:kernel --signature '*fp32,i32' --target cpu --emit ttir -o - 2>&1 | FileCheck %s
import triton
import triton.language as tl


@triton.jit
def add(a, b):
    return a + b


@triton.jit
def both(a, b):
    return a, b


@triton.jit
def as_float(a, b):
    return (a + b).to(tl.float32)


@triton.jit
def kernel(x_ptr, n):
    x = tl.arange(0, 16)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: reduce needs a tile or a tuple of tiles of numbers, but got `int32`; a scalar is its own result [reduce-operand]
    tl.reduce(n, 0, add)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: all reduction inputs must have the same shape, but they are `int32[16]` and `int32[8]` [reduce-shapes]
    tl.reduce((x, tl.arange(0, 8)), 0, add)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: invalid axis 1 of a tile of 1 dimensions; it must be in [-1, 0] [axis-range]
    tl.reduce(x, 1, add)
    # CHECK: :[[#@LINE+3]]:{{[0-9]+}}: error: `axis` must be of type `int`, but it is the float `0.0` [wrong-constant]
    # CHECK-NEXT: tl.max(x, 0.0)
    # CHECK: note: `tl.max` reduces a tile along an axis; `tl.maximum` takes the maximum of two values
    tl.max(x, 0.0)
    # CHECK: note: `tl.min` reduces a tile along an axis; `tl.minimum` takes the minimum of two values
    tl.min(x, x)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: the combine function must be a jit function or a built-in, but it is{{.*}}[combine-not-function]
    tl.reduce(x, 0, 3)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: the combine function must return one value for each operand: 1, but it returns 2 [combine-result-count]
    tl.reduce(x, 0, both)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: the combine function must return the operand's type `int32`, but it returns {{.*}}fp32{{.*}}[combine-result-type]
    tl.reduce(x, 0, as_float)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: the combine function `add` must take 4 parameters{{.*}}[combine-parameter-count]
    tl.reduce((x, x), 0, add)
