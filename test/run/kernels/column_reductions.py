"""Reductions of columns: the kept dimension is contiguous in memory, the reduced one strided."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from harness import check, values

BLOCKS = [(64, 4), (8, 256), (1, 32), (32, 1), (16, 16)]
SHAPES = [(1, 1), (5, 7), (64, 64), (67, 131), (257, 129)]


@triton.jit
def combine_moments(mean_a, m2_a, weight_a, mean_b, m2_b, weight_b):
    delta = mean_b - mean_a
    weight = weight_a + weight_b
    share = tl.where(weight == 0.0, 0.0, weight_b / weight)
    return mean_a + delta * share, m2_a + m2_b + delta * delta * weight_a * share, weight


@triton.jit
def sums_and_extremes(
    x_ptr, sum_ptr, max_ptr, at_ptr, columns, rows, BX: tl.constexpr, BR: tl.constexpr
):
    i = tl.program_id(0) * BX + tl.arange(0, BX)[:, None]
    total = tl.zeros((BX, BR), tl.float32)
    greatest = tl.full((BX, BR), float("-inf"), tl.float32)
    position = tl.full((BX, BR), 2147483647, tl.int32)
    for start in range(0, rows, BR):
        j = start + tl.arange(0, BR)[None, :]
        inside = (i < columns) & (j < rows)
        x = tl.load(x_ptr + i + columns * j, inside, 0.0)
        total = tl.where(inside, total + x, total)
        is_greater = inside & (x > greatest)
        greatest = tl.where(is_greater, x, greatest)
        position = tl.where(is_greater, j, position)
    value, at = tl.reduce((greatest, position), 1, first_greatest)
    tl.store(sum_ptr + i, tl.sum(total, 1)[:, None], i < columns)
    tl.store(max_ptr + i, value[:, None], i < columns)
    tl.store(at_ptr + i, at[:, None], i < columns)


@triton.jit
def first_greatest(value_a, at_a, value_b, at_b):
    is_first = (value_a > value_b) | ((value_a == value_b) & (at_a < at_b))
    return tl.where(is_first, value_a, value_b), tl.where(is_first, at_a, at_b)


@triton.jit
def moments(x_ptr, mean_ptr, variance_ptr, columns, rows, BX: tl.constexpr, BR: tl.constexpr):
    i = tl.program_id(0) * BX + tl.arange(0, BX)[:, None]
    mean = tl.zeros((BX, BR), tl.float32)
    m2 = tl.zeros((BX, BR), tl.float32)
    weight = tl.zeros((BX, BR), tl.float32)
    for start in range(0, rows, BR):
        j = start + tl.arange(0, BR)[None, :]
        inside = (i < columns) & (j < rows)
        x = tl.load(x_ptr + i + columns * j, inside, 0.0)
        new_weight = weight + 1
        delta = x - mean
        new_mean = mean + delta / new_weight
        new_m2 = m2 + delta * (x - new_mean)
        mean = tl.where(inside, new_mean, mean)
        m2 = tl.where(inside, new_m2, m2)
        weight = tl.where(inside, new_weight, weight)
    mean, m2, weight = tl.reduce((mean, m2, weight), 1, combine_moments)
    tl.store(mean_ptr + i, mean[:, None], i < columns)
    tl.store(variance_ptr + i, (m2 / weight)[:, None], i < columns)


@triton.jit
def running_sums(
    x_ptr, out_ptr, columns, rows, BX: tl.constexpr, BR: tl.constexpr, REVERSE: tl.constexpr
):
    i = tl.program_id(0) * BX + tl.arange(0, BX)[:, None]
    j = tl.arange(0, BR)[None, :]
    inside = (i < columns) & (j < rows)
    sums = tl.cumsum(tl.load(x_ptr + i + columns * j, inside, 1.0), 1, reverse=REVERSE)
    tl.store(out_ptr + i + columns * j, sums * 2, inside)


def _name(numbers):
    return "x".join(map(str, numbers))


@pytest.mark.parametrize("block", BLOCKS, ids=_name)
@pytest.mark.parametrize("shape", SHAPES, ids=_name)
def test_sums_and_extremes(block, shape, device):
    rows, columns = shape
    x = values("float32", rows, columns)
    arguments = dict(
        x_ptr=x,
        sum_ptr=np.zeros(columns, np.float32),
        max_ptr=np.zeros(columns, np.float32),
        at_ptr=np.zeros(columns, np.int32),
        columns=columns,
        rows=rows,
        BX=block[0],
        BR=block[1],
    )
    expected = dict(
        sum_ptr=x.sum(0, dtype=np.float64).astype(np.float32),
        max_ptr=x.max(0),
        at_ptr=x.argmax(0).astype(np.int32),
    )
    grid = (triton.cdiv(columns, block[0]),)
    check(sums_and_extremes, grid, arguments, expected, device=device, rtol=1e-5, atol=1e-4)


@pytest.mark.parametrize("block", BLOCKS, ids=_name)
@pytest.mark.parametrize("shape", SHAPES, ids=_name)
def test_moments(block, shape, device):
    rows, columns = shape
    x = values("float32", rows, columns)
    arguments = dict(
        x_ptr=x,
        mean_ptr=np.zeros(columns, np.float32),
        variance_ptr=np.zeros(columns, np.float32),
        columns=columns,
        rows=rows,
        BX=block[0],
        BR=block[1],
    )
    expected = dict(
        mean_ptr=x.mean(0, dtype=np.float64).astype(np.float32),
        variance_ptr=x.var(0, dtype=np.float64).astype(np.float32),
    )
    grid = (triton.cdiv(columns, block[0]),)
    check(moments, grid, arguments, expected, device=device, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("reverse", [False, True], ids=["forward", "reverse"])
@pytest.mark.parametrize("width", [1, 8, 64])
@pytest.mark.parametrize("shape", SHAPES, ids=_name)
def test_running_sums(shape, width, reverse, device):
    rows, columns = shape
    x = values("float32", rows, columns)
    length = triton.next_power_of_2(rows)
    arguments = dict(
        x_ptr=x,
        out_ptr=np.zeros((rows, columns), np.float32),
        columns=columns,
        rows=rows,
        BX=width,
        BR=length,
        REVERSE=reverse,
    )
    whole = np.ones((length, columns))  # masked rows count as ones
    whole[:rows] = x
    sums = whole[::-1].cumsum(0)[::-1] if reverse else whole.cumsum(0)
    expected = dict(out_ptr=(2 * sums[:rows]).astype(np.float32))
    grid = (triton.cdiv(columns, width),)
    check(running_sums, grid, arguments, expected, device=device, rtol=1e-4, atol=1e-3)
