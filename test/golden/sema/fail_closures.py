# Unsupported uses of nested functions, and results that must not be dropped.
# SPDX-License-Identifier: MIT
# RUN: not nereid compile %s:kernel --signature '*fp32,i32' --target cpu --emit ttir -o - 2>&1 | FileCheck %s
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    tile = tl.arange(0, 16)
    # CHECK: :[[#@LINE+1]]:24: error: the combine function `<lambda>` reads a tile of the function around, `int32[16]`; it can read scalars and constants only [combine-captures]
    tl.reduce(tile, 0, lambda a, b: a + tl.sum(tile) + b)

    def countdown(k):
        # CHECK: :[[#@LINE+1]]:16: error: `countdown` calls itself with the same types and constants; recursion must end at compile time [runtime-recursion]
        return countdown(k - 1)

    countdown(n)
    # CHECK: :[[#@LINE+1]]:11: error: `<lambda>` is missing the argument `b`; its parameters are {{.*}}[missing-argument]
    add = (lambda a, b: a + b)(n)
