"""Integers that wrap on their way to an address: the line of the arithmetic, its operands, the program that used it."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from _faults import expect, fault, line_of, ramp

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


# --- Wrapped numbers on their way to an address ----------------------------------------------------

BIG = 1 << 30


@triton.jit
def twice(number):
    return number * 4


@triton.jit
def read(x_ptr, out_ptr, offsets):
    at = offsets % 8
    tl.store(out_ptr + tl.arange(0, 8), tl.load(x_ptr + (at + 8) % 8))


@triton.jit
def widened_product(x_ptr, out_ptr, big):
    at = (tl.program_id(0) + 4) * big  # here
    read(x_ptr, out_ptr, at.to(tl.int64) + tl.arange(0, 8))


@triton.jit
def widened_tile(x_ptr, out_ptr, big):
    at = tl.arange(0, 8) * big  # here
    read(x_ptr, out_ptr, at.to(tl.int64) * 3 - 1)


@triton.jit
def widened_sum(x_ptr, out_ptr, big):
    at = big + big + tl.arange(0, 8)  # here
    read(x_ptr, out_ptr, at.to(tl.int64) + 5)


@triton.jit
def widened_difference(x_ptr, out_ptr, big):
    at = -big - big - big + tl.arange(0, 8)  # here
    read(x_ptr, out_ptr, at.to(tl.int64) + 7)


@triton.jit
def shifted(x_ptr, out_ptr, big):
    at = (big + tl.arange(0, 8)) << 2  # here
    read(x_ptr, out_ptr, at.to(tl.int64))


@triton.jit
def negated_least(x_ptr, out_ptr, big):
    at = -(-big - big + tl.arange(0, 8))  # here
    read(x_ptr, out_ptr, at.to(tl.int64) + 1)


@triton.jit
def selected(x_ptr, out_ptr, big):
    at = tl.arange(0, 8) * big  # here
    read(x_ptr, out_ptr, tl.where(tl.arange(0, 8) > 1, at, 0).to(tl.int64) + 1)


@triton.jit
def through_a_call(x_ptr, out_ptr, big):
    read(x_ptr, out_ptr, twice(big + tl.arange(0, 8)).to(tl.int64) + 1)  # called


@triton.jit
def widened_before_a_loop(x_ptr, out_ptr, big):
    at = (tl.program_id(0) + 4) * big  # here
    offsets = at.to(tl.int64) + tl.arange(0, 8)
    for _ in range(3):
        read(x_ptr, out_ptr, offsets)
        offsets += 8


@triton.jit
def carried_narrow(x_ptr, out_ptr, big):
    at = big
    for _ in range(3):
        read(x_ptr, out_ptr, at.to(tl.int64) + tl.arange(0, 8))
        at += big  # here


@triton.jit
def summed(x_ptr, out_ptr, big):
    at = tl.sum(big + tl.arange(0, 8), 0)  # here
    read(x_ptr, out_ptr, at.to(tl.int64) + tl.arange(0, 8))


@triton.jit
def summed_products(x_ptr, out_ptr, big):
    at = tl.arange(0, 8) * big  # here
    read(x_ptr, out_ptr, tl.sum(at.to(tl.int64), 0) + tl.arange(0, 8))


@triton.jit
def summed_before(x_ptr, out_ptr, big):
    at = tl.cumsum(big + tl.arange(0, 8), 0)  # here
    read(x_ptr, out_ptr, at.to(tl.int64))


@triton.jit
def joined(x_ptr, out_ptr, big):
    at = tl.arange(0, 4) * big  # here
    read(x_ptr, out_ptr, tl.reshape(tl.join(tl.arange(0, 4), at), [8]).to(tl.int64) + 1)


@triton.jit
def gathered(x_ptr, out_ptr, big):
    at = tl.arange(0, 8) * big  # here
    read(x_ptr, out_ptr, tl.gather(at, 7 - tl.arange(0, 8), 0).to(tl.int64) + 1)


@triton.jit
def turned(x_ptr, out_ptr, big):
    at = tl.arange(0, 2)[:, None] * 4 + tl.arange(0, 4)[None, :]
    far = at * big  # here
    read(x_ptr, out_ptr, tl.reshape(tl.trans(far).to(tl.int64) + 3, [8]))


@triton.jit
def unsigned_product(x_ptr, out_ptr, big):
    at = tl.arange(0, 8).to(tl.uint32) * big.to(tl.uint32)  # here
    read(x_ptr, out_ptr, (at.to(tl.uint64) + 1).to(tl.int64))


@triton.jit
def clamped(x_ptr, out_ptr, big):
    at = tl.arange(0, 8) * big  # here
    read(x_ptr, out_ptr, tl.maximum(at.to(tl.int64), 0) // 4)


@triton.jit
def through_floats(x_ptr, out_ptr, big):
    at = tl.abs(tl.arange(0, 8) * big)  # here
    read(x_ptr, out_ptr, (at.to(tl.float32) * 0.5).to(tl.int64))


WRAPPED = [widened_product, widened_tile, widened_sum, widened_difference, shifted, negated_least, selected,
           widened_before_a_loop, carried_narrow, summed, summed_products, summed_before, joined, gathered, turned,
           unsigned_product, clamped, through_floats]  # fmt: skip


def assert_at(report, kernel, line):
    head, source = report.splitlines()[:2]
    assert f"overflow.py:{line_of(kernel, line)}:" in head and line in source
    assert "cannot hold, and becomes part of an address" in head and head.endswith("[sanitize-overflow]")


@pytest.mark.parametrize("kernel", WRAPPED, ids=lambda kernel: kernel.__name__)
def test_a_number_that_has_wrapped_is_followed_to_the_address(kernel, device):
    report = fault(kernel, (1,), ramp(8), ramp(8), BIG, sanitize="overflow", device=device)
    assert_at(report, kernel, "# here")


def test_a_wrapped_product_in_a_function(device):
    report = fault(through_a_call, (1,), ramp(8), ramp(8), BIG, sanitize="overflow", device=device)
    assert_at(report, twice, "return number * 4")
    assert "1073741824 * 4 is 4294967296" in report
    assert f"overflow.py:{line_of(through_a_call, '# called')}:" in report


@triton.jit
def hashed_slots(x_ptr, out_ptr, big):
    key = (tl.arange(0, 8) + 1) * 2654435 * big
    slot = (key & 7) + ((key.to(tl.uint32) * 40503) >> 29).to(tl.int32)
    tl.store(out_ptr + tl.arange(0, 8), tl.load(x_ptr + slot // 2) * 0)


@triton.jit
def random_slots(x_ptr, out_ptr, big):
    slot = tl.randint(big, tl.arange(0, 8)).to(tl.uint32) % 8
    tl.store(out_ptr + tl.arange(0, 8), tl.load(x_ptr + slot) * 0)


@triton.jit
def unused_lanes(x_ptr, out_ptr, big):
    at = tl.arange(0, 8) * big
    kept = tl.where(tl.arange(0, 8) < 2, at, 0).to(tl.int64) // big
    tl.store(out_ptr + tl.arange(0, 8), tl.load(x_ptr + tl.sum(kept) + tl.arange(0, 8) * 0) * 0)


@triton.jit
def masked_wide(x_ptr, out_ptr, big):
    at = (tl.arange(0, 8) * big).to(tl.int64)
    tl.store(out_ptr + tl.arange(0, 8), tl.load(x_ptr + at, mask=tl.arange(0, 8) < 1, other=0) * 0)


@triton.jit
def only_in_a_mask(x_ptr, out_ptr, big):
    at = tl.arange(0, 8) * big
    tl.store(out_ptr + tl.arange(0, 8), tl.load(x_ptr + tl.arange(0, 8), mask=at >= 0, other=0) * 0)


@triton.jit
def wide_from_the_start(x_ptr, out_ptr, big):
    at = tl.arange(0, 8).to(tl.int64) * big
    tl.store(out_ptr + tl.arange(0, 8), tl.load(x_ptr + at // big) * 0)


@pytest.mark.parametrize(
    "kernel",
    [hashed_slots, random_slots, unused_lanes, masked_wide, only_in_a_mask, wide_from_the_start],
    ids=lambda kernel: kernel.__name__,
)
def test_what_may_wrap(kernel, device):
    if device != "cpu":
        pytest.skip("the sanitizer runs on the CPU")
    out = ramp(8) + 1
    kernel[(1,)](ramp(8), out, BIG, sanitize="overflow")
    assert (out == 0).all()
