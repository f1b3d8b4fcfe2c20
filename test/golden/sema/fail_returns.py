# Each branch that may return or continue doubles the code after it; there is a limit.
# SPDX-License-Identifier: MIT
# RUN: not nereid compile %s:kernel --signature '*fp32,i32,i32' --target cpu --emit ttir -o - 2>&1 | FileCheck %s
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n, m):
    if n > 0:
        if m > 0:
            return
    # CHECK: :[[#@LINE+1]]:5: error: more than 64 branches may return before the end of this function; write it with fewer `return` statements [too-many-returns]
    if n > 1:
        if m > 1:
            return
    if n > 2:
        if m > 2:
            return
    if n > 3:
        if m > 3:
            return
    if n > 4:
        if m > 4:
            return
    if n > 5:
        if m > 5:
            return
    if n > 6:
        if m > 6:
            return
    tl.store(x_ptr, 1.0)
