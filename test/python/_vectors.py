"""A kernel that adds vectors, and arrays for it."""
# SPDX-License-Identifier: MIT

import numpy as np
import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr = 64):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    tl.store(
        out_ptr + offsets,
        tl.load(x_ptr + offsets, mask=mask) + tl.load(y_ptr + offsets, mask=mask),
        mask=mask,
    )


def arrays(n=100):
    x = np.arange(n, dtype=np.float32)
    return x, 2 * x, np.full(n, -1, np.float32)
