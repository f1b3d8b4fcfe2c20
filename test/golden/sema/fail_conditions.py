# Conditions and logical operands that are not boolean; type errors name both operands.
# SPDX-License-Identifier: MIT
# RUN: not nereid compile %s:kernel --signature '*fp32,i32' --target cpu --emit ttir -o - 2>&1 | FileCheck %s
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    # CHECK: :[[#@LINE+1]]:8: error: `if` conditionals can only accept values of type {bool, int, NoneType}, not objects of type str; compare it with something [condition-kind]
    if "text":
        pass
    # CHECK: :[[#@LINE+1]]:14: error: `if` conditionals can only accept values of type {bool, int, NoneType}, not objects of type float{{.*}}[condition-kind]
    a = 1 if 2.0 else 3
    # CHECK: :[[#@LINE+1]]:8: warning: the condition is `int1[1]`, a tile of one element; write `.item()` for a scalar [tile-condition]
    if tl.arange(0, 1) > n:
        pass
    tile = tl.arange(0, 4)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: Cannot bitcast data-type of size 32 to data-type of size 1: `and` needs int1 tensors, but this is int32[4]{{.*}}[logic-needs-bool]
    b = (tile > n) and tile
    # CHECK: :[[#@LINE+1]]:9: warning: `or` of tiles combines them element by element; write `|` to say so [logic-of-tiles]
    c = (tile > n) or (tile < 2)
    # CHECK: :[[#@LINE+3]]:{{[0-9]+}}: error: Cannot make_shape_compatible: incompatible dimensions at index 0: 4 and 8{{.*}}[shape-mismatch]
    # CHECK: :[[#@LINE+2]]:9: note: the left operand is int32[4]
    # CHECK: :[[#@LINE+1]]:16: note: the right operand is int32[8]
    d = tile + tl.arange(0, 8)
    # CHECK: :[[#@LINE+3]]:9: error: Ternary expression with dynamic condition has inconsistent types int32 and fp32; cast one of them with `.to(...)` [ternary-types-differ]
    # CHECK: :[[#@LINE+2]]:9: note: this side is int32
    # CHECK: :[[#@LINE+1]]:25: note: this side is fp32
    e = 1 if n > 3 else 2.0
