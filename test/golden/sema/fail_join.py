# Tiles that cannot be joined or split.
# SPDX-License-Identifier: MIT
# RUN: not nereid compile %s:kernel --signature '*fp32,i32' --target cpu --emit ttir -o - 2>&1 | FileCheck %s
import triton
import triton.language as tl


@triton.jit
def kernel(x_ptr, n):
    x = tl.arange(0, 16)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: `join` needs operands of one element type, but they are `int32[16]` and `fp32[16]`; cast one of them [join-types]
    tl.join(x, x.to(tl.float32))
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: split needs a last dimension of extent 2, but the operand is `int32[16]`; reshape it first [split-extent]
    tl.split(x)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: `cat` needs operands of one element type, but they are `int32[16]` and `fp32[16]`; cast one of them [join-types]
    tl.cat(x, x.to(tl.float32))
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: cat needs tiles of equal shape, but they are `int32[16]` and `int32[8]` [cat-shapes]
    tl.cat(x, tl.arange(0, 8))
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: cat needs tiles of equal shape and one dimension with `can_reorder`, but they are `int32[1, 16]` and `int32[1, 16]` [cat-shapes]
    tl.cat(x[None, :], x[None, :], can_reorder=True)
    # CHECK: :[[#@LINE+1]]:{{[0-9]+}}: error: invalid axis 1 of a tile of 1 dimensions; it must be in [-1, 0] [axis-range]
    tl.cat(x, x, dim=1)
