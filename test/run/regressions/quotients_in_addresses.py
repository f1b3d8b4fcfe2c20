"""Addresses from quotients and remainders of an index: chunks may be regular, end at a row's end, or begin below 0."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from harness import launch, values


@triton.jit
def copied_rows(x, y, n, shift, BLOCK: tl.constexpr, WIDTH: tl.constexpr, PITCH: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tile = tl.load(x + (i + shift) // WIDTH * PITCH + (i + shift) % WIDTH, i < n)
    tl.store(y + i // WIDTH * PITCH + i % WIDTH, tile, i < n)


@triton.jit
def constant_shift(x, y, BLOCK: tl.constexpr, WIDTH: tl.constexpr, SHIFT: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    at = i + SHIFT
    tl.store(y + i, tl.load(x + 64 + at // WIDTH * 3 + at % WIDTH))


@triton.jit
def numbered_rows(numbers, x, y, n, BLOCK: tl.constexpr, WIDTH: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    row = tl.load(numbers + i // WIDTH, i < n, 0)
    row = tl.where(row < 0, row + 5, row)
    tl.store(y + i, tl.load(x + row * WIDTH + i % WIDTH, i < n) + row, i < n)


@triton.jit
def sums(x, y, BLOCK: tl.constexpr, STEP: tl.constexpr, LENGTH: tl.constexpr, WIDTH: tl.constexpr):
    row = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)[:, None]
    total = tl.zeros([BLOCK, STEP], tl.float32)
    for start in range(0, LENGTH, STEP):
        j = start + tl.arange(0, STEP)[None, :]
        total += tl.load(x + row * 2 * LENGTH + j // WIDTH * 2 * WIDTH + j % WIDTH, j < LENGTH, 0.0)
    tl.store(y + row, tl.sum(total, 1)[:, None])


WIDTHS = [1, 7, 8, 16, 24, 48, 56, 64, 100, 256, 768, 2000]


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("dtype", ["float32", "float16", "int64"])
def test_rows_of_another_pitch(dtype, width, device):
    pitch, n = width + 5, 1990
    for shift in (0, 3, 16):
        x = values(dtype, (n + shift) // width + 1, pitch)
        y = np.zeros_like(x)
        expected = np.zeros(y.size, dtype)
        i = np.arange(n)
        source = (i + shift) // width * pitch + (i + shift) % width
        expected[i // width * pitch + i % width] = x.reshape(-1)[source]
        if launch(
            copied_rows, (2,), x, y, n, shift, BLOCK=1024, WIDTH=width, PITCH=pitch, device=device
        ):
            np.testing.assert_array_equal(y.reshape(-1), expected)


@pytest.mark.parametrize("shift", [-40, -32, -8, 0, 5, 32])
@pytest.mark.parametrize("width", [8, 32, 48])
def test_an_index_that_begins_below_zero(width, shift, device):
    x, y = values("float32", 4096), np.zeros(256, "float32")
    at = np.arange(256) + shift
    quotient = np.trunc(at / width).astype(int)
    if launch(constant_shift, (2,), x, y, BLOCK=128, WIDTH=width, SHIFT=shift, device=device):
        np.testing.assert_array_equal(y, x[64 + quotient * 3 + at - quotient * width])


@pytest.mark.parametrize("width", WIDTHS)
def test_rows_by_number(width, device):
    n = 1990
    rows = n // width + 1
    numbers = (np.arange(rows) * 3 % 10 - 5).astype(np.int64)
    x, y = values("float32", 5, width), np.zeros(n, "float32")
    i = np.arange(n)
    row = numbers[i // width] % 5
    if launch(numbered_rows, (2,), numbers, x, y, n, BLOCK=1024, WIDTH=width, device=device):
        np.testing.assert_array_equal(y, x[row, i % width] + row.astype("float32"))


@pytest.mark.parametrize("width", [8, 48, 64, 100])
@pytest.mark.parametrize("block", [1, 4])
def test_sums_in_a_loop(block, width, device):
    length = 4 * width
    x, y = values("float32", 8, 2 * length), np.zeros(8, "float32")
    expected = x.reshape(8, 4, 2, width)[:, :, 0].sum((1, 2))
    constants = dict(BLOCK=block, STEP=64, LENGTH=length, WIDTH=width)
    if launch(sums, (8 // block,), x, y, **constants, device=device):
        np.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-4)
