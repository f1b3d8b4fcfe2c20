"""Stores to memory that was loaded before: every load sees the values from before the stores."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from harness import launch

ROWS, COLUMNS = 8, 16


@triton.jit
def change(x_ptr, y_ptr, row, column, limit, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    i = tl.arange(0, ROWS)[:, None]
    j = tl.arange(0, COLUMNS)[None, :]
    mask = (j < limit) & (i >= 0)
    x = tl.load(x_ptr + i * row + j * column, mask=mask, other=0)
    tl.store(y_ptr + i * row + j * column, x * 2 + 1, mask=mask)


def expected(memory, x, y, row, column, limit):
    """The tile is read as a whole, then stored."""
    at = np.arange(ROWS)[:, None] * row + np.arange(limit)[None, :] * column
    want = memory.copy()
    want[y + at] = memory[x + at] * 2 + 1
    return want


# First element and the two strides of the tile, in elements.
LAYOUTS = {
    "row by row": (300, COLUMNS, 1),
    "rows apart": (300, 40, 1),
    "column by column": (300, 1, ROWS),
    "columns apart": (300, 1, 30),
    "upwards": (600, -COLUMNS, 1),
    "backwards": (600, COLUMNS, -1),
    "one row many times": (300, 0, 1),
    "one element": (300, 0, 0),
}
DISTANCES = [0, 1, -1, 3, COLUMNS, -COLUMNS, 127, 128, 129, -127, -128]


@pytest.mark.parametrize("limit", [COLUMNS, 5, 0])
@pytest.mark.parametrize("distance", DISTANCES)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_tile_moves_within_one_array(layout, distance, limit, device):
    if device != "cpu":
        pytest.skip("a GPU's threads store while others still load")
    begin, row, column = LAYOUTS[layout]
    memory = np.arange(1000, dtype=np.int32)
    want = expected(memory, begin, begin + distance, row, column, limit)
    x, y = memory[begin:], memory[begin + distance :]
    launch(change, (1,), x, y, row, column, limit, ROWS, COLUMNS, device=device)
    np.testing.assert_array_equal(memory, want)


def test_pointers_less_than_an_element_apart(device):
    if device != "cpu":
        pytest.skip("a GPU's threads store while others still load")
    memory = np.arange(400, dtype=np.uint8)
    x, y = memory[64:320].view(np.int32), memory[66:322].view(np.int32)
    tile = x.reshape(ROWS // 2, COLUMNS).copy()
    launch(change, (1,), x, y, COLUMNS, 1, COLUMNS, ROWS // 2, COLUMNS, device=device)
    np.testing.assert_array_equal(y, (tile * 2 + 1).reshape(-1))
