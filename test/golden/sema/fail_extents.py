# Extents of tiles: any positive one; no tile is empty or too large.
# SPDX-License-Identifier: MIT
# RUN: not nereid compile %s:kernel --signature '*fp32' --target cuda:90 --emit ttir -o - 2>&1 | FileCheck %s
# RUN: not nereid compile %s:kernel --signature '*fp32' --target cpu --emit ttir -o - 2>&1 | FileCheck %s
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    # CHECK-NOT: power
    tl.arange(0, 1000)
    tl.full((4, 5), 0, tl.int32)
    # CHECK: :[[#@LINE+1]]:13: error: Shape element 0 must be positive, but it is 0; tiles cannot be empty [extent-positive]
    tl.full((0, 4), 0, tl.int32)
    # CHECK: :[[#@LINE+1]]:13: error: numel (2097152) exceeds triton maximum tensor numel (1048576); the shape is [2048, 1024], use a smaller block [tile-too-large]
    tl.full((2048, 1024), 0, tl.int32)
    # CHECK: :[[#@LINE+1]]:33: error: numel (4194304) exceeds triton maximum tensor numel (1048576); {{.*}}[tile-too-large]
    tl.arange(0, 2048)[:, None] + tl.arange(0, 2048)[None, :]
