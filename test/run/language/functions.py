"""Calls between functions, and compile-time values: constants, tuples, recursion."""
# SPDX-License-Identifier: MIT

from collections import namedtuple

import numpy as np
import pytest
import triton
import triton.language as tl
from harness import check, values

SCALE: tl.constexpr = tl.constexpr(3)
OFFSETS = tl.constexpr((1, 2, 3))
HALF_TYPE = tl.constexpr(tl.float16)


@triton.jit
def power(x, N: tl.constexpr):
    if N == 0:
        return x * 0 + 1
    elif N % 2 == 0:
        half = power(x, N // 2)
        return half * half
    else:
        return x * power(x, N - 1)


@triton.jit
def powers(x_ptr, out_ptr, N: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, power(tl.load(x_ptr + i), N))


@pytest.mark.parametrize("n", [0, 1, 2, 5, 8])
def test_recursion_while_compiling(n, device):
    x = values("int32", 16)
    arguments = dict(x_ptr=x, out_ptr=np.zeros_like(x), N=n, BLOCK=16)
    check(powers, (1,), arguments, dict(out_ptr=x**n), device=device)


@triton.jit
def minmax(x):
    return tl.min(x, 0), tl.max(x, 0)


@triton.jit
def first_of(pair):
    return pair[0]


@triton.jit
def tuples(x_ptr, out_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    low, high = minmax(x)
    pair = (high, low) + (low,)
    (a, b), c = (pair[0], pair[1]), pair[-1]
    tl.store(out_ptr, a - b + c)
    tl.store(out_ptr + 1, first_of(minmax(x)))
    tl.store(out_ptr + 2, first_of(pair[1:]) + len(pair))
    first, *rest = (1, 2, 3, 4)
    tl.store(out_ptr + 3, first + rest[0] + len(rest))
    for k in tl.static_range(3):
        tl.store(out_ptr + 4 + k, pair[k])
    a, b = b, a
    tl.store(out_ptr + 7, a)


def test_tuples(device):
    x = values("int32", 32, low=-90, high=90)
    low, high = x.min(), x.max()
    expected = np.array([high, low, low + 3, 6, high, low, low, low], np.int32)
    arguments = dict(x_ptr=x, out_ptr=np.zeros(8, np.int32), BLOCK=32)
    check(tuples, (1,), arguments, dict(out_ptr=expected), device=device)


@triton.jit
def sum_all(*terms):
    total = terms[0]
    for k in tl.static_range(1, len(terms)):
        total += terms[k]
    return total


@triton.jit
def any_count(first, *rest):
    return first + len(rest)


@triton.jit
def variadic(x_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    more = (x * 10, x * 100)
    tl.store(out_ptr + i, sum_all(x, *more, 1) + any_count(1, 2, 3) * 1000 + sum_all(x))


def test_variadic_functions(device):
    x = values("int32", 16)
    arguments = dict(x_ptr=x, out_ptr=np.zeros_like(x), BLOCK=16)
    check(variadic, (1,), arguments, dict(out_ptr=112 * x + 3001), device=device)


@triton.jit
def defaults(x, scale=2, OFFSET: tl.constexpr = 5, negate: tl.constexpr = False):
    y = x * scale + OFFSET
    return -y if negate else y


@triton.jit
def call_with_keywords(x_ptr, out_ptr, factor, BLOCK: tl.constexpr = 16):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, defaults(x) + defaults(x, OFFSET=1) + defaults(scale=factor, x=x))


def test_defaults_and_keywords(device):
    x = values("int32", 16)
    expected = (2 * x + 5) + (2 * x + 1) + (7 * x + 5)
    arguments = dict(x_ptr=x, out_ptr=np.zeros_like(x), factor=7)
    check(call_with_keywords, (1,), arguments, dict(out_ptr=expected), device=device)


@triton.jit(noinline=True)
def hypotenuse(a, b):
    return tl.sqrt(a * a + b * b)


@triton.jit(noinline=True)
def store_at(ptr, at, value):
    tl.store(ptr + at, value)


@triton.jit
def calls_that_stay(x_ptr, out_ptr, n):
    for k in range(n):
        length = hypotenuse(tl.load(x_ptr + k), 4.0)
        store_at(out_ptr, k, length)


def test_noinline(device):
    x = np.array([3, 0, 7.5], np.float32)
    expected = np.sqrt(x * x + 16)
    arguments = dict(x_ptr=x, out_ptr=np.zeros_like(x), n=3)
    check(calls_that_stay, (1,), arguments, dict(out_ptr=expected), device=device)


@triton.jit
def double(x):
    return x * 2


@triton.jit
def twice(FUNCTION: tl.constexpr, x):
    return FUNCTION(FUNCTION(x))


@triton.jit
def pass_functions(
    x_ptr, out_ptr, FUNCTION: tl.constexpr, USE_EXP: tl.constexpr, BLOCK: tl.constexpr
):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    OTHER: tl.constexpr = tl.exp if USE_EXP else tl.abs
    tl.store(out_ptr + i, twice(FUNCTION, x) + twice(double, x) + OTHER(x))


@pytest.mark.parametrize("use_exp", [True, False])
def test_functions_as_arguments(use_exp, device):
    x = values("float32", 16)
    other = np.exp(x.astype(np.float64)) if use_exp else np.abs(x.astype(np.float64))
    arguments = dict(x_ptr=x, out_ptr=np.zeros_like(x), FUNCTION=tl.floor)
    arguments |= dict(USE_EXP=use_exp, BLOCK=16)
    expected = dict(out_ptr=(np.floor(x) + 4 * x + other).astype(np.float32))
    check(pass_functions, (1,), arguments, expected, device=device, rtol=1e-6, atol=1e-6)


@triton.jit
def module_constants(out_ptr, N: "tl.constexpr", DTYPE: "tl.constexpr" = HALF_TYPE):
    total = 0
    for k in tl.static_range(len(OFFSETS)):
        total += OFFSETS[k] * SCALE
    tl.store(out_ptr, total + N)
    tl.store(out_ptr + 1, tl.full((), 2049, DTYPE).to(tl.int32))


def test_module_constants_and_string_annotations(device):
    arguments = dict(out_ptr=np.zeros(2, np.int32), N=100)
    expected = np.array([118, 2048], np.int32)
    check(module_constants, (1,), arguments, dict(out_ptr=expected), device=device)


@triton.jit
def constant_branches(x_ptr, out_ptr, bias_ptr, MODE: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    if bias_ptr is not None:
        x += tl.load(bias_ptr + i)
    if MODE == "relu":
        x = tl.maximum(x, 0.0)
    elif MODE in ("none", None):
        pass
    else:
        tl.static_assert(False, "unknown mode")
    DOUBLE: tl.constexpr = MODE is None and BLOCK > 4
    if DOUBLE:
        x = x * 2
    tl.store(out_ptr + i, x)


@pytest.mark.parametrize("mode", ["relu", "none", None])
@pytest.mark.parametrize("with_bias", [True, False])
def test_branches_on_constants(mode, with_bias, device):
    x, bias = values("float32", 16), values("float32", 16, seed=1)
    expected = x + bias if with_bias else x
    expected = np.maximum(expected, 0) if mode == "relu" else expected * (2 if mode is None else 1)
    arguments = dict(x_ptr=x, out_ptr=np.zeros_like(x), bias_ptr=bias if with_bias else None)
    arguments |= dict(MODE=mode, BLOCK=16)
    check(constant_branches, (1,), arguments, dict(out_ptr=expected), device=device)


@triton.jit
def compile_time(out_ptr, N: tl.constexpr):
    HALF: tl.constexpr = N // 2
    SIZE: tl.constexpr = triton.next_power_of_2(N) * 2 - triton.cdiv(N, 3)
    tl.store(out_ptr, HALF * 1000 + SIZE)
    tl.store(out_ptr + 1, -7 // 2 + (-7) % 3 * 100 + 2**10 + int(7.9) + int("12"))
    tl.store(out_ptr + 2, max(1, N, 3) - min(4, 2) + len("abc") + (N if isinstance(N, int) else 0))
    tl.store(out_ptr + 3, (1 < N and N < 100) + (not N) + (N and 5) + (0 or 6) if N > 0 else 0)
    tl.store(out_ptr + 4, float("2.5") * 2 + bool(N) + (5 if hasattr(out_ptr, "dtype") else 0))
    tl.store(out_ptr + 5, getattr(out_ptr, "missing", 9) + (out_ptr.dtype.element_ty == tl.int32))


def test_python_while_compiling(device):
    n = 9
    expected = [4000 + 32 - 3, -4 + 200 + 1024 + 7 + 12, 9 - 2 + 3 + 9, 1 + 0 + 5 + 6, 11, 10]
    arguments = dict(out_ptr=np.zeros(6, np.int32), N=n)
    check(compile_time, (1,), arguments, dict(out_ptr=np.array(expected, np.int32)), device=device)


@triton.jit
def walrus(x_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, (y := tl.load(x_ptr + i)) + y)
    """A text that stands alone says nothing."""
    pass


def test_walrus(device):
    x = values("float32", 8)
    arguments = dict(x_ptr=x, out_ptr=np.zeros_like(x), BLOCK=8)
    check(walrus, (1,), arguments, dict(out_ptr=x + x), device=device)


Point = namedtuple("Point", ["x", "y"])


@triton.jit
def constant_tuples(out_ptr, SHAPE: tl.constexpr, POINT: tl.constexpr):
    tile = tl.zeros(SHAPE, tl.int32) + POINT.x + POINT[1] * 10
    rows = tl.arange(0, SHAPE[0])[:, None]
    tl.store(out_ptr + rows * SHAPE[1] + tl.arange(0, SHAPE[1])[None, :], tile)


def test_tuples_of_constants_as_arguments(device):
    arguments = dict(out_ptr=np.zeros((2, 4), np.int32), SHAPE=(2, 4), POINT=Point(7, 8))
    expected = np.full((2, 4), 87, np.int32)
    check(constant_tuples, (1,), arguments, dict(out_ptr=expected), device=device)


@triton.jit
def with_barriers(out_ptr, value):
    tl.debug_barrier()
    tl.assume(value > 0)
    tl.store(out_ptr, value)
    tl.debug_barrier()


@triton.jit(noinline=True)
def apart(out_ptr, value):
    with_barriers(out_ptr, value)
    return value + 1


@triton.jit
def barriers_in_calls(out_ptr, n):
    with_barriers(out_ptr, n)
    for i in range(1, 3):
        n = apart(out_ptr + i, n + i)
    with_barriers(out_ptr + 3, n)


def test_called_functions_may_have_barriers_and_hints(device):
    arguments = dict(out_ptr=np.zeros(4, np.int32), n=5)
    expected = np.array([5, 6, 9, 10], np.int32)
    check(barriers_in_calls, (1,), arguments, dict(out_ptr=expected), device=device)


@triton.jit
def above(x, limit):  # noqa: RET503
    if x > limit:
        return x - limit


@triton.jit
def paths_without_return(x_ptr, out_ptr):
    x = tl.load(x_ptr + tl.program_id(0))
    excess = above(x, 2)
    if x > 2:
        tl.store(out_ptr + tl.program_id(0), excess)


def test_a_path_may_end_without_return(device):
    x = np.array([1, 2, 3, 7], np.int32)
    arguments = dict(x_ptr=x, out_ptr=np.full(4, -1, np.int32))
    expected = np.where(x > 2, x - 2, -1).astype(np.int32)
    check(paths_without_return, (4,), arguments, dict(out_ptr=expected), device=device)
