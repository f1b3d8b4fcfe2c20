# Invalid tensor descriptors, and accesses that they do not support.
# SPDX-License-Identifier: MIT
# RUN: not nereid compile %s:kernel --signature '*fp32,*i1,*i32,*kfp16,i32,i64' --target cpu --emit ttir -o - 2>&1 | FileCheck %s
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, b_ptr, i_ptr, const_ptr, n, wide):
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: Expected `base` to be a pointer type (but not a block pointer type or others), but it is `int32` [block-base]
    tl.make_tensor_descriptor(n, [n], [1], [16])
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: a tensor descriptor cannot hold int1{{.*}}[descriptor-element]
    tl.make_tensor_descriptor(b_ptr, [n], [1], [16])
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: Expected 1 <= ndim <= 5 but got 6 dimensions{{.*}}[descriptor-rank]
    tl.make_tensor_descriptor(x_ptr, [n] * 6, [n, n, n, n, n, 1], [4] * 6)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: Expected 2 strides but got 1{{.*}}[descriptor-strides]
    tl.make_tensor_descriptor(x_ptr, [n, n], [1], [4, 4])
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: Expected block_shape to have 1 dimensions but got 2{{.*}}[descriptor-block]
    tl.make_tensor_descriptor(x_ptr, [n], [1], [4, 4])
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: Tensor descriptor last dim must be 1 but got int64{{.*}}[descriptor-last-stride]
    tl.make_tensor_descriptor(x_ptr, [n], [wide], [16])
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: Padding option `nan` is not supported for integer blocks{{.*}}[padding-nan]
    tl.make_tensor_descriptor(i_ptr, [n], [1], [16], padding_option="nan")
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: warning: Descriptor block shape must have at least 16 bytes in the last dimension, but got 2 * 4 = 8 bytes{{.*}}[descriptor-small-block]
    tl.make_tensor_descriptor(i_ptr, [n], [1], [2])
    x = tl.make_tensor_descriptor(x_ptr, [n, n], [n, 1], [8, 8])
    i = tl.make_tensor_descriptor(i_ptr, [n, n], [n, 1], [1, 8])
    c = tl.make_tensor_descriptor(const_ptr, [n], [1], [8])
    rows = tl.arange(0, 8)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: expected 2 offsets, but got 1{{.*}}[offset-count]
    x.load([n])
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: Expected int32 scalars as offsets of a descriptor, but got `int64`{{.*}}[descriptor-index]
    x.load([n, wide])
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: `load_tensor_descriptor` needs a tensor descriptor, but got `pointer<fp32>`{{.*}}[needs-descriptor]
    tl.load_tensor_descriptor(x_ptr, [n, n])
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: expected value shape [8, 8], but got [8]{{.*}}[descriptor-value-shape]
    x.store([0, 0], rows)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: Cannot store to a constant pointer, `tensor_descriptor<fp16[8]>` [store-to-const]
    c.store([0], rows)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: atomic_max does not support fp32; it takes uint32, int32, uint64, int64, fp16 and bf16 [atomic-type]
    x.atomic_max([0, 0], x.load([0, 0]))
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: descriptor block must have 1 row, but got [8, 8]{{.*}}[rows-block]
    x.gather(rows, 0)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: descriptor must be 2D, but got [8]{{.*}}[rows-rank]
    c.gather(rows, 0)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: x offsets must be 1D, but got [8, 1]{{.*}}[rows-index-rank]
    i.gather(rows[:, None], 0)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: x offsets must be int16 or int32, but got int64[8]{{.*}}[rows-index-type]
    i.gather(rows.to(tl.int64), 0)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: descriptor gather must have at least 8 rows, but got [4]{{.*}}[rows-count]
    i.gather(tl.arange(0, 4), 0)
    # CHECK: :[[#@LINE+2]]:{{[0-9]+}}: error: descriptor gather of int32 must have at least 8 columns, but got 4{{.*}}[rows-columns]
    narrow = tl.make_tensor_descriptor(i_ptr, [n, n], [n, 1], [1, 4])
    narrow.gather(rows, 0)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: `tensor descriptor` has no attribute `base`{{.*}}[no-attribute]
    x.base
