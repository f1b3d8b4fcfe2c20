"""Sums over rows of a tile whose mask combines prefix conditions and others."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from harness import check


@triton.jit
def row_sums(x_ptr, out_ptr, begin, rows, columns, OTHER: tl.constexpr):
    r = begin + tl.arange(0, 4).to(tl.int64)
    c = tl.arange(0, 32).to(tl.int64)
    mask = (r >= 0)[:, None] & (r < rows)[:, None] & (c >= 3)[None, :] & (c < columns)[None, :]
    tile = tl.load(x_ptr + (r * 32)[:, None] + c[None, :], mask, OTHER)
    tl.store(out_ptr + tl.arange(0, 4), tl.sum(tile, 1))
    tl.store(out_ptr + 4 + tl.arange(0, 4), tl.max(tile, 1))


@pytest.mark.parametrize("other", [0.0, 5.0])
@pytest.mark.parametrize("columns", [32, 8, 5, 0])
@pytest.mark.parametrize("begin", [0, 4])
def test_rows_of_partly_loaded_tiles(begin, columns, other, device):
    x = np.arange(256, dtype=np.float32).reshape(8, 32)
    rows = begin + 3
    tile = np.full((4, 32), other, np.float32)
    loaded = slice(3, max(3, columns))
    tile[:3, loaded] = x[begin : begin + 3, loaded]
    expected = np.concatenate([tile.sum(1), tile.max(1)])
    arguments = dict(x_ptr=x, out_ptr=np.zeros(8, np.float32), begin=begin, rows=rows)
    arguments |= dict(columns=columns, OTHER=other)
    check(row_sums, (1,), arguments, dict(out_ptr=expected), device=device)
