"""Numbers that wrap around: masks, values and offsets made of them are those of two's complement"""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from harness import launch, values


def quotient(value, divisor):
    return np.sign(value) * (np.abs(value) // divisor)


def remainder(value, divisor):
    return value - quotient(value, divisor) * divisor


def wrapped(value):
    return value.astype(np.int32).astype(np.int64)


@triton.jit
def condition(i, limit, KIND: tl.constexpr):
    if KIND == "sum":
        truth = i < limit
    elif KIND == "quotient":
        truth = i // 64 % 2 == 0
    elif KIND == "quotient below":
        truth = i // 64 < limit
    elif KIND == "remainder":
        truth = i % 64 < limit
    elif KIND == "remainder above":
        truth = i % 64 >= limit
    elif KIND == "zero":
        truth = i % 64 == 0
    elif KIND == "product":
        truth = i * 3 % 64 < limit
    elif KIND == "quotient of a product":
        truth = i * 4 // 256 < limit
    elif KIND == "wide":
        truth = (i + 1).to(tl.int64) < limit
    else:
        truth = (i // 16 % 3 == 1) | (i % 64 // 16 == -2)
    return truth


CONDITIONS = {
    "sum": lambda i, limit: i < limit,
    "quotient": lambda i, limit: remainder(quotient(i, 64), 2) == 0,
    "quotient below": lambda i, limit: quotient(i, 64) < limit,
    "remainder": lambda i, limit: remainder(i, 64) < limit,
    "remainder above": lambda i, limit: remainder(i, 64) >= limit,
    "zero": lambda i, limit: remainder(i, 64) == 0,
    "product": lambda i, limit: remainder(wrapped(i * 3), 64) < limit,
    "quotient of a product": lambda i, limit: quotient(wrapped(i * 4), 256) < limit,
    "wide": lambda i, limit: wrapped(i + 1) < limit,
    "several": lambda i, limit: (
        (remainder(quotient(i, 16), 3) == 1) | (quotient(remainder(i, 64), 16) == -2)
    ),
}


@triton.jit
def masked(x, out, limit, BEGIN: tl.constexpr, KIND: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    truth = condition(tl.program_id(0) * BLOCK + BEGIN + tl.arange(0, BLOCK), limit, KIND)
    tl.store(out + at, tl.load(x + at, truth, -1), truth)


@pytest.mark.parametrize("begin", [0, 2**31 - 1024, 2**31 - 500, -512])
@pytest.mark.parametrize("limit", [16, -16])
@pytest.mark.parametrize("kind", CONDITIONS)
def test_masks(kind, limit, begin, device):
    block, programs = 1024, 2
    x = values("float32", block * programs, seed=1)
    out = np.zeros_like(x)
    if not launch(
        masked, (programs,), x, out, limit, BEGIN=begin, KIND=kind, BLOCK=block, device=device
    ):
        return  # compiled only
    i = wrapped(begin + np.arange(block * programs))
    np.testing.assert_array_equal(out, np.where(CONDITIONS[kind](i, limit), x, 0))


@triton.jit
def stored(quotients, remainders, begin, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    i = at * 5 + begin
    tl.store(quotients + at, i // 64)
    tl.store(remainders + at, i % 64)


@pytest.mark.parametrize("begin", [0, 2**31 - 1024, -(2**31)])
def test_values(begin, device):
    block, programs = 128, 4
    quotients, remainders = np.zeros((2, block * programs), np.int32)
    if not launch(stored, (programs,), quotients, remainders, begin, BLOCK=block, device=device):
        return  # compiled only
    i = wrapped(begin + 5 * np.arange(block * programs))
    np.testing.assert_array_equal(quotients, quotient(i, 64))
    np.testing.assert_array_equal(remainders, remainder(i, 64))


@triton.jit
def masked_off(x, out, first, last, BLOCK: tl.constexpr):
    """Elements whose index wraps are masked off by a comparison of that index."""
    i = first + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = (i >= first) & (i <= last)
    at = i - first
    tl.store(out + at, tl.load(x + at, inside, 0) * 2, inside)


@pytest.mark.parametrize("count", [1, 37, 512, 700])
def test_offsets_that_wrap_are_masked_off(count, device):
    block = 256
    x = values("float32", count, seed=2)
    out = np.zeros_like(x)
    first, last = 2**31 - count, 2**31 - 1
    if launch(masked_off, (-(-count // block),), x, out, first, last, BLOCK=block, device=device):
        np.testing.assert_array_equal(out, 2 * x)


@triton.jit
def backwards(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    end, middle = x + n, out + n // 2
    tl.store(middle + (i - n // 2), tl.load(end + (-1 - i), i < n), i < n)


@pytest.mark.parametrize("n", [1, 100, 1024])
def test_offsets_below_zero(n, device):
    x = values("float32", n, seed=3)
    out = np.zeros_like(x)
    if launch(backwards, (-(-n // 256),), x, out, n, BLOCK=256, device=device):
        np.testing.assert_array_equal(out, x[::-1])


@triton.jit
def of_a_remainder(x, out, begin, BLOCK: tl.constexpr):
    """The remainder of a number below zero is one: it counts back from the middle of x."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + 63 + (tl.program_id(0) + begin) % 64 + at * 0))


def test_remainders_below_zero(device):
    x = values("float32", 128, seed=4)
    out = np.zeros(4 * 64, np.float32)
    if launch(of_a_remainder, (4,), x, out, -3, BLOCK=64, device=device):
        np.testing.assert_array_equal(out, np.repeat(x[63 + remainder(np.arange(4) - 3, 64)], 64))


@triton.jit
def scattered(x, out, FACTOR: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + 63 + (at * FACTOR + 1013904223) // 256 % 64))


@pytest.mark.parametrize("factor", [3, 1664525, 1640531527])
def test_offsets_by_a_hash(factor, device):
    x = values("float32", 128, seed=5)
    out = np.zeros(2 * 256, np.float32)
    if launch(scattered, (2,), x, out, FACTOR=factor, BLOCK=256, device=device):
        at = quotient(wrapped(np.arange(512) * factor + 1013904223), 256)
        np.testing.assert_array_equal(out, x[63 + remainder(at, 64)])
