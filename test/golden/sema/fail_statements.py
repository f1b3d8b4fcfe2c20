# Statements that kernels cannot contain, and invalid assignments.
# SPDX-License-Identifier: MIT
# RUN: not nereid compile %s:kernel --signature '*fp32,i32' --target cpu --emit ttir -o - 2>&1 | FileCheck %s
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    # CHECK: :[[#@LINE+1]]:6: error: nested function `inner` has another decorator; only plain functions and `@triton.jit` can stand inside a kernel [nested-function]
    @staticmethod
    def inner():
        pass

    # CHECK: :[[#@LINE+1]]:18: error: the default of `y` is int32, known only at run time; a default is a compile-time constant [nested-default]
    g = lambda y=n: y
    # CHECK: :[[#@LINE+1]]:5: error: unsupported AST node type: Import; import at module level [unsupported-statement]
    import os
    # CHECK: :[[#@LINE+1]]:5: error: unsupported AST node type: Delete{{.*}}[unsupported-statement]
    del n
    # CHECK: :[[#@LINE+1]]:5: error: unsupported AST node type: Raise; kernels have no exceptions{{.*}}[unsupported-statement]
    raise n
    # CHECK: :[[#@LINE+1]]:5: error: unsupported AST node type: Try{{.*}}[unsupported-statement]
    try:
        pass
    finally:
        pass
    # CHECK: :[[#@LINE+1]]:5: error: __setitem__ is not supported in triton; use `tl.store`{{.*}}[assign-subscript]
    x_ptr[0] = 1
    # CHECK: :[[#@LINE+1]]:5: error: Attribute assignment is not supported in triton: `shape`; values of kernels do not change, assign a new one to a name [assign-attribute]
    x_ptr.shape = 1
    # CHECK: :[[#@LINE+1]]:5: error: Simultaneous multiple assignment is not supported{{.*}}[multiple-assignment]
    a = b = 1
    # CHECK: :[[#@LINE+1]]:12: error: cannot unpack 3 values into 2 names [unpack-count]
    c, d = 1, 2, 3
    # CHECK: :[[#@LINE+1]]:16: error: cannot unpack 1 values into at least 2 names [unpack-count]
    c, *d, e = (1, )
    # CHECK: :[[#@LINE+1]]:13: error: `int32` is not a tuple; only tuples can be unpacked or iterated over [not-iterable]
    c, *d = n
    # CHECK: :[[#@LINE+1]]:13: error: undeclared is not defined [undefined-name]
    c, *d = undeclared
    c += d[0]  # no further error
    f: tl.constexpr = 1
    # CHECK: :[[#@LINE+1]]:5: error: f is already defined. constexpr cannot be reassigned. [constexpr-reassigned]
    f: tl.constexpr = 2
    # CHECK: :[[#@LINE-3]]:5: note: `f` is defined here
    # CHECK: :[[#@LINE+1]]:5: error: `return`, `break` and `continue` cannot leave a `with` block; assign to a variable and leave after it [leaves-with]
    with f as h:
        return
