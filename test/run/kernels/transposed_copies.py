"""Copies that swap the contiguous dimension of memory, with masks, conversions and several operands."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from harness import check, values

SHAPES = [(1, 1), (3, 130), (64, 64), (67, 33)]
BLOCKS = [(16, 16), (32, 64), (8, 128), (64, 4)]


@triton.jit
def scaled_transpose(x_ptr, z_ptr, out_ptr, rows, columns, BX: tl.constexpr, BY: tl.constexpr):
    i = tl.program_id(0) * BX + tl.arange(0, BX)[:, None]
    j = tl.program_id(1) * BY + tl.arange(0, BY)[None, :]
    inside = (i < rows) & (j < columns)
    x = tl.load(x_ptr + i + j * rows, inside, 1)  # columns of memory
    z = tl.load(z_ptr + i * columns + j, inside, 0)  # rows of memory
    tl.store(out_ptr + i * columns + j, x * 2 + z, inside)


@triton.jit
def transpose_in_place(x_ptr, N: tl.constexpr):
    i = tl.arange(0, N)[:, None]
    j = tl.arange(0, N)[None, :]
    tl.store(x_ptr + i * N + j, tl.load(x_ptr + i + j * N))


def _name(numbers):
    return "x".join(map(str, numbers))


@pytest.mark.parametrize("dtype", ["float32", "float16", "int8", "int64"])
@pytest.mark.parametrize("block", BLOCKS, ids=_name)
@pytest.mark.parametrize("shape", SHAPES, ids=_name)
def test_scaled_transpose(shape, block, dtype, device):
    rows, columns = shape
    x = values(dtype, columns, rows)
    z = values(dtype, rows, columns, seed=1)
    arguments = dict(
        x_ptr=x,
        z_ptr=z,
        out_ptr=np.zeros((rows, columns), dtype),
        rows=rows,
        columns=columns,
        BX=block[0],
        BY=block[1],
    )
    expected = dict(out_ptr=x.T * 2 + z)
    grid = (triton.cdiv(rows, block[0]), triton.cdiv(columns, block[1]))
    check(scaled_transpose, grid, arguments, expected, device=device)


@pytest.mark.parametrize("size", [8, 16, 64])
def test_transpose_in_place(size, device):
    x = values("float32", size, size)
    arguments = dict(x_ptr=x, N=size)
    check(transpose_in_place, (1,), arguments, dict(x_ptr=x.T.copy()), device=device)
