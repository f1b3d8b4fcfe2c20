# Functions that map_elementwise cannot apply.
# SPDX-License-Identifier: MIT
# RUN: not nereid compile %s:kernel --signature '*i32' --target cpu --emit ttir -o - 2>&1 | FileCheck %s
import triton
import triton.language as tl


@triton.jit
def one(a):
    return a


@triton.jit
def tile(a):
    return a + tl.arange(0, 4)


@triton.jit
def three(a, b):
    return a, b, a


@triton.jit
def mixed(a, b):
    return a, b.to(tl.float32)


@triton.jit
def kernel(x_ptr):
    x = tl.load(x_ptr + tl.arange(0, 8))
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: map_elementwise needs at least one operand [map-operands]
    tl.map_elementwise(one)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: `pack` must be a power of 2 that divides the element count 8, but it is 3 [map-pack]
    tl.map_elementwise(one, x, pack=3)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: the scalar function `one` must take 2 parameters (`pack` for each operand), it takes 1 [map-parameter-count]
    tl.map_elementwise(one, x, pack=2)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: the scalar function must be a jit function or a built-in, but it is {{.*}}[combine-not-function]
    tl.map_elementwise(3, x)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: the scalar function must return scalars, but value 0 is {{.*}}int32[4]{{.*}}[map-result-type]
    tl.map_elementwise(tile, x)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: the scalar function must return `pack` = 2 values for each result, but it returns 3 [map-result-count]
    tl.map_elementwise(three, x, pack=2)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: the 2 values of one result must have one type, but they are `int32` and `fp32` [map-pack-types]
    tl.map_elementwise(mixed, x, pack=2)
