# Keywords on Python's range change nothing, as in Triton; a remark says so.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s:kernel --signature '*i32,i32' --target cpu --emit ttir --no-locations -o - 2>&1 | FileCheck %s
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    # CHECK: :[[#@LINE+1]]:26: remark: `foo` has no effect on `range`, as in Triton [keyword-ignored]
    for i in range(0, n, foo=3):
        tl.store(x_ptr + i, i)
    # CHECK: :[[#@LINE+1]]:26: remark: `flatten` has no effect on `range`, as in Triton; write `tl.range(flatten=...)` for a hint about the loop [keyword-ignored]
    for i in range(0, n, flatten=True):
        # CHECK: scf.for
        # CHECK-NOT: tt.flatten
        tl.store(x_ptr + i, i)
