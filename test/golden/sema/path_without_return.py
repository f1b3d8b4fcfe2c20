# A function that returns a value on some paths only: a remark, since Triton accepts it and leaves the result undefined.
# SPDX-License-Identifier: MIT
# RUN: nereid compile %s:kernel --signature '*i32,i32' --target cuda:90 --emit ttir -o - 2>&1 | FileCheck %s
import triton
import triton.language as tl


@triton.jit
def above(x, limit):
    if x > limit:
        # CHECK: :[[#@LINE+1]]:9: remark: another path ends without `return`; there the result is undefined, here it is int32 [path-without-return]
        return x - limit


@triton.jit
def stops(x):
    if x > 5:
        return


@triton.jit
def kernel(out_ptr, n):
    # CHECK-LABEL: tt.func public @kernel
    stops(n)
    # CHECK: %[[RESULT:.+]] = scf.if %{{.+}} -> (i32)
    # CHECK: tt.store %{{.+}}, %[[RESULT]]
    tl.store(out_ptr, above(n, 3))
