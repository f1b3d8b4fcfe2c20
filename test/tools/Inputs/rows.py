"""A kernel with a loop over loads."""
# SPDX-License-Identifier: MIT

import triton
import triton.language as tl


@triton.jit
def rows(x, y, n, BLOCK: tl.constexpr):
    total = tl.zeros([BLOCK], tl.float32)
    for row in range(n):
        total += tl.load(x + row * BLOCK + tl.arange(0, BLOCK))
    tl.store(y + tl.arange(0, BLOCK), total)
