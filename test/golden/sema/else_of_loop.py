# `else` of a loop over static_range: a remark, since it runs after each iteration, as in Triton and not as in Python.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s:kernel --signature '*i32,i32' --target cuda:90 --emit ttir -o - 2>&1 | FileCheck %s
# RUN: not nereid compile %s:leaves --signature '*i32,i32' --target cuda:90 --emit ttir -o - 2>&1 | FileCheck %s --check-prefix=LEAVES
import triton
import triton.language as tl


@triton.jit
def kernel(out_ptr, n):
    # CHECK: :[[#@LINE+1]]:5: remark: the `else` of a loop over `tl.static_range` runs after each iteration{{.*}}[else-each-time]
    for k in tl.static_range(2):
        n += k
    else:
        tl.store(out_ptr + n, k)
    # CHECK-LABEL: tt.func public @kernel
    # CHECK-COUNT-2: tt.store
    # CHECK-NOT: tt.store


@triton.jit
def leaves(out_ptr, n):
    # LEAVES: :[[#@LINE+1]]:5: error: `for` with `else` is not supported in kernels{{.*}}[loop-else]
    for k in tl.static_range(2):
        if n > k:
            break
    else:
        tl.store(out_ptr, n)
