"""Matrices packed for dots of narrow types, and their decoding in a kernel."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from harness import check, values


@triton.jit
def decode(packed_ptr, out_ptr, ROWS: tl.constexpr, COLUMNS: tl.constexpr, COUNT: tl.constexpr):
    at = tl.arange(0, ROWS)[:, None] * (COLUMNS * COUNT) + tl.arange(0, COLUMNS * COUNT)[None, :]
    matrix = tl.extra.cpu.vnni_decode(tl.load(packed_ptr + at))
    at = tl.arange(0, ROWS * COUNT)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    tl.store(out_ptr + at, matrix)


@pytest.mark.parametrize("rows, columns", [(1, 1), (8, 4), (2, 16)])
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "float16"])
def test_decoding(dtype, rows, columns, device):
    count = 4 // np.dtype(dtype).itemsize  # rows of the matrix per row of the packed one
    matrix = values(dtype, rows * count, columns, low=0, high=100)
    packed = np.zeros((rows, columns * count), dtype)
    for k in range(rows * count):
        for n in range(columns):
            packed[k // count, n * count + k % count] = matrix[k, n]
    arguments = dict(packed_ptr=packed, out_ptr=np.zeros_like(matrix))
    arguments |= dict(ROWS=rows, COLUMNS=columns, COUNT=count)
    check(decode, (1,), arguments, dict(out_ptr=matrix), device=device)
