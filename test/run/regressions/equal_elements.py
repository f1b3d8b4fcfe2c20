"""Reductions of tiles whose elements come in runs of equal ones"""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from harness import launch


@triton.jit
def chosen(numbers, out, start, BLOCK: tl.constexpr, WIDTH: tl.constexpr):
    """Of each program the least, the greatest, the sum and the conjunction of what its elements choose."""
    program = tl.program_id(0)
    i = start + program * BLOCK + tl.arange(0, BLOCK)
    number = tl.load(numbers + i // WIDTH)
    tl.store(out + program * 4, tl.min(number, 0))
    tl.store(out + program * 4 + 1, tl.max(number, 0))
    tl.store(out + program * 4 + 2, tl.sum(number, 0))
    tl.store(out + program * 4 + 3, tl.reduce_or((number > 90).to(tl.int32), 0))


@triton.jit
def rows(numbers, out, BLOCK: tl.constexpr, WIDTH: tl.constexpr, ROWS: tl.constexpr):
    """The greatest of each row of a tile whose rows have equal elements."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, BLOCK)
    number = tl.load(numbers + row[:, None] * 7 + column[None, :] // WIDTH)
    tl.store(out + row, tl.max(number, 1))


@pytest.mark.parametrize("start", [0, 3, 64])
@pytest.mark.parametrize("width", [1, 7, 8, 56, 64, 100, 256, 1024, 4096])
def test_of_programs(device, width, start):
    block, programs = 512, 5
    rng = np.random.default_rng(width + start)
    numbers = rng.integers(-100, 100, 1 + (start + block * programs) // width, dtype=np.int32)
    out = np.zeros((programs, 4), np.int32)
    launch(chosen, (programs,), numbers, out, start, BLOCK=block, WIDTH=width, device=device)
    tiles = numbers[(start + np.arange(block * programs)) // width].reshape(programs, block)
    expected = np.stack(
        [tiles.min(1), tiles.max(1), tiles.sum(1), (tiles > 90).any(1).astype(np.int32)], 1
    )
    np.testing.assert_array_equal(out, expected)


@pytest.mark.parametrize("width", [1, 8, 48, 64])
def test_of_rows(device, width):
    block, count = 64, 8
    rng = np.random.default_rng(width)
    numbers = rng.integers(-100, 100, (2 * count, 7), dtype=np.int32)
    numbers = np.concatenate([numbers.ravel(), rng.integers(-100, 100, 64, dtype=np.int32)])
    out = np.zeros(2 * count, np.int32)
    launch(rows, (2,), numbers, out, BLOCK=block, WIDTH=width, ROWS=count, device=device)
    index = np.arange(2 * count)[:, None] * 7 + np.arange(block)[None, :] // width
    np.testing.assert_array_equal(out, numbers[index].max(1))
