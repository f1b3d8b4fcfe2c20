# Branches whose sides have different types.
# SPDX-License-Identifier: MIT
# RUN: not nereid compile %s:kernel --signature '*fp32,i32' --target cpu --emit ttir -o - 2>&1 | FileCheck %s
import triton
import triton.language as tl


@triton.jit
def two_types(n):
    if n > 1:
        return 1
    return 2.0


@triton.jit
def kernel(x_ptr, n):
    a = 0
    if n > 1:
        # CHECK: :[[#@LINE+1]]:9: error: initial value for `a` is of type int32, but the then block redefines it as fp32 [branch-changes-type]
        a = 1.0
    # CHECK: :[[#@LINE-4]]:5: note: `a` gets its first value here
    if n > 2:
        b = 1
    else:
        # CHECK: :[[#@LINE+1]]:9: error: Mismatched type for b between then block (int32) and else block (fp32); cast one of them with `.to(...)` [branch-types-differ]
        b = 1.0
    # CHECK: :[[#@LINE-4]]:9: note: `b` is assigned here in the then block
    # CHECK: :[[#@LINE+1]]:9: error: Ternary expression with dynamic condition has inconsistent types int32 and fp32; cast one of them with `.to(...)` [ternary-types-differ]
    c = 1 if n > 3 else 2.0
    # CHECK: :[[#@LINE+1]]:8: error: Boolean value of Tensor with more than one value is ambiguous{{.*}}[ambiguous-truth]
    if tl.arange(0, 4) > n:
        pass
    # CHECK: error: Inconsistent return types; Return type mismatch: int32 and fp32; cast one of them with `.to(...)` [return-types-differ]
    # CHECK: :[[#@LINE+1]]:5: note: called from here
    two_types(n)
    # CHECK: :[[#@LINE+1]]:31: error: {{.*}}[condition-not-constant]
    d = [k for k in (1, 2) if n > k]
