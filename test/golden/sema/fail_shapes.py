# Invalid shapes, and shapes that do not fit together.
# SPDX-License-Identifier: MIT
# RUN: not nereid compile %s:kernel --signature '*fp32' --target cpu --emit ttir -o - 2>&1 | FileCheck %s
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    small = tl.arange(0, 16)
    large = tl.arange(0, 32)
    wide = tl.arange(0, 65536)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: numel (4294967296) exceeds triton maximum tensor numel (1048576){{.*}}[tile-too-large]
    wide[:, None] + wide[None, :]
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: invalid axis 3 of a tile of 2 dimensions; it must be in [-2, 1] [axis-range]
    tl.expand_dims(small, 3)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: Cannot make_shape_compatible: incompatible dimensions at index 0: 16 and 32; the shapes are [16] and [32] [shape-mismatch]
    small + large
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: {{.*}}at index 1: 8 and 16; the shapes are [16, 8] and [16]; index the tile of shape [16] with [:, None] to align it [shape-mismatch]
    tl.zeros((16, 8), tl.int32) + small
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: {{.*}}the shapes are [4, 16, 8] and [4, 16]; index the tile of shape [4, 16] with [:, :, None] to align it [shape-mismatch]
    tl.zeros((4, 16, 8), tl.int32) + tl.zeros((4, 16), tl.int32)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: {{.*}}the shapes are [4, 8] and [16] [shape-mismatch]
    tl.zeros((4, 8), tl.int32) + small
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: Cannot broadcast, rank mismatch: [16], [4, 16]{{.*}}[broadcast-rank]
    tl.broadcast_to(small, (4, 16))
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: Cannot broadcast, the expanded size of the tensor (32) must match the existing size (16) at non-singleton dimension 0: [16], [32] [broadcast-extent]
    tl.broadcast_to(small, 32)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: expand_dims received duplicate axes, normalized axes = [2, 2]{{.*}}[duplicate-axis]
    tl.expand_dims(small, (2, -1))
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: reshape() cannot change total number of elements in tensor: [16] has 16, [4, 8] has 32 [reshape-count]
    small.reshape(4, 8)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: permute dims [0, 0] must be a permutation of the 2 dimensions of `int32[16, 1]`{{.*}}[not-a-permutation]
    small[:, None].permute(0, 0)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: trans without dims swaps the last two dimensions, but `int32[16]` has fewer [trans-rank]
    tl.trans(small)
