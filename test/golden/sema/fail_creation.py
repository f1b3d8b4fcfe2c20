# Invalid grid queries and tile shapes.
# SPDX-License-Identifier: MIT
# RUN: not nereid compile %s:kernel --signature '*fp32' --target cpu --emit ttir -o - 2>&1 | FileCheck %s
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: program_id axis must be 0, 1, or 2 but got 3 [grid-axis]
    tl.program_id(3)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: arange must fit in int32, but it goes from 0 to 4294967296 [arange-int32]
    tl.arange(0, 4294967296)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: arange's end argument must be greater than the start argument, but it goes from 8 to 8 [arange-empty]
    tl.arange(8, 8)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: `full` needs a scalar or a tile of one element, but `int32[4]` has 4 [not-one-element]
    tl.full((8, ), tl.arange(0, 4), tl.int32)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: `tl.tensor` cannot be constructed in a kernel{{.*}}[class-call]
    tl.tensor(1)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: `tl.pointer_type` of `pointer<int32>`; pointers point to scalars [pointer-to]
    tl.pointer_type(tl.pi32_t)
