"""arange, full, zeros, zeros_like: extents, types, compile-time and run-time values."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from _pointwise import FLOATS, OF_TL, SIGNED, UNSIGNED, blank
from harness import BFloat16, check


@triton.jit
def write_range(out_ptr, START: tl.constexpr, END: tl.constexpr):
    tl.store(out_ptr + tl.arange(0, END - START), tl.arange(START, END))


@pytest.mark.parametrize("start, count", [(0, 1), (5, 1), (0, 2), (-8, 16), (3, 64), (7, 4096)])
def test_arange(start, count, device):
    expected = np.arange(start, start + count, dtype=np.int32)
    arguments = dict(out_ptr=blank(expected), START=start, END=start + count)
    check(write_range, (1,), arguments, dict(out_ptr=expected), device=device)


def test_arange_near_the_end_of_int32(device):
    expected = np.arange(2**31 - 17, 2**31 - 1, dtype=np.int64).astype(np.int32)
    arguments = dict(out_ptr=blank(expected), START=2**31 - 17, END=2**31 - 1)
    check(write_range, (1,), arguments, dict(out_ptr=expected), device=device)


@triton.jit
def fill(out_ptr, VALUE: tl.constexpr, DTYPE: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.full((BLOCK,), VALUE, DTYPE))
    tl.store(out_ptr + BLOCK + i, tl.zeros([BLOCK], dtype=DTYPE))
    tl.store(out_ptr + 2 * BLOCK + i, tl.zeros_like(tl.full([BLOCK], VALUE, DTYPE)))


@pytest.mark.parametrize("block", [1, 4, 128])
@pytest.mark.parametrize("dtype", ["bool", *SIGNED, *UNSIGNED, *FLOATS, "bfloat16"])
def test_full_and_zeros(dtype, block, device):
    number = 1 if dtype == "bool" else 3 if dtype[0] in "iu" else 2.5
    expected = np.zeros(3 * block, "float32" if dtype == "bfloat16" else dtype)
    expected[:block] = number
    if dtype == "bfloat16":
        expected = BFloat16(expected)
    arguments = dict(out_ptr=blank(expected), VALUE=number, DTYPE=OF_TL[dtype], BLOCK=block)
    check(fill, (1,), arguments, dict(out_ptr=expected), device=device)


@triton.jit
def fill_with_argument(out_ptr, x, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    at = tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    tile = tl.full((ROWS, COLUMNS), x, tl.float32) + tl.zeros((ROWS, COLUMNS), tl.float32)
    tl.store(out_ptr + at, tile + tl.full((), 1, tl.float32))


@pytest.mark.parametrize("x", [3, 2.5, True])
def test_full_of_an_argument(x, device):
    expected = np.full((4, 8), float(x) + 1, np.float32)
    arguments = dict(out_ptr=blank(expected), x=x, ROWS=4, COLUMNS=8)
    check(fill_with_argument, (1,), arguments, dict(out_ptr=expected), device=device)


@triton.jit
def extremes(out_ptr, unsigned_ptr, f_ptr):
    tl.store(out_ptr, tl.full((), -(2**63), tl.int64))
    tl.store(out_ptr + 1, tl.full((), 2**63 - 1, tl.int64))
    tl.store(unsigned_ptr, tl.full((), 2**64 - 1, tl.uint64))
    tl.store(f_ptr, tl.full((), float("inf"), tl.float64))
    tl.store(f_ptr + 1, tl.full((), float("nan"), tl.float64))
    tl.store(f_ptr + 2, tl.full((), 1e-310, tl.float64))


def test_extreme_values(device):
    arguments = dict(
        out_ptr=np.zeros(2, np.int64), unsigned_ptr=np.zeros(1, np.uint64), f_ptr=np.zeros(3)
    )
    expected = dict(
        out_ptr=np.array([-(2**63), 2**63 - 1]),
        unsigned_ptr=np.array([2**64 - 1], np.uint64),
        f_ptr=np.array([np.inf, np.nan, 1e-310]),
    )
    check(extremes, (1,), arguments, expected, device=device)
