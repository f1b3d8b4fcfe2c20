"""The first NaN computed from numbers: operation, operands, location."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from _faults import expect, fault, ramp

MARKS = dict(code="sanitize-nan")


@triton.jit
def normalise(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * n + offsets, mask=offsets < n, other=0.0)
    largest = tl.max(x)
    y = x / largest
    tl.store(out_ptr + row * n + offsets, tl.exp(y) * 2, mask=offsets < n)


def test_zero_by_zero(device):
    x = ramp(3, 6)
    x[1] = 0
    report = fault(normalise, (3,), x, ramp(3, 6), 6, 8, sanitize="nan", device=device)
    expect(report, normalise, "x / largest", "0 / 0 is NaN", program=(1, 0, 0), tile=((0,), (8,)), **MARKS)


def test_lanes_out_of_the_mask_may_hold_nan(device):
    """0 / 0 occurs only in lanes that are not stored."""
    if device != "cpu":
        pytest.skip("the sanitizer runs on the CPU")
    x, out = ramp(1, 6) - 10, ramp(1, 6)
    shifted[(1,)](x, out, 6, 8, sanitize="bounds,uninit,overflow,nan")
    assert (out == 1).all()


@triton.jit
def shifted(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n, other=0.0)
    tl.store(out_ptr + offsets, x / x, mask=offsets < n)


@triton.jit
def difference(x_ptr, y_ptr, out_ptr, HEIGHT: tl.constexpr, WIDTH: tl.constexpr):
    offsets = tl.arange(0, HEIGHT)[:, None] * WIDTH + tl.arange(0, WIDTH)[None, :]
    x = tl.load(x_ptr + offsets)
    y = tl.load(y_ptr + offsets)
    tl.store(out_ptr + offsets, tl.exp(x - y))


def test_infinity_minus_infinity(device):
    x, y = ramp(4, 8), ramp(4, 8)
    x[0, 3], y[0, 5] = np.nan, np.nan  # NaN in the input is not a fault
    x[2, 6] = y[2, 6] = -np.inf
    report = fault(difference, (1,), x, y, ramp(4, 8), 4, 8, sanitize="nan", device=device)
    expect(report, difference, "x - y", "-inf - -inf is NaN", program=(0, 0, 0), tile=((2, 6), (4, 8)), **MARKS)


@triton.jit
def roots(x_ptr, out_ptr, BLOCK: tl.constexpr, LOGARITHM: tl.constexpr):
    offsets = tl.program_id(2) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets)
    if LOGARITHM:
        y = tl.log(x - 5)
    else:
        y = tl.sqrt(x - 5)
    tl.store(out_ptr + offsets, y)


@pytest.mark.parametrize("logarithm", [False, True])
def test_of_a_negative_number(logarithm, device):
    x = ramp(8) + 10
    x[6] = 3.5
    report = fault(roots, (1, 1, 2), x, ramp(8), 4, logarithm, sanitize="nan", device=device)
    expect(report, roots, "tl.log(" if logarithm else "tl.sqrt(", "(-1.5) is NaN", program=(0, 0, 1),
           tile=((2,), (4,)), **MARKS)  # fmt: skip


@triton.jit
def dot_kernel(a_ptr, b_ptr, c_ptr, ITERATIONS: tl.constexpr):
    rows, columns = tl.arange(0, 16)[:, None], tl.arange(0, 16)[None, :]
    c = tl.zeros((16, 16), tl.float32)
    for iteration in range(ITERATIONS):
        a = tl.load(a_ptr + iteration * 256 + rows * 16 + columns)
        b = tl.load(b_ptr + iteration * 256 + rows * 16 + columns)
        c = tl.dot(a, b, c)
    tl.store(c_ptr + rows * 16 + columns, c)


def test_zero_times_infinity_in_a_dot(device):
    a, b = np.ones((2, 16, 16), np.float32), np.ones((2, 16, 16), np.float32)
    a[0, 3, 4] = np.nan  # its row of the result is NaN because of an input NaN
    a[1, 9, 2], b[1, 2, 11] = 0, np.inf
    report = fault(dot_kernel, (1,), a, b, ramp(16, 16), 2, sanitize="nan", device=device)
    expect(report, dot_kernel, "tl.dot(", "`dot` of numbers is NaN", program=(0, 0, 0), tile=((9, 11), (16, 16)), **MARKS)


@triton.jit
def row_sums(x_ptr, out_ptr, HEIGHT: tl.constexpr, WIDTH: tl.constexpr):
    offsets = tl.arange(0, HEIGHT)[:, None] * WIDTH + tl.arange(0, WIDTH)[None, :]
    sums = tl.sum(tl.load(x_ptr + offsets), 1)
    tl.store(out_ptr + tl.arange(0, HEIGHT), sums)


def test_infinities_in_a_sum(device):
    x = ramp(4, 8)
    x[1, 2] = np.nan
    x[3, 1], x[3, 7] = np.inf, -np.inf
    report = fault(row_sums, (1,), x, ramp(4), 4, 8, sanitize="nan", device=device)
    expect(report, row_sums, "tl.sum(", "`reduce` of numbers is NaN", program=(0, 0, 0), tile=((3,), (4,)), **MARKS)


def test_loads_when_asked(device):
    x = ramp(4, 8)
    x[1, 2] = np.nan
    report = fault(row_sums, (1,), x, ramp(4), 4, 8, sanitize="nan-loads", device=device)
    expect(report, row_sums, "tl.load(", "NaN is loaded", program=(0, 0, 0), tile=((1, 2), (4, 8)), **MARKS)
