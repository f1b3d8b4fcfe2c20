"""Lambdas, nested functions, functions as arguments and in tuples, recursion while compiling, chained comparisons."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from harness import check, values


@triton.jit
def reduce_with_lambdas(x_ptr, out_ptr, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N))
    bias = 3
    tl.store(out_ptr, tl.reduce(x, 0, lambda a, b: a + b))
    tl.store(out_ptr + 1, tl.reduce(x, 0, lambda a, b: tl.maximum(a, b)))
    low, high = tl.reduce((x, x), 0, lambda a, b, c, d: (tl.minimum(a, c), tl.maximum(b, d)))
    tl.store(out_ptr + 2, high - low)
    add = lambda y: y + bias  # noqa: E731
    tl.store(out_ptr + 3, add(low))
    bias = 5
    tl.store(out_ptr + 4, add(low))


def test_lambdas_combine_and_capture(device):
    x = values("int32", 32, low=-90, high=90)
    low, high = x.min(), x.max()
    expected = np.array([x.sum(), high, high - low, low + 3, low + 5], np.int32)
    arguments = dict(x_ptr=x, out_ptr=np.zeros(5, np.int32), N=32)
    check(reduce_with_lambdas, (1,), arguments, dict(out_ptr=expected), device=device)


@triton.jit
def apply(f, x, times: tl.constexpr = 1, *more):
    for _ in tl.static_range(times):
        x = f(x)
    for g in tl.static_range(len(more)):
        x = more[g](x)
    return x


@triton.jit
def double(x):
    return x * 2


@triton.jit
def nested(x_ptr, out_ptr, k, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    offset = tl.sum(x) + k

    def shifted(y, by=1):
        def inner(z):
            return z + offset

        return inner(y) * by

    @triton.jit
    def factorial(n: tl.constexpr):
        if n <= 1:
            return 1
        return n * factorial(n - 1)

    y = apply(shifted, x)
    y = apply(double, y, 2, shifted, lambda v: v - i)
    y = shifted(y, by=3) + factorial(5)
    functions = (double, shifted)
    for f in tl.static_range(2):
        y = functions[f](y)
    tl.store(out_ptr + i, y)


@pytest.mark.parametrize("k", [0, -7])
def test_nested_functions_travel(k, device):
    x = values("int32", 16, low=-9, high=9)
    offset = x.sum() + k
    y = (x + offset) * 4 + offset - np.arange(16)
    y = (y + offset) * 3 + 120
    y = y * 2 + offset
    arguments = dict(x_ptr=x, out_ptr=np.zeros(16, np.int32), k=k, N=16)
    check(nested, (1,), arguments, dict(out_ptr=y.astype(np.int32)), device=device)


@triton.jit
def compose(f, g):
    return lambda x: f(g(x))


@triton.jit
def composed(out_ptr, n):
    h = compose(lambda x: x + n, lambda x: x * n)
    tl.store(out_ptr, h(5))
    inc = compose(h, double)
    tl.store(out_ptr + 1, inc(5))


def test_functions_are_returned(device):
    arguments = dict(out_ptr=np.zeros(2, np.int32), n=7)
    check(composed, (1,), arguments, dict(out_ptr=np.array([42, 77], np.int32)), device=device)


@triton.jit
def between(x_ptr, out_ptr, low, high, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    tl.store(out_ptr + i, (low <= x < high) | (0 < N < 10 < x))
    if 0 <= low < high <= 100:
        tl.store(out_ptr + N, 1)


@pytest.mark.parametrize("bounds", [(3, 7), (7, 3), (-1, 50)])
def test_comparisons_are_chained(bounds, device):
    low, high = bounds
    x = np.arange(8, dtype=np.int32) * 2
    inside = ((low <= x) & (x < high)) | (x > 10)
    expected = np.append(inside, 0 <= low < high <= 100).astype(np.int32)
    arguments = dict(x_ptr=x, out_ptr=np.zeros(9, np.int32), low=low, high=high, N=8)
    check(between, (1,), arguments, dict(out_ptr=expected), device=device)


@triton.jit(noinline=True)
def scaled(x, n):
    return x * n + 1


@triton.jit
def calls(out_ptr, n):
    total = 0
    for i in range(n):
        total += scaled(i, n)
    tl.store(out_ptr, total)


@pytest.mark.parametrize("n", [0, 1, 9])
def test_noinline_functions_are_called(n, device):
    expected = np.array([sum(i * n + 1 for i in range(n))], np.int32)
    check(calls, (1,), dict(out_ptr=np.zeros(1, np.int32), n=n), dict(out_ptr=expected), device=device)


@triton.jit
def comprehension(x_ptr, out_ptr, N: tl.constexpr):
    parts = [tl.load(x_ptr + k) * s for k, s in [(0, 1), (3, 10), (5, 100)] if k != 3]
    tl.store(out_ptr, parts[0] + parts[1])
    pair = (parts[1], *parts)
    tl.store(out_ptr + 1, pair[0] - pair[-1] + len(pair))


def test_list_comprehension(device):
    x = np.arange(1, 9, dtype=np.int32)
    arguments = dict(x_ptr=x, out_ptr=np.zeros(2, np.int32), N=8)
    check(comprehension, (1,), arguments, dict(out_ptr=np.array([601, 3], np.int32)), device=device)
