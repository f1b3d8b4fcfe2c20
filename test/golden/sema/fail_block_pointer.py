# Block pointers with inconsistent parts, and accesses that they do not support.
# SPDX-License-Identifier: MIT
# RUN: not nereid compile %s:kernel --signature '*fp32,*i32,i32,fp32' --target cpu --emit ttir -o - 2>&1 | FileCheck %s
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, i_ptr, n, f):
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: Expected `base` to be a pointer type (but not a block pointer type or others), but it is `int32` [block-base]
    tl.make_block_ptr(n, (n,), (1,), (0,), (16,), (0,))
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: `shape` of `tl.make_block_ptr` takes ints and integer scalars, but one of them is `fp32` [integer-list]
    tl.make_block_ptr(x_ptr, (f,), (1,), (0,), (16,), (0,))
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: Expected shape/strides/offsets/block_shape to have the same length, but they have 2, 1, 1 and 1 [block-ranks]
    tl.make_block_ptr(x_ptr, (n, n), (1,), (0,), (16,), (0,))
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: {{.*}}[extent-positive]
    tl.make_block_ptr(x_ptr, (n,), (1,), (0,), (0,), (0,))
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: Expected a permutation of (0, 1, ..., len(order)-1) in order, but it is [1] for 1 dimensions [block-order]
    tl.make_block_ptr(x_ptr, (n,), (1,), (0,), (16,), (1,))
    x = tl.make_block_ptr(x_ptr, (n,), (1,), (0,), (16,), (0,))
    i = tl.make_block_ptr(i_ptr, (n,), (1,), (0,), (16,), (0,))
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: expected 1 offsets, but got 2{{.*}}[offset-count]
    x = tl.advance(x, (0, 1))
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: `tl.advance` moves block pointers, but got `pointer<fp32>`{{.*}}[needs-block-pointer]
    y = tl.advance(x_ptr, (1,))
    x = tl.make_block_ptr(x_ptr, (n,), (1,), (0,), (16,), (0,))
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: `mask` and `other` arguments cannot be specified for loading block pointers{{.*}}[block-pointer-mask]
    tl.load(x, mask=n > 0)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: `mask` argument cannot be specified for storing block pointers{{.*}}[block-pointer-mask]
    tl.store(x, 1.0, mask=n > 0)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: `boundary_check` names dimension 1, but the block has 1{{.*}}[boundary-check-range]
    tl.load(x, boundary_check=(1,))
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: Duplicate dimension in `boundary_check`: 0{{.*}}[boundary-check-twice]
    tl.load(x, boundary_check=(0, 0))
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: Padding option one not supported{{.*}}[padding]
    tl.load(x, boundary_check=(0,), padding_option="one")
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: Padding option `nan` is not supported for integer blocks, but the elements are int32{{.*}}[padding-nan]
    tl.load(i, boundary_check=(0,), padding_option="nan")
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: Cannot make_shape_compatible: incompatible dimensions at index 0: 16 and 32{{.*}}[shape-mismatch]
    tl.store(x, tl.zeros((32,), tl.float32))
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: The result of {{.*}}advance{{.*}} is not being used. A block pointer is not moved in place; assign what `advance` gives. [result-unused]
    tl.advance(x, (1,))
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: {{.*}}`block pointer`{{.*}}`base_ptr`
    x.base_ptr
