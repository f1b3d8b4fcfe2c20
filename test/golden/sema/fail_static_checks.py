# Compile-time assertions that fail, and hints that do not fit the tile.
# SPDX-License-Identifier: MIT
# RUN: not nereid compile %s:kernel --signature '*fp32,i32,96' --target cpu --emit ttir -o - 2>&1 | FileCheck %s
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n, BLOCK: tl.constexpr):
    x = tl.arange(0, 16)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: static_assert failed: BLOCK is 96 [static-assert]
    tl.static_assert(BLOCK % 64 == 0, f"BLOCK is {BLOCK}")
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: static_assert failed: the condition is false [static-assert]
    tl.static_assert(BLOCK == 64)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: Assertion condition could not be determined at compile-time{{.*}}[static-assert-runtime]
    tl.static_assert(n == 64)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: Shape of input to max_contiguous does not match the length of values: `int32[16]` takes 1, got 2 [hint-count]
    tl.max_contiguous(x, (16, 16))
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: multiple_of takes positive numbers, got -4 [hint-value]
    tl.multiple_of(x, -4)
