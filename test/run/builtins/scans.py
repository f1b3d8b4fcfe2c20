"""Scans: sums, products, functions of the user, several operands, both directions, every axis."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from _pointwise import SIGNED, UNSIGNED, anything, blank, widened
from harness import BFloat16, check, values

SHAPES = [(1, 1), (1, 16), (16, 1), (2, 4), (8, 32), (4, 1024), (256, 4)]


@triton.jit
def along(
    x_ptr,
    out_ptr,
    FUNCTION: tl.constexpr,
    AXIS: tl.constexpr,
    REVERSE: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    at = tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    tl.store(out_ptr + at, FUNCTION(tl.load(x_ptr + at), AXIS, REVERSE))


def check_scan(function, x, axis, reverse, expected, device, **tolerance):
    arguments = dict(x_ptr=x, out_ptr=blank(expected), FUNCTION=function, AXIS=axis)
    arguments |= dict(REVERSE=reverse, ROWS=x.shape[0], COLUMNS=x.shape[1])
    check(along, (1,), arguments, dict(out_ptr=expected), device=device, **tolerance)


def scanned(function, x, axis, reverse):
    if reverse:
        return np.flip(function(np.flip(x, axis), axis=axis), axis)
    return function(x, axis=axis)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("shape", SHAPES)
def test_cumsum(shape, axis, reverse, device):
    """Whole numbers: every order of addition gives the same result."""
    x = np.round(values("float32", *shape) * 8)
    check_scan(tl.cumsum, x, axis, reverse, scanned(np.cumsum, x, axis, reverse), device)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("dtype", ["bool", *SIGNED, *UNSIGNED])
def test_cumsum_of_integers(dtype, axis, reverse, device):
    x = values("bool", 8, 32) if dtype == "bool" else anything(dtype, n=256).reshape(8, 32)
    wide = x.astype(widened(dtype))
    expected = scanned(lambda v, axis: np.cumsum(v, axis, dtype=v.dtype), wide, axis, reverse)
    check_scan(tl.cumsum, x, axis, reverse, expected, device)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("dtype", SIGNED + UNSIGNED)
def test_cumprod_of_integers(dtype, axis, device):
    x = anything(dtype, n=128).reshape(4, 32) | np.array(1, dtype)
    with np.errstate(over="ignore"):
        expected = np.cumprod(x, axis, dtype=dtype)
    check_scan(tl.cumprod, x, axis, False, expected, device)


@triton.jit
def products(x, axis: tl.constexpr, reverse: tl.constexpr):
    return x.cumprod(axis, reverse=reverse)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_cumprod(dtype, axis, reverse, device):
    x = values(dtype, 16, 16, low=0.8, high=1.25)
    expected = scanned(np.cumprod, x.astype(np.float64), axis, reverse)
    rtol = 32 * float(np.finfo(dtype).eps)
    check_scan(products, x, axis, reverse, expected.astype(dtype), device, rtol=rtol)


@pytest.mark.parametrize("axis", [0, 1])
def test_small_floats(axis, device):
    """bfloat16 is summed in float32, float16 in float16."""
    x = BFloat16(np.arange(64).reshape(4, 16) % 3)
    expected = np.cumsum(x.values(), axis)
    check_scan(tl.cumsum, x, axis, False, expected, device)
    y = (np.arange(64).reshape(4, 16) % 3).astype(np.float16)
    check_scan(tl.cumsum, y, axis, False, np.cumsum(y, axis, dtype=np.float16), device)


@triton.jit
def in_float64(x, axis: tl.constexpr, reverse: tl.constexpr):
    return x.cumsum(axis, reverse, dtype=tl.float64)


def test_cumsum_dtype(device):
    x = values("float32", 4, 64)
    expected = np.cumsum(x.astype(np.float64), 1)
    check_scan(in_float64, x, 1, False, expected, device, rtol=1e-14, atol=1e-14)


@pytest.mark.parametrize("axis", [0, 1])
def test_nan_and_infinity_spread_onwards(axis, device):
    x = np.ones((8, 32), np.float32)
    x[2, 5], x[5, 20] = np.nan, np.inf
    for reverse in (False, True):
        check_scan(tl.cumsum, x, axis, reverse, scanned(np.cumsum, x, axis, reverse), device)


@triton.jit
def larger(a, b):
    return tl.maximum(a, b)


@triton.jit
def running_max(x, axis: tl.constexpr, reverse: tl.constexpr):
    return tl.associative_scan(x, axis, larger, reverse)


@triton.jit
def running_max_by_builtin(x, axis: tl.constexpr, reverse: tl.constexpr):
    return x.associative_scan(axis, tl.maximum, reverse=reverse)


@pytest.mark.parametrize("function", [running_max, running_max_by_builtin])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("axis", [0, 1])
def test_running_maximum(axis, reverse, function, device):
    x = values("float32", 8, 128)
    expected = scanned(np.maximum.accumulate, x, axis, reverse)
    check_scan(function, x, axis, reverse, expected, device)


@triton.jit
def last(a, b):
    return b


@triton.jit
def after_zero(a, b):
    """The sum since the last number below zero: control flow in the function."""
    if b < 0:
        result = b
    else:
        result = a + b
    return result


@triton.jit
def same(x, axis: tl.constexpr, reverse: tl.constexpr):
    return tl.associative_scan(x, axis, last, reverse)


@triton.jit
def masked_sums(x, axis: tl.constexpr, reverse: tl.constexpr):
    return tl.associative_scan(x, axis, after_zero, reverse)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("reverse", [False, True])
def test_function_that_takes_the_right_operand(axis, reverse, device):
    x = values("float32", 4, 32)
    check_scan(same, x, axis, reverse, x, device)


@pytest.mark.parametrize("axis", [0, 1])
def test_function_with_control_flow(axis, device):
    """The function is associative here, since only the first elements are negative."""
    x = np.abs(values("int32", 8, 16, low=0, high=50))
    x[0, :], x[:, 0] = -3, -3
    check_scan(masked_sums, x, axis, False, segmented(x, axis), device)


def segmented(x, axis):
    x = np.moveaxis(x, axis, 0)
    out = x.copy()
    for i in range(1, len(x)):
        out[i] = np.where(x[i] < 0, x[i], out[i - 1] + x[i])
    return np.moveaxis(out, 0, axis)


# --- several operands ----------------------------------------------------------------------


@triton.jit
def compose(a1, b1, a2, b2):
    """The composition of functions x -> a * x + b."""
    return a1 * a2, b1 * a2 + b2


@triton.jit
def recurrence(
    a_ptr,
    b_ptr,
    a_out,
    b_out,
    AXIS: tl.constexpr,
    REVERSE: tl.constexpr,
    M: tl.constexpr,
    N: tl.constexpr,
):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    a, b = tl.associative_scan((tl.load(a_ptr + at), tl.load(b_ptr + at)), AXIS, compose, REVERSE)
    tl.store(a_out + at, a)
    tl.store(b_out + at, b)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("shape", [(1, 4), (4, 64), (32, 8)])
def test_linear_recurrence(shape, axis, reverse, device):
    """Two operands of different types, exact: whole numbers that wrap."""
    a = values("int32", *shape, low=-3, high=4)
    b = values("int64", *shape, low=-9, high=9)

    def scan(a, b):
        a, b = np.moveaxis(a, axis, 0).copy(), np.moveaxis(b, axis, 0).copy()
        for i in range(1, len(a)):
            b[i] += b[i - 1] * a[i]
            a[i] *= a[i - 1]
        return np.moveaxis(a, 0, axis), np.moveaxis(b, 0, axis)

    flip = (lambda x: np.flip(x, axis)) if reverse else (lambda x: x)
    with np.errstate(over="ignore"):
        want_a, want_b = (flip(x) for x in scan(flip(a), flip(b)))
    arguments = dict(a_ptr=a, b_ptr=b, a_out=blank(a), b_out=blank(b))
    arguments |= dict(AXIS=axis, REVERSE=reverse, M=shape[0], N=shape[1])
    check(recurrence, (1,), arguments, dict(a_out=want_a, b_out=want_b), device=device)


# --- in kernels ----------------------------------------------------------------------------


@triton.jit
def masked_rows(x_ptr, out_ptr, n, stride, REVERSE: tl.constexpr, N: tl.constexpr):
    row = tl.program_id(0)
    i = tl.arange(0, N)
    x = tl.load(x_ptr + row * stride + i, mask=i < n, other=1.0)
    tl.store(out_ptr + row * stride + i, tl.cumsum(x * 2, 0, REVERSE), mask=i < n)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("n", [1, 3, 16, 100, 511, 512])
def test_masked_rows(n, reverse, device):
    x = np.round(values("float32", 3, 512) * 4)
    padded = np.where(np.arange(512) < n, x, 1) * 2
    sums = scanned(np.cumsum, padded, 1, reverse)
    out = np.full_like(x, 77)
    expected = np.where(np.arange(512) < n, sums, 77).astype(np.float32)
    arguments = dict(x_ptr=x, out_ptr=out, n=n, stride=512, REVERSE=reverse, N=512)
    check(masked_rows, (3,), arguments, dict(out_ptr=expected), device=device)


@triton.jit
def long_row(x_ptr, out_ptr, n, N: tl.constexpr):
    """A scan in blocks: the carry is a scalar of the loop."""
    carry = tl.zeros((), tl.float32)
    for start in range(0, n, N):
        i = start + tl.arange(0, N)
        x = tl.load(x_ptr + i, mask=i < n, other=0.0)
        tl.store(out_ptr + i, tl.cumsum(x) + carry, mask=i < n)
        carry += tl.sum(x)


@pytest.mark.parametrize("n", [1, 64, 65, 1000])
def test_scan_in_a_loop(n, device):
    x = np.round(values("float32", n) * 4)
    arguments = dict(x_ptr=x, out_ptr=blank(x), n=n, N=64)
    check(long_row, (1,), arguments, dict(out_ptr=np.cumsum(x)), device=device)


@triton.jit
def cube(x_ptr, out_ptr, AXIS: tl.constexpr, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    i = tl.arange(0, A * B * C)
    x = tl.reshape(tl.load(x_ptr + i), (A, B, C))
    tl.store(out_ptr + i, tl.ravel(tl.cumsum(tl.cumsum(x, AXIS), 2 - AXIS, reverse=True)))


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_scan_of_a_scan(axis, device):
    x = values("int32", 4, 8, 16, low=-9, high=9)
    want = np.cumsum(x, axis, dtype=np.int32)
    want = scanned(lambda v, axis: np.cumsum(v, axis, dtype=np.int32), want, 2 - axis, True)
    want = np.ascontiguousarray(want).reshape(-1)
    arguments = dict(x_ptr=x.reshape(-1), out_ptr=blank(want), AXIS=axis, A=4, B=8, C=16)
    check(cube, (1,), arguments, dict(out_ptr=want), device=device)
