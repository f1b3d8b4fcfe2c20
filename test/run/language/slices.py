"""Elements and slices of tiles by compile-time integers and slices."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from harness import check, values


@triton.jit
def vector(x_ptr, out_ptr, picked_ptr, N: tl.constexpr, A: tl.constexpr, B: tl.constexpr, S: tl.constexpr, M: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    tl.store(out_ptr, x[3])
    tl.store(out_ptr + 1, x[-1])
    tl.store(picked_ptr + tl.arange(0, M), x[A:B:S] * 2)


@pytest.mark.parametrize("dtype", ["float32", "int8"])
@pytest.mark.parametrize("bounds", [(0, 8, 1), (None, None, 2), (None, None, -1), (-4, None, 1), (15, 1, -3), (5, 6, 1)])
def test_vector(bounds, dtype, device):
    x = values(dtype, 16, low=-50, high=50)
    part = x[slice(*bounds)] * 2
    arguments = dict(
        x_ptr=x, out_ptr=np.zeros(2, dtype), picked_ptr=np.zeros(len(part), dtype),
        N=16, A=bounds[0], B=bounds[1], S=bounds[2], M=len(part),
    )  # fmt: skip
    expected = dict(out_ptr=x[[3, -1]], picked_ptr=part.astype(dtype))
    check(vector, (1,), arguments, expected, device=device)


@triton.jit
def matrix(x_ptr, row_ptr, column_ptr, block_ptr, one_ptr):
    i = tl.arange(0, 8)[:, None]
    j = tl.arange(0, 4)[None, :]
    x = tl.load(x_ptr + i * 4 + j)
    tl.store(row_ptr + tl.arange(0, 4), x[2])
    tl.store(column_ptr + tl.arange(0, 8)[:, None], x[:, 1, None])
    tl.store(block_ptr + tl.arange(0, 4)[:, None] * 2 + tl.arange(0, 2)[None, :], x[1::2, -2:])
    tl.store(one_ptr, x[7, 0] + x[0][3])


def test_matrix(device):
    x = values("float32", 8, 4)
    arguments = dict(
        x_ptr=x,
        row_ptr=np.zeros(4, np.float32),
        column_ptr=np.zeros(8, np.float32),
        block_ptr=np.zeros((4, 2), np.float32),
        one_ptr=np.zeros(1, np.float32),
    )
    expected = dict(row_ptr=x[2], column_ptr=x[:, 1], block_ptr=x[1::2, -2:], one_ptr=x[7:8, 0] + x[0, 3])
    check(matrix, (1,), arguments, expected, device=device)
