"""Reductions of tiles whose elements come in runs of equal ones"""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from harness import launch


@triton.jit
def chosen(
    numbers, out, START: tl.constexpr, KIND: tl.constexpr, BLOCK: tl.constexpr, WIDTH: tl.constexpr
):
    """What each program combines of the numbers that its elements choose."""
    program = tl.program_id(0)
    number = tl.load(numbers + (START + program * BLOCK + tl.arange(0, BLOCK)) // WIDTH)
    if KIND == "least":
        result = tl.min(number, 0)
    elif KIND == "greatest":
        result = tl.max(number, 0)
    elif KIND == "sum":
        result = tl.sum(number, 0)
    else:
        result = tl.reduce_or((number > 90).to(tl.int32), 0)
    tl.store(out + program, result)


@triton.jit
def rows(numbers, out, BLOCK: tl.constexpr, WIDTH: tl.constexpr, ROWS: tl.constexpr):
    """The greatest of each row of a tile whose rows have equal elements."""
    row = tl.program_id(0) * ROWS + tl.arange(0, ROWS)
    column = tl.arange(0, BLOCK)
    number = tl.load(numbers + row[:, None] * 7 + column[None, :] // WIDTH)
    tl.store(out + row, tl.max(number, 1))


@triton.jit
def greatest_quotient(out, START: tl.constexpr, BLOCK: tl.constexpr):
    """Of numbers that wrap around: no number is an address."""
    i = START + tl.program_id(0) * 64 + tl.arange(0, BLOCK)
    tl.store(out + tl.program_id(0), tl.max(i // 64, 0))


COMBINE = {
    "least": lambda tiles: tiles.min(1),
    "greatest": lambda tiles: tiles.max(1),
    "sum": lambda tiles: tiles.sum(1),
    "any": lambda tiles: (tiles > 90).any(1),
}


@pytest.mark.parametrize("dtype", ["int32", "float32"])
@pytest.mark.parametrize("start", [0, 3, 64])
@pytest.mark.parametrize("width", [1, 7, 8, 56, 64, 100, 256, 1024, 4096])
@pytest.mark.parametrize("kind", COMBINE)
def test_of_programs(kind, width, start, dtype, device):
    block, programs = 512, 5
    rng = np.random.default_rng(width + start)
    numbers = rng.integers(-100, 100, 1 + (start + block * programs) // width).astype(dtype)
    if dtype == "float32" and kind in ("least", "greatest"):
        numbers[::3] = np.nan  # which minimum and maximum leave out
    out = np.zeros(programs, dtype)
    if not launch(chosen, (programs,), numbers, out, START=start, KIND=kind, BLOCK=block, WIDTH=width, device=device):
        return  # compiled only
    tiles = numbers[(start + np.arange(block * programs)) // width].reshape(programs, block)
    if dtype == "float32" and kind in ("least", "greatest"):
        combine = np.fmin if kind == "least" else np.fmax
        np.testing.assert_array_equal(out, combine.reduce(tiles, 1))
    else:
        np.testing.assert_array_equal(out, COMBINE[kind](tiles).astype(dtype))


@pytest.mark.parametrize("width", [1, 8, 48, 64])
def test_of_rows(width, device):
    block, count = 64, 8
    rng = np.random.default_rng(width)
    numbers = rng.integers(-100, 100, 2 * count * 7 + block, dtype=np.int32)
    out = np.zeros(2 * count, np.int32)
    if not launch(rows, (2,), numbers, out, BLOCK=block, WIDTH=width, ROWS=count, device=device):
        return  # compiled only
    index = np.arange(2 * count)[:, None] * 7 + np.arange(block)[None, :] // width
    np.testing.assert_array_equal(out, numbers[index].max(1))


@pytest.mark.parametrize("start", [0, 2**31 - 256, 2**31 - 64])
def test_of_numbers_that_wrap_around(start, device):
    block, programs = 256, 4
    out = np.zeros(programs, np.int32)
    if not launch(greatest_quotient, (programs,), out, START=start, BLOCK=block, device=device):
        return  # compiled only
    i = (start + 64 * np.arange(programs)[:, None] + np.arange(block)).astype(np.int32).astype(np.int64)
    np.testing.assert_array_equal(out, (np.sign(i) * (np.abs(i) // 64)).max(1))
