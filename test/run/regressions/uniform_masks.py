"""Masks that have one value in a chunk of lanes, or seem to: comparisons of remainders and quotients of indices"""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from harness import launch, values


@triton.jit
def joined(x, y, z, n, WIDTH: tl.constexpr, FIRST: tl.constexpr, BLOCK: tl.constexpr):
    """Rows of `FIRST` elements of x and the rest of y."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    row, column = i // WIDTH, i % WIDTH
    is_first = column < FIRST
    left = tl.load(x + row * FIRST + column, is_first & (i < n), 0)
    right = tl.load(y + row * (WIDTH - FIRST) + column - FIRST, (column >= FIRST) & (i < n), 0)
    tl.store(z + i, tl.where(is_first, -left, right), i < n)


@pytest.mark.always("37-256-48-16-float16", "64-1024-5-2-int8", "37-256-64-1-float32", "64-1024-128-96-int64")
@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "int64"])
@pytest.mark.parametrize(
    "width, first", [(64, 32), (64, 16), (64, 8), (48, 16), (40, 16), (96, 64), (5, 2), (64, 1), (128, 96)]
)
@pytest.mark.parametrize("rows, block", [(1, 64), (37, 256), (64, 1024)])
def test_rows_of_two_arrays(dtype, width, first, rows, block, device):
    n = rows * width
    x = values("int8", rows * first, seed=1, low=-50, high=50).astype(dtype)
    y = values("int8", rows * (width - first), seed=2, low=-50, high=50).astype(dtype)
    z = np.zeros(n, dtype)
    if not launch(joined, (-(-n // block),), x, y, z, n, WIDTH=width, FIRST=first, BLOCK=block, device=device):
        return  # compiled only
    expected = np.concatenate([-x.reshape(rows, -1), y.reshape(rows, -1)], 1)
    np.testing.assert_array_equal(z.reshape(rows, width), expected)


@triton.jit
def compared(out, BEGIN: tl.constexpr, KIND: tl.constexpr, LIMIT: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    i = BEGIN + tl.program_id(0) * 64 + at
    if KIND == "remainder":
        truth = i % 64 < LIMIT
    elif KIND == "at least":
        truth = i % 64 >= LIMIT
    elif KIND == "moved remainder":
        truth = i % 64 + 64 < LIMIT
    elif KIND == "two remainders":
        truth = (i % 64 + 32) % 64 < LIMIT
    elif KIND == "product":
        truth = (i * 3) % 64 < LIMIT
    elif KIND == "quotient":
        truth = i // 64 < LIMIT
    elif KIND == "wide":
        truth = (i % 64).to(tl.int64) >= LIMIT
    elif KIND == "wide difference":
        truth = (i * 3).to(tl.int64) - (i * 2).to(tl.int64) >= LIMIT
    elif KIND == "sum":
        truth = i < LIMIT
    else:
        truth = (i % 64 < LIMIT) ^ (i % 48 < 16) & (i >= 1024)
    tl.store(out + tl.program_id(0) * BLOCK + at, tl.where(truth, 3, 5))


def wrapped(value):
    return value.astype(np.int32).astype(np.int64)


def remainder(value, divisor):
    return np.sign(value) * (np.abs(value) % divisor)


def truths(kind, limit, i):
    results = {
        "remainder": lambda: remainder(i, 64) < limit,
        "at least": lambda: remainder(i, 64) >= limit,
        "moved remainder": lambda: remainder(i, 64) + 64 < limit,
        "two remainders": lambda: remainder(remainder(i, 64) + 32, 64) < limit,
        "product": lambda: remainder(wrapped(3 * i), 64) < limit,
        "quotient": lambda: np.sign(i) * (np.abs(i) // 64) < limit,
        "wide": lambda: remainder(i, 64) >= limit,
        "wide difference": lambda: wrapped(3 * i) - wrapped(2 * i) >= limit,
        "sum": lambda: i < limit,
        "several": lambda: (remainder(i, 64) < limit) ^ (remainder(i, 48) < 16) & (i >= 1024),
    }
    return results[kind]()


KINDS = ["remainder", "at least", "moved remainder", "two remainders", "product", "quotient"]
KINDS += ["wide", "wide difference", "sum", "several"]


@pytest.mark.always("remainder-1-7", "remainder-1-715827840", "several--16-2147483548")
@pytest.mark.parametrize("begin", [0, 7, 715827840, 2**31 - 192, 2**31 - 100])
@pytest.mark.parametrize("limit", [1, 16, 32, 96, -16])
@pytest.mark.parametrize("kind", KINDS)
def test_numbers_that_wrap_around(kind, limit, begin, device):
    block, programs = 256, 3
    out = np.zeros((programs, block), np.int32)
    if not launch(compared, (programs,), out, BEGIN=begin, KIND=kind, LIMIT=limit, BLOCK=block, device=device):
        return  # compiled only
    i = wrapped(begin + 64 * np.arange(programs)[:, None] + np.arange(block))
    np.testing.assert_array_equal(out, np.where(truths(kind, limit, i), 3, 5))
