# Compilations that would not end are errors at once.
# SPDX-License-Identifier: MIT
# RUN: not nereid compile %s:statements --signature '*fp32,i32' --target cpu --emit ttir -o - 2>&1 | FileCheck %s --check-prefix=STATEMENTS
# RUN: not nereid compile %s:recursion --signature '*fp32,i32' --target cpu --emit ttir -o - 2>&1 | FileCheck %s --check-prefix=RECURSION
import triton
import triton.language as tl


@triton.jit
def statements(x_ptr, n):
    for _ in tl.static_range(2000):
        n += 1
        for _ in tl.static_range(45):
            # STATEMENTS: error: this kernel unfolds to more than 300000 statements; {{.*}}[compile-explodes]
            n += 1
            n += 2
            n += 3
            n += 4


@triton.jit
def endless(x, n: tl.constexpr):
    # RECURSION: :[[#@LINE+1]]:12: error: calls nest deeper than 200 at `endless`; does the recursion end? [call-too-deep]
    return endless(x, n + 1)


@triton.jit
def recursion(x_ptr, n):
    endless(n, 0)
