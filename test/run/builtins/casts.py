"""Conversions between all pairs of types: by value, bit for bit, with rounding, of pointers."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from _pointwise import FLOATS, OF_TL, SIGNED, UNSIGNED, anything, check_pointwise
from harness import BFloat16, check, values

INTEGERS = SIGNED + UNSIGNED
TYPES = ["bool", *INTEGERS, *FLOATS, "bfloat16"]


@triton.jit
def convert(x_ptr, out_ptr, n, TO: tl.constexpr, BITCAST: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(out_ptr + i, tl.cast(x, TO, bitcast=BITCAST), mask=i < n)


@triton.jit
def convert_by_method(x_ptr, out_ptr, n, TO: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n)
    y = x.cast(TO)
    tl.store(out_ptr + i, y.to(TO), mask=i < n)


def sample(source, target):
    """Values of one type that the other can hold, or that wrap where both are integers."""
    if source == "bool":
        return values("bool", 300)
    if source in INTEGERS:
        x = anything(source, n=300)
        # numpy rounds through float64, BFloat16 through float32: stay where those are exact
        exact = {"float16": 2**53, "bfloat16": 2**24}.get(target)
        return x if exact is None or exact > np.iinfo(source).max else x % exact
    if target in INTEGERS:
        limits = np.iinfo(target)
        low, high = max(float(limits.min), -3e4), min(float(limits.max), 3e4)
        return values("float32", 300, low=low, high=high - 1).astype(
            source if source != "bfloat16" else "float32"
        )
    x = anything("float32" if source == "bfloat16" else source, n=300)
    if target == "bool":
        x[np.isnan(x)] = 3
    return x


def converted(x, target):
    if target == "bool":
        return x != 0
    if target == "bfloat16":
        return BFloat16(x.astype(np.float32))
    with np.errstate(all="ignore"):
        if x.dtype.kind == "f" and target in INTEGERS:
            return np.trunc(x).astype(target)
        return x.astype(target)


def blank(target, n):
    if target == "bfloat16":
        return BFloat16(np.full(n, -7.0))
    return np.ones(n, target)


@pytest.mark.always
@pytest.mark.parametrize("target", TYPES)
@pytest.mark.parametrize("source", TYPES)
def test_by_value(source, target, device):
    x = sample(source, target)
    if source == "bfloat16":
        x = BFloat16(x)
    expected = converted(x.values() if source == "bfloat16" else x, target)
    arguments = dict(x_ptr=x, out_ptr=blank(target, 300), n=300, TO=OF_TL[target], BLOCK=512)
    check(
        convert, (1,), arguments | dict(BITCAST=False), dict(out_ptr=expected), device=device
    )


def rounded_once(number, digits):
    """The nearest number with the given number of binary digits; ties to even."""
    size = abs(number)
    dropped = max(size.bit_length() - digits, 0)
    kept, rest = size >> dropped, size & ((1 << dropped) - 1)
    kept += 2 * rest + (kept & 1) > 1 << dropped
    return (kept << dropped) * (1 if number >= 0 else -1)


def hard_integers(source):
    """Midpoints of two neighbours at every size, and numbers next to them by one or by less than f64 and
    f32 resolve.
    """
    limits = np.iinfo(source)
    found = {0, 1, limits.min, limits.max, limits.max - 1}
    for digits in (8, 11, 24, 53):
        for power in range(digits, 64):
            for middle in (1 << power | 1 << (power - digits), 1 << power | 3 << (power - digits)):
                for beside in (0, 1, -1, 1 << max(power - 53, 0), -1 << max(power - 54, 0)):
                    found |= {middle + beside, -middle - beside}
    return [number for number in sorted(found) if limits.min <= number <= limits.max]


@pytest.mark.parametrize("target", ["bfloat16", "float16", "float32", "float64"])
@pytest.mark.parametrize("source", ["int32", "uint32", "int64", "uint64"])
def test_integers_round_once(source, target, device):
    numbers = hard_integers(source)
    digits = {"bfloat16": 8, "float16": 11, "float32": 24, "float64": 53}[target]
    expected = np.array([float(rounded_once(number, digits)) for number in numbers])
    if target == "float16":
        expected[np.abs(expected) > 65504] *= np.inf
    expected = (
        BFloat16(expected.astype(np.float32)) if target == "bfloat16" else expected.astype(target)
    )
    n = len(numbers)
    arguments = dict(x_ptr=np.array(numbers, source), out_ptr=blank(target, n), n=n)
    constants = dict(TO=OF_TL[target], BITCAST=False, BLOCK=triton.next_power_of_2(n))
    check(convert, (1,), arguments | constants, dict(out_ptr=expected), device=device)


@pytest.mark.parametrize("target", ["float16", "int8", "uint64", "float64", "bool"])
def test_methods(target, device):
    x = np.arange(0, 100, dtype=np.float32)
    arguments = dict(x_ptr=x, out_ptr=blank(target, 100), n=100, TO=OF_TL[target], BLOCK=128)
    check(convert_by_method, (1,), arguments, dict(out_ptr=converted(x, target)), device=device)


SAME_WIDTH = [
    ("int8", "uint8"),
    ("int16", "float16"),
    ("float16", "uint16"),
    ("float16", "bfloat16"),
    ("bfloat16", "int16"),
    ("float32", "int32"),
    ("uint32", "float32"),
    ("int32", "uint32"),
    ("float64", "int64"),
    ("uint64", "float64"),
]


@pytest.mark.parametrize("source, target", SAME_WIDTH)
def test_bit_for_bit(source, target, device):
    bits = values("int64", 60, low=-(2**62), high=2**62)
    width = {"int8": 8, "float32": 32, "uint32": 32, "int32": 32, "float64": 64, "uint64": 64}
    integer = bits.astype(f"uint{width.get(source, 16)}")
    x, expected = (as_type(integer, name) for name in (source, target))
    arguments = dict(x_ptr=x, out_ptr=blank(target, 60), n=60, TO=OF_TL[target], BLOCK=64)
    check(convert, (1,), arguments | dict(BITCAST=True), dict(out_ptr=expected), device=device)


def as_type(bits, name):
    if name != "bfloat16":
        return bits.view(name)
    array = BFloat16(np.zeros(0))
    array.bits = bits.view(np.uint16)
    return array


@triton.jit
def toward_zero(x):
    return x.to(tl.float16, fp_downcast_rounding="rtz")


@triton.jit
def toward_zero_bfloat16(x):
    return tl.cast(x, tl.bfloat16, fp_downcast_rounding="rtz")


@triton.jit
def to_nearest(x):
    return x.to(tl.float16, fp_downcast_rounding="rtne")


def test_rounding_modes(device):
    x = values("float32", 500, low=-70, high=70)
    nearest = x.astype(np.float16)
    above = np.abs(nearest.astype(np.float32)) > np.abs(x)
    cut = np.where(above, np.nextafter(nearest, np.float16(0)), nearest)
    check_pointwise(to_nearest, [x], nearest, device=device)
    check_pointwise(toward_zero, [x], cut, device=device)
    cut_bits = BFloat16((x.view(np.uint32) & 0xFFFF0000).view(np.float32))
    check_pointwise(toward_zero_bfloat16, [x], cut_bits, device=device)


def test_rounding_toward_zero_of_special_values(device):
    special = [np.inf, -np.inf, np.nan]
    x = np.array([*special, 65519, 65520, 1e10, -1e10, 1e-8, 6e-8, 0], np.float32)
    expected = np.array([*special, 65504, 65504, 65504, -65504, 0, 5.96e-8, 0])
    check_pointwise(toward_zero, [x], expected.astype(np.float16), device=device)


def test_ties_go_to_even(device):
    x = np.array([2048.5, 2049, 2051, 2050.9, 65519.9, 65520, 2**-24, 2**-25, 1.5 * 2**-25])
    x = x.astype(np.float32)
    with np.errstate(all="ignore"):
        check_pointwise(to_nearest, [x], x.astype(np.float16), device=device)


@triton.jit
def addresses(x_ptr, out_ptr):
    at = x_ptr.to(tl.int64)
    third = (at + 8).to(tl.pointer_type(tl.float32))
    tl.store(out_ptr, tl.load(third))
    tl.store(out_ptr + 1, tl.load(x_ptr.to(tl.pointer_type(tl.int32), bitcast=True) + 1))
    tl.store(out_ptr + 2, x_ptr.to(tl.int1))


def test_pointers_and_integers(device):
    x = np.array([1.0, 2.0, 3.0], np.float32)
    expected = np.array([3.0, x.view(np.int32)[1], 1.0], np.float32)
    arguments = dict(x_ptr=x, out_ptr=np.zeros(3, np.float32))
    check(addresses, (1,), arguments, dict(out_ptr=expected), device=device)


@triton.jit
def numbers_as_tensors(out_ptr):
    tl.store(out_ptr, tl.to_tensor(5).to(tl.int64) * 1000000000000)
    tl.store(out_ptr + 1, tl.to_tensor(True).to(tl.int64) + tl.to_tensor(2.75).to(tl.int64))


def test_to_tensor(device):
    expected = np.array([5000000000000, 3], np.int64)
    arguments = dict(out_ptr=np.zeros(2, np.int64))
    check(numbers_as_tensors, (1,), arguments, dict(out_ptr=expected), device=device)
