"""abs, maximum, minimum, clamp, where, add, sub, mul, cdiv, sigmoid: all supported types."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from _pointwise import FLOATS, SIGNED, UNSIGNED, anything, check_pointwise
from harness import BFloat16, empty_like, values


@triton.jit
def abs_method(x):
    return x.abs()


@pytest.mark.parametrize("function", [tl.abs, tl.math.abs, abs_method])
@pytest.mark.parametrize("dtype", SIGNED + UNSIGNED + FLOATS)
def test_abs(function, dtype, device):
    x = anything(dtype)
    with np.errstate(all="ignore"):
        check_pointwise(function, [x], np.abs(x), device=device)


def test_abs_clears_the_sign_of_zero_and_nan(device):
    x = np.array([-0.0, 0.0, -np.nan, np.nan], np.float32)
    check_pointwise(abs_bits, [x.view(np.int32)], np.abs(x).view(np.int32), device=device)


@triton.jit
def abs_bits(bits):
    return tl.abs(bits.to(tl.float32, bitcast=True)).to(tl.int32, bitcast=True)


def test_abs_of_bfloat16(device):
    x = BFloat16(anything("float32"))
    check_pointwise(tl.abs, [x], BFloat16(np.abs(x.values())), device=device)


@triton.jit
def maximum_all(x, y):
    return tl.maximum(x, y, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def minimum_all(x, y):
    return tl.minimum(x, y, propagate_nan=tl.PropagateNan.ALL)


EXTREMES = [(tl.maximum, np.fmax), (tl.minimum, np.fmin)]
EXTREMES += [(maximum_all, np.maximum), (minimum_all, np.minimum)]


@pytest.mark.parametrize("function, reference", EXTREMES)
@pytest.mark.parametrize("dtype", SIGNED + UNSIGNED + FLOATS)
def test_maximum_and_minimum(function, reference, dtype, device):
    x, y = anything(dtype), anything(dtype, 1)
    check_pointwise(function, [x, y], reference(x, y), device=device)


@pytest.mark.parametrize("function, reference", EXTREMES)
def test_maximum_and_minimum_of_bfloat16(function, reference, device):
    x, y = BFloat16(anything("float32")), BFloat16(anything("float32", 1))
    check_pointwise(
        function, [x, y], BFloat16(reference(x.values(), y.values())), device=device
    )


@triton.jit
def clamp_all(x, low, high):
    return tl.clamp(x, low, high, propagate_nan=tl.PropagateNan.ALL)


@pytest.mark.parametrize("dtype", FLOATS)
def test_clamp(dtype, device):
    x = anything(dtype)
    low, high = np.full(500, -2.5, dtype), np.full(500, 1.5, dtype)
    check_pointwise(clamp_all, [x, low, high], np.clip(x, low, high), device=device)
    numbers = x[~np.isnan(x)]
    count = len(numbers)
    operands = [numbers, low[:count], high[:count]]
    check_pointwise(tl.clamp, operands, np.clip(*operands), device=device)


def test_clamp_drops_nan(device):
    x = np.array([np.nan, 0.0, 7.0], np.float32)
    low, high = np.full(3, -1, np.float32), np.full(3, 1, np.float32)
    check_pointwise(tl.clamp, [x, low, high], np.float32([-1, 0, 1]), device=device)


@pytest.mark.parametrize("dtype", ["bool", *SIGNED, *UNSIGNED, *FLOATS])
def test_where(dtype, device):
    condition = values("bool", 500)
    x, y = (values("bool", 500, seed=s) if dtype == "bool" else anything(dtype, s) for s in (1, 2))
    check_pointwise(tl.where, [condition, x, y], np.where(condition, x, y), device=device)


@triton.jit
def where_pointer(condition, x, y):
    return tl.where(condition != 0, x, 0) + tl.where(condition == 0, y, 0.0)


def test_where_with_numbers(device):
    condition, x, y = anything("int32"), anything("int32", 1), np.arange(500, dtype=np.float32)
    x %= 1000
    expected = np.where(condition != 0, x, 0).astype(np.float32) + np.where(condition == 0, y, 0)
    check_pointwise(where_pointer, [condition, x, y], expected, device=device)


ARITHMETIC = [(tl.add, np.add), (tl.sub, np.subtract), (tl.mul, np.multiply)]


@triton.jit
def add_plain(x, y):
    return tl.add(x, y, sanitize_overflow=False)


@pytest.mark.parametrize("function, reference", [*ARITHMETIC, (add_plain, np.add)])
@pytest.mark.parametrize("dtype", SIGNED + UNSIGNED + FLOATS)
def test_add_sub_mul_wrap_and_round(function, reference, dtype, device):
    x, y = anything(dtype), anything(dtype, 1)
    with np.errstate(all="ignore"):
        check_pointwise(function, [x, y], reference(x, y), device=device)


@triton.jit
def cdiv_method(x, y):
    return x.cdiv(y)


@pytest.mark.parametrize("function", [tl.cdiv, cdiv_method])
@pytest.mark.parametrize("dtype", ["int32", "int64", "uint32"])
def test_cdiv(function, dtype, device):
    x, y = values(dtype, 300, low=0, high=1000), values(dtype, 300, seed=1, low=1, high=40)
    check_pointwise(function, [x, y], -(-x.astype(np.int64) // y).astype(dtype), device=device)


@triton.jit
def sigmoid_method(x):
    return x.sigmoid()


@pytest.mark.parametrize("function", [tl.sigmoid, sigmoid_method])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_sigmoid(function, dtype, device):
    x = np.linspace(-30, 30, 500).astype(dtype)
    expected = 1 / (1 + np.exp(-x.astype(np.longdouble)))
    quick = device != "cpu" and dtype == "float32"  # exp(30) has an error of up to 37 units there
    ulps = 41.0 if quick else 4.0
    check_pointwise(function, [x], expected, out=empty_like(x), device=device, ulps=ulps)
