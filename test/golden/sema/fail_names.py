# Names and attributes that mean nothing here.
# SPDX-License-Identifier: MIT
# RUN: not nereid compile %s:kernel --signature '*fp32,i32' --target cpu --emit ttir -o - 2>&1 | FileCheck %s
import triton
import triton.language as tl

PLAIN = 42


@triton.jit
def kernel(x_ptr, n):
    block_start = n
    # CHECK: :[[#@LINE+1]]:5: error: block_strat is not defined; did you mean `block_start`? [undefined-name]
    block_strat + 1
    # CHECK-NEXT: block_strat + 1
    # CHECK-NEXT: ^~~~~~~~~~~
    # CHECK: :[[#@LINE+1]]:8: error: module `triton.language` has no attribute `laod` [module-attribute]
    tl.laod(x_ptr)
    # CHECK: :[[#@LINE+1]]:7: error: `int32` has no attribute `colour` [no-attribute]
    n.colour
    # CHECK: :[[#@LINE+1]]:5: error: Cannot access global variable PLAIN from within @jit'ed function{{.*}}[host-exception]
    PLAIN + 1
