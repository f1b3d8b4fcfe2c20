"""Scans of tiles that get the layout of a dot's operand, where the bits of a lane are not in the order of the axis."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from harness import launch, values


@triton.jit
def scanned(x, y, o, REVERSE: tl.constexpr, N: tl.constexpr, ROWS: tl.constexpr):
    i = tl.arange(0, N)
    sums = tl.cumsum(tl.load(x + i), 0, reverse=REVERSE)
    tile = tl.reshape(sums, (ROWS, N // ROWS))
    r = tl.arange(0, ROWS)
    tl.store(o + r[:, None] * ROWS + r[None, :], tl.dot(tile, tl.trans(tile), input_precision="ieee"))
    tl.store(y + i, sums)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("rows, n", [(8, 64), (16, 256), (16, 1024), (32, 1024)])
@pytest.mark.parametrize("reverse", [False, True])
def test_a_scan_that_a_dot_reads(dtype, rows, n, reverse, device):
    x = values("int8", n, seed=1, low=-1, high=2).astype(dtype)
    y, o = np.zeros_like(x), np.zeros((rows, rows), "float64" if dtype == "float64" else "float32")
    if launch(scanned, (1,), x, y, o, reverse, n, rows, device=device):
        sums = np.cumsum(x[::-1])[::-1] if reverse else np.cumsum(x)
        tile = sums.astype(np.float64).reshape(rows, n // rows)
        assert (y == sums).all()
        assert (o == tile @ tile.T).all()
