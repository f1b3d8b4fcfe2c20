"""Two dots in a loop whose pipelined tiles exceed a GPU's shared memory together: fewer loads are pipelined."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from harness import check, values


@triton.jit
def two_dots(
    a_ptr, b_ptr, c_ptr, d_ptr, x_ptr, y_ptr, K, SUMMED: tl.constexpr, BLOCK: tl.constexpr, DEPTH: tl.constexpr
):
    rows, columns = tl.arange(0, BLOCK)[:, None], tl.arange(0, BLOCK)[None, :]
    k = tl.arange(0, DEPTH)
    x = tl.zeros((BLOCK, BLOCK), tl.float32)
    y = tl.zeros((BLOCK, BLOCK), tl.float32)
    for start in range(0, K, DEPTH):
        a = tl.load(a_ptr + rows * K + start + k[None, :])
        b = tl.load(b_ptr + (start + k)[:, None] * BLOCK + columns)
        c = tl.load(c_ptr + rows * K + start + k[None, :])
        d = tl.load(d_ptr + (start + k)[:, None] * BLOCK + columns)
        x = tl.dot(a, b, x)
        if SUMMED:
            x = tl.dot(c, d, x)
        else:
            y = tl.dot(c, d, y)
    tl.store(x_ptr + rows * BLOCK + columns, x)
    tl.store(y_ptr + rows * BLOCK + columns, y)


@pytest.mark.parametrize("summed", [False, True])
@pytest.mark.parametrize("trips", [0, 1, 2, 5])
@pytest.mark.parametrize("dtype, depth", [("float16", 128), ("float32", 64)])
def test_two_dots(dtype, depth, trips, summed, device):
    block, K = 128, depth * trips
    a, c = (values("int8", block, K, seed=seed).astype(dtype) for seed in (1, 2))
    b, d = (values("int8", K, block, seed=seed).astype(dtype) for seed in (3, 4))
    x, y = a.astype(np.float64) @ b, c.astype(np.float64) @ d
    if summed:
        x, y = x + y, np.zeros_like(y)
    arguments = dict(a_ptr=a, b_ptr=b, c_ptr=c, d_ptr=d, x_ptr=np.ones((block, block), np.float32))
    arguments |= dict(y_ptr=np.ones((block, block), np.float32), K=K, SUMMED=summed, BLOCK=block, DEPTH=depth)
    expected = dict(x_ptr=x.astype(np.float32), y_ptr=y.astype(np.float32))
    check(two_dots, (1,), arguments | dict(num_warps=8), expected, device=device)
