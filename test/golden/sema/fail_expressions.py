# Expressions that kernels cannot contain, and operands that do not fit.
# SPDX-License-Identifier: MIT
# RUN: not nereid compile %s:kernel --signature '*fp32,i32' --target cpu --emit ttir -o - 2>&1 | FileCheck %s
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    tile = tl.arange(0, 16)
    # CHECK: :[[#@LINE+1]]:5: error: unsupported AST node type: Lambda; write a function decorated with @triton.jit [unsupported-expression]
    lambda: 1
    # CHECK: :[[#@LINE+1]]:5: error: unsupported AST node type: Dict{{.*}}[unsupported-expression]
    {1: 2}
    # CHECK: :[[#@LINE+1]]:5: error: complex numbers are not supported in kernels [unsupported-literal]
    2j
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: `and` needs int1 tensors, but this is int32{{.*}}[logic-needs-bool]
    n > 1 and n
    # CHECK: :[[#@LINE+1]]:11: error: simultaneous multiple comparison is not supported; write `a < b and b < c` [chained-comparison]
    0 < n < 4
    # CHECK-NEXT: 0 < n < 4
    # CHECK-NEXT: ~~~~~~^~~
    # CHECK: :[[#@LINE+1]]:12: error: `int32` is not a tuple{{.*}}[not-iterable]
    a, b = n
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: Cannot evaluate f-string containing non-constexpr conversion values, found int32 [format-not-constant]
    f"{n}"
    # CHECK: :[[#@LINE+1]]:5: error: int32[16] has fewer dimensions than the 2 indices here [too-many-indices]
    tile[:, :]
    # CHECK: :[[#@LINE+1]]:5: error: unsupported tensor index: 3{{.*}}[unsupported-index]
    tile[3]
    # CHECK: :[[#@LINE+1]]:5: error: `int 5` cannot be indexed [not-subscriptable]
    (5)[0]
    # CHECK: :[[#@LINE+1]]:5: error: index 2 is out of range for a tuple of 2 elements [index-out-of-range]
    (1, 2)[2]
    # CHECK: :[[#@LINE+1]]:5: error: a tuple is indexed by constant integers and slices, not by int32 [tuple-index]
    (1, 2)[n]
    t = (1,)
    for i in tl.static_range(100):
        # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: this tuple nests deeper than 64 levels or holds more than 65536 elements [tuple-too-large]
        t = (t,)
