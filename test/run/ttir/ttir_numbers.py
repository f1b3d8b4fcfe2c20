"""Texts of elementary functions, conversions and debugging ops, read and run."""
# SPDX-License-Identifier: MIT

import math

import numpy as np
from _ttir_texts import from_text, kernel  # noqa: F401
from harness import BFloat16, check, empty_like, values


@from_text("mathematics")
def test_mathematics(kernel, device):
    x, y = values("float32", 64), values("float32", 64, seed=1, low=0.5, high=4)
    a, b = x.astype(np.float64), y.astype(np.float64)
    want = np.exp(a) + np.exp2(a) + np.log(b) + np.log2(b) + np.sin(a) + np.cos(a)
    want += np.vectorize(math.erf)(a) + 2 * np.sqrt(b) + 1 / np.sqrt(b) + a / b + np.floor(a)
    want += np.ceil(a) + a * b + a + np.clip(a, -1, 1) + np.abs(a) + np.maximum(a, b) + np.fmod(a, b)
    i = np.arange(64, dtype=np.int64)
    wrapped = (i * 123456789).astype(np.int32).astype(np.uint32).astype(np.uint64)
    high = (wrapped * ((i + 1) << 20).astype(np.uint64)) >> np.uint64(32)
    arguments = dict(x=x, y=y, out=empty_like(x), high=np.zeros(64, np.uint32))
    expected = dict(out=want, high=high.astype(np.uint32))
    check(kernel, (1,), arguments, expected, device=device, rtol=2e-5, atol=2e-5)


def truncated_to_half(x):
    """Rounded toward zero."""
    half = x.astype(np.float16)
    beyond = np.abs(half.astype(np.float32)) > np.abs(x)
    return np.where(beyond, np.nextafter(half, np.float16(0)), half)


def fp8(x, mantissa, bias, low_exponent):
    """Values of a small float format, rounded to nearest even; none here is out of its range."""
    exponent = np.maximum(np.floor(np.log2(np.maximum(np.abs(x), 1e-30))), low_exponent)
    step = np.exp2(exponent - mantissa)
    return np.round(x.astype(np.float64) / step) * step  # numpy rounds ties to even


def encode(x, mantissa, bias):
    exponent = np.where(x == 0, -bias, np.floor(np.log2(np.maximum(np.abs(x), 1e-30))))
    exponent = np.maximum(exponent, 1 - bias)
    units = np.round(np.abs(x) / np.exp2(exponent - mantissa)).astype(np.int64)
    normal = units >= 1 << mantissa
    bits = np.where(normal, ((exponent + bias).astype(np.int64) << mantissa) + units - (1 << mantissa), units)
    return (bits | np.where(np.signbit(x), 128, 0)).astype(np.uint8)


@from_text("conversions")
def test_conversions(kernel, device):
    x = values("float32", 64, low=-200, high=200)
    x[:4] = [0, -0.0, 0.001, -0.003]
    tiny, wide = fp8(x, 3, 7, -6), fp8(x, 2, 15, -14)
    low_bytes = x.view(np.int32).astype(np.int8).astype(np.float32)
    arguments = dict(x=x, half=np.zeros(64, np.float16), brain=BFloat16(np.zeros(64)))
    arguments |= dict(tiny=np.zeros(64, np.uint8), wide=np.zeros(64, np.uint8), back=empty_like(x))
    expected = dict(half=truncated_to_half(x), brain=BFloat16(x), tiny=encode(tiny, 3, 7))
    expected |= dict(wide=encode(wide, 2, 15), back=(wide + low_bytes).astype(np.float32))
    check(kernel, (1,), arguments, expected, device=device)


@from_text("library_functions")
def test_library_functions(kernel, device):
    x = values("float32", 64, low=0.1, high=3)
    wide = x.astype(np.float64)
    want = np.tanh(wide) + wide**wide + np.cbrt(wide)
    check(kernel, (1,), dict(x=x, out=empty_like(x)), dict(out=want), device=device, rtol=1e-6)


@from_text("checks")
def test_checks_that_hold(kernel, device, capfd):
    x = np.arange(32, dtype=np.int32)
    check(kernel, (1,), dict(x=x, n=50), dict(x=x + 50), device=device)
    if ":" not in device:  # otherwise nothing runs
        assert "value: " in "".join(capfd.readouterr())
