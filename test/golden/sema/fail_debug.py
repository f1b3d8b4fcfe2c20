# Arguments that printing, assertions and assumptions do not take.
# SPDX-License-Identifier: MIT
# RUN: not nereid compile %s:kernel --signature '*fp32,i32' --target cpu --emit ttir -o - 2>&1 | FileCheck %s
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    tile = tl.load(x_ptr + tl.arange(0, 8))
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: the first argument of device_print is not string, it is {{.*}}[print-prefix]
    tl.device_print(n)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: `größe` is not an ascii string; {{.*}}[print-prefix-ascii]
    print("größe", n)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: assume takes a scalar condition, but it is `int1[8]`; reduce it first [assume-tile]
    tl.assume(tile > 0)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: `msg` must be of type `str`, but it is the int `3` [wrong-constant]
    tl.device_assert(n > 0, 3)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: Cannot evaluate f-string containing non-constexpr conversion values, found {{.*}}[format-not-constant]
    assert n > 0, f"n is {n}"
