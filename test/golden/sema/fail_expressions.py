# Expressions that kernels cannot contain, and operands that do not fit.
# SPDX-License-Identifier: MIT
# RUN: not nereid compile %s:kernel --signature '*fp32,i32' --target cpu --emit ttir -o - 2>&1 | FileCheck %s
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    tile = tl.arange(0, 16)
    # CHECK: :[[#@LINE+1]]:5: error: unsupported AST node type: Dict{{.*}}[unsupported-expression]
    {1: 2}
    # CHECK: :[[#@LINE+1]]:5: error: complex numbers are not supported in kernels [unsupported-literal]
    2j
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: {{.*}}`and` needs int1 tensors, but this is int32{{.*}}[logic-needs-bool]
    n > 1 and n
    # CHECK: :[[#@LINE+1]]:5: error: unsupported AST node type: GeneratorExp; use a list comprehension [unsupported-expression]
    (k for k in (1, 2))
    # CHECK: :[[#@LINE+1]]:12: error: `int32` is not a tuple{{.*}}[not-iterable]
    a, b = n
    # CHECK: :[[#@LINE+1]]:17: error: unsupported AST node type: range({{.*}}) outside of a `for` statement; write its elements as a tuple [unsupported-expression]
    [x for x in range(n)]
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: Cannot evaluate f-string containing non-constexpr conversion values, found int32;{{.*}} [format-not-constant]
    f"{n}"
    # CHECK: :[[#@LINE+1]]:5: error: unsupported tensor index: int32[16] has fewer dimensions than the 2 indices here [too-many-indices]
    tile[:, 0]
    # CHECK: :[[#@LINE+1]]:5: error: unsupported tensor index: int32; a tile takes `:`, `None`, constant integers and constant slices, for others see `tl.gather`; or load that element from memory [unsupported-index]
    tile[n]
    # CHECK: :[[#@LINE+1]]:5: error: unsupported tensor index: int32; {{.*}}[unsupported-index]
    tile[:n]
    # CHECK: :[[#@LINE+1]]:5: error: index 16 is out of range for dimension 0 of `int32[16]` [tile-index-range]
    tile[16]
    # CHECK: :[[#@LINE+1]]:5: error: this slice takes no element of dimension 0 of `int32[16]`; tiles cannot be empty [empty-slice]
    tile[4:2]
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
