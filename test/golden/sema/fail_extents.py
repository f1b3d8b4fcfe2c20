# Extents of tiles: GPUs take powers of two, the CPU takes any; no tile is empty or too large.
# SPDX-License-Identifier: MIT
# RUN: not nereid compile %s:kernel --signature '*fp32' --target cuda:90 --emit ttir -o - 2>&1 | FileCheck %s --check-prefixes=CHECK,GPU
# RUN: not nereid compile %s:kernel --signature '*fp32' --target cpu --emit ttir -o - 2>&1 | FileCheck %s --check-prefixes=CHECK,CPU
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr):
    # GPU: :[[#@LINE+2]]:5: error: arange's range must be a power of 2, but [0, 1000) has 1000 elements; take 1024 and mask the rest [arange-power-of-two]
    # CPU-NOT: arange
    tl.arange(0, 1000)
    # GPU: :[[#@LINE+2]]:13: error: Shape element 1 must be a power of 2, but it is 5; {{.*}}[extent-power-of-two]
    # CPU-NOT: Shape element 1
    tl.full((4, 5), 0, tl.int32)
    # CHECK: :[[#@LINE+1]]:13: error: Shape element 0 must be positive, but it is 0; tiles cannot be empty [extent-positive]
    tl.full((0, 4), 0, tl.int32)
    # CHECK: :[[#@LINE+1]]:13: error: numel (2097152) exceeds triton maximum tensor numel (1048576); the shape is [2048, 1024], use a smaller block [tile-too-large]
    tl.full((2048, 1024), 0, tl.int32)
    # CHECK: :[[#@LINE+1]]:33: error: numel (4194304) exceeds triton maximum tensor numel (1048576); {{.*}}[tile-too-large]
    tl.arange(0, 2048)[:, None] + tl.arange(0, 2048)[None, :]
