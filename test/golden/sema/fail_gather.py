# Gathers and histograms of operands that do not fit.
# SPDX-License-Identifier: MIT
# RUN: not nereid compile %s:kernel --signature '*fp32,i32' --target cpu --emit ttir -o - 2>&1 | FileCheck %s
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    i = tl.arange(0, 16)
    x = tl.load(x_ptr + i[:, None] * 4 + tl.arange(0, 4)[None, :])
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: index must be an integer tensor, but it is `fp32[16, 4]`; cast it with `.to(tl.int32)` [gather-index]
    tl.gather(x, x, 0)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: gather needs a tile as its source, but it is `int32` [gather-source]
    tl.gather(n, i, 0)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: source and index tensors must have the same rank, but they are `fp32[16, 4]` and `int32[16]` [gather-rank]
    tl.gather(x, i, 0)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: invalid axis 2 of a tile of 2 dimensions; it must be in [-2, 1] [axis-range]
    tl.gather(x, i[:, None], 2)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: `gather` index has shape [16, 1], source has shape [16, 4]; dimension 1 must match [gather-shape]
    tl.gather(x, i[:, None], 0)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: histogram only supports 1D input, but it is `int32[16, 1]`; flatten it with `tl.ravel` [histogram-rank]
    tl.histogram(i[:, None], 4)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: histogram only supports integer input, but it is `fp32[16]`; cast it with `.to(tl.int32)` [histogram-type]
    tl.histogram(i.to(tl.float32), 4)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: Mask must have boolean scalar type, but it is `int32[16]`; compare it with something [mask-not-bool]
    tl.histogram(i, 4, mask=i)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: the mask of a histogram must have the input's shape [16], but it is `int1[16, 4]` [histogram-mask]
    tl.histogram(i, 4, mask=x < 1)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: {{.*}}numel (2097152) exceeds triton maximum tensor numel (1048576){{.*}}[tile-too-large]
    tl.histogram(i, 2097152)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: index must be an integer tensor, but it is `fp32[16, 4]`; cast it with `.to(tl.int32)` [gather-index]
    tl.scatter_add(x, x, 16)
