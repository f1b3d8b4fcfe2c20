"""Integers that wrap on their way to an address: the line of the arithmetic, its operands, the program that used it."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from _faults import expect, fault, ramp

MARKS = dict(code="sanitize-overflow")


@triton.jit
def rows(x_ptr, out_ptr, stride, BLOCK: tl.constexpr):
    start = tl.program_id(0) * stride
    offsets = start + tl.arange(0, BLOCK)
    tl.store(out_ptr + tl.arange(0, BLOCK), tl.load(x_ptr + offsets % BLOCK))


def test_a_product_of_scalars(device):
    report = fault(rows, (3,), ramp(8), ramp(8), 1 << 30, 8, sanitize="overflow", device=device)
    expect(report, rows, "start =", "2 * 1073741824 is 2147483648, which int32 cannot hold",
           program=(2, 0, 0), **MARKS)  # fmt: skip


@triton.jit
def grid_of_offsets(x_ptr, out_ptr, stride, HEIGHT: tl.constexpr, WIDTH: tl.constexpr):
    row = tl.program_id(1) + tl.arange(0, HEIGHT)
    scaled = row[:, None] * stride
    index = (scaled + tl.arange(0, WIDTH)[None, :]) % 16
    x = tl.load(x_ptr + index)
    tl.store(out_ptr + index, x)


def test_a_product_of_tiles(device):
    report = fault(grid_of_offsets, (1, 4), ramp(16), ramp(16), 500_000_000, 4, 2, sanitize="overflow", device=device)
    expect(report, grid_of_offsets, "scaled = row", "5 * 500000000 is 2500000000", program=(0, 2, 0),
           tile=((3, 0), (4, 1)), **MARKS)  # fmt: skip


@triton.jit
def carried(x_ptr, out_ptr, start, step, trips):
    at = start
    total = 0.0
    for _ in range(trips):
        total += tl.load(x_ptr + at % 4)
        at += step
    tl.store(out_ptr, total)


def test_a_sum_that_a_loop_carries(device):
    report = fault(carried, (1,), ramp(4), ramp(1), 2**31 - 10, 4, 5, sanitize="overflow", device=device)
    expect(report, carried, "at += step", "2147483646 + 4 is 2147483650", program=(0, 0, 0), **MARKS)


@triton.jit
def narrow(x_ptr, keys_ptr, out_ptr, BLOCK: tl.constexpr):
    keys = tl.load(keys_ptr + tl.arange(0, BLOCK))
    twice = keys - 100
    tl.store(out_ptr + tl.arange(0, BLOCK), tl.load(x_ptr + twice % 8))


def test_a_difference_of_small_integers(device):
    keys = np.array([0, 100, -28, -29], np.int8)
    report = fault(narrow, (1,), ramp(8), keys, ramp(4), 4, sanitize="overflow", device=device)
    expect(report, narrow, "twice = keys", "-29 - 100 is -129, which int8 cannot hold", program=(0, 0, 0),
           tile=((3,), (4,)), **MARKS)  # fmt: skip


@triton.jit
def masked_far(x_ptr, out_ptr, far, BLOCK: tl.constexpr):
    index = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + index * far, mask=index < 1, other=3.0)
    tl.store(out_ptr + index, x)


def test_lanes_that_no_access_uses_may_wrap(device):
    if device != "cpu":
        pytest.skip("the sanitizer runs on the CPU")
    out = np.zeros(8, np.float32)
    masked_far[(1,)](ramp(1), out, 1 << 30, 8, sanitize="bounds,uninit,overflow,nan")
    assert (out == [0, 3, 3, 3, 3, 3, 3, 3]).all()


@triton.jit
def hashed(out_ptr, BLOCK: tl.constexpr):
    index = tl.arange(0, BLOCK)
    tl.store(out_ptr + index, index * 2654435 * 1000003)


def test_values_may_wrap(device):
    if device != "cpu":
        pytest.skip("the sanitizer runs on the CPU")
    out, index = np.zeros(64, np.int32), np.arange(64, dtype=np.int32)
    hashed[(1,)](out, 64, sanitize="bounds,uninit,overflow,nan")
    assert (out == index * np.int32(2654435) * np.int32(1000003)).all()
