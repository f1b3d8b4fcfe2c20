"""Functions of scalars on every element: branches, loops, several results, several at a time."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from _pointwise import blank
from harness import check, values


@triton.jit
def one(
    x_ptr,
    y_ptr,
    out_ptr,
    FUNCTION: tl.constexpr,
    PACK: tl.constexpr,
    SHAPE: tl.constexpr,
    N: tl.constexpr,
):
    i = tl.arange(0, N)
    x = tl.reshape(tl.load(x_ptr + i), SHAPE)
    y = tl.reshape(tl.load(y_ptr + i), SHAPE)
    out = tl.map_elementwise(FUNCTION, x, y, pack=PACK)
    tl.store(out_ptr + i, tl.reshape(out, (N,)))


@triton.jit
def two(
    x_ptr,
    y_ptr,
    out_ptr,
    FUNCTION: tl.constexpr,
    PACK: tl.constexpr,
    SHAPE: tl.constexpr,
    N: tl.constexpr,
):
    i = tl.arange(0, N)
    x = tl.reshape(tl.load(x_ptr + i), SHAPE)
    y = tl.reshape(tl.load(y_ptr + i), SHAPE)
    first, second = tl.map_elementwise(FUNCTION, x, y, pack=PACK)
    tl.store(out_ptr + i, tl.reshape(first, (N,)))
    tl.store(out_ptr + N + i, tl.reshape(second, (N,)))


@triton.jit
def distance(a, b):
    """Without control flow: only ops on tiles."""
    return tl.abs(a - b) * 2 + 1


@triton.jit
def quotient(a, b):
    """No division where b is 0."""
    if b == 0:
        result = a
    else:
        result = a // b
    return result


@triton.jit
def early(a, b):
    if a < b:
        return b - a
    if a == b:
        return a * 0
    return a * b


@triton.jit
def gcd(a, b):
    """A loop whose trip count depends on the element."""
    a = tl.abs(a)
    b = tl.abs(b)
    while b != 0:
        c = a % b
        a = b
        b = c
    return a


@triton.jit
def power_sum(a, b):
    """A loop whose length is an element."""
    total = a * 0
    for i in range(0, b & 7):
        if i != 3:
            total += a * i
    return total


@triton.jit
def quotient_and_rest(a, b):
    if b == 0:
        return a, a
    else:
        return a // b, a % b


def c_divide(a, b):
    """C's quotient and remainder, a for both where b is 0."""
    safe = np.where(b == 0, 1, b)
    quotient = (np.sign(a) * np.sign(safe)) * (np.abs(a) // np.abs(safe))
    return np.where(b == 0, a, quotient), np.where(b == 0, a, a - quotient * safe)


ONE = [
    (distance, lambda a, b: np.abs(a - b) * 2 + 1),
    (quotient, lambda a, b: c_divide(a, b)[0]),
    (early, lambda a, b: np.where(a < b, b - a, np.where(a == b, 0, a * b))),
    (gcd, np.gcd),
    (power_sum, lambda a, b: a * np.array([sum(i for i in range(n) if i != 3) for n in (b & 7)])),
]


def name_of(function):
    return getattr(function, "__name__", "").replace("<lambda>", "numpy")


def operands(n):
    return values("int32", n, low=-30, high=30), values("int32", n, seed=1, low=-6, high=6)


@pytest.mark.parametrize("shape", [(1,), (2,), (64,), (4, 32), (2, 4, 8)])
@pytest.mark.parametrize("function, reference", ONE, ids=name_of)
def test_function(function, reference, shape, device):
    x, y = operands(int(np.prod(shape)))
    want = reference(x, y).astype(np.int32)
    arguments = dict(x_ptr=x, y_ptr=y, out_ptr=blank(want), FUNCTION=function, PACK=1)
    check(one, (1,), arguments | dict(SHAPE=shape, N=x.size), dict(out_ptr=want), device=device)


@pytest.mark.parametrize("shape", [(1,), (16,), (8, 16)])
def test_several_results(shape, device):
    x, y = operands(int(np.prod(shape)))
    want = np.concatenate(c_divide(x, y)).astype(np.int32)
    arguments = dict(x_ptr=x, y_ptr=y, out_ptr=blank(want), FUNCTION=quotient_and_rest, PACK=1)
    check(two, (1,), arguments | dict(SHAPE=shape, N=x.size), dict(out_ptr=want), device=device)


@triton.jit
def neighbours(a0, a1, b0, b1):
    """Two elements per call: those of one operand are consecutive parameters."""
    if a0 < a1:
        return a0 * 10 + b1, a1 + b0
    else:
        return a1 - b0, a0 * b1


@triton.jit
def sorted_pairs(a0, a1, b0, b1):
    """Two results of two elements each: those of one result are consecutive."""
    low = a0
    high = a1
    if a0 > a1:
        low = a1
        high = a0
    return low, high, b1, b0


@triton.jit
def rotated(a0, a1, a2, a3, b0, b1, b2, b3):
    return a3 + b0, a0 + b1, a1 + b2, a2 + b3


@pytest.mark.parametrize("shape", [(2,), (64,), (4, 2), (16, 8), (8, 1)])
def test_two_elements_a_call(shape, device):
    x, y = operands(int(np.prod(shape)))
    (a0, a1), (b0, b1) = x.reshape(-1, 2).T, y.reshape(-1, 2).T
    rises = a0 < a1
    want = np.stack([np.where(rises, a0 * 10 + b1, a1 - b0), np.where(rises, a1 + b0, a0 * b1)], -1)
    want = want.reshape(-1).astype(np.int32)
    arguments = dict(x_ptr=x, y_ptr=y, out_ptr=blank(want), FUNCTION=neighbours, PACK=2)
    check(one, (1,), arguments | dict(SHAPE=shape, N=x.size), dict(out_ptr=want), device=device)


@pytest.mark.parametrize("n", [2, 128])
def test_two_results_of_two_elements(n, device):
    x, y = operands(n)
    low_high = np.sort(x.reshape(-1, 2), 1).reshape(-1)
    want = np.concatenate([low_high, y.reshape(-1, 2)[:, ::-1].reshape(-1)])
    arguments = dict(x_ptr=x, y_ptr=y, out_ptr=blank(want), FUNCTION=sorted_pairs, PACK=2)
    check(two, (1,), arguments | dict(SHAPE=(n,), N=n), dict(out_ptr=want), device=device)


@pytest.mark.parametrize("n", [4, 64])
def test_four_elements_a_call(n, device):
    x, y = operands(n)
    want = (np.roll(x.reshape(-1, 4), 1, 1) + y.reshape(-1, 4)).reshape(-1)
    arguments = dict(x_ptr=x, y_ptr=y, out_ptr=blank(want), FUNCTION=rotated, PACK=4)
    check(one, (1,), arguments | dict(SHAPE=(n,), N=n), dict(out_ptr=want), device=device)


@triton.jit
def collatz(n):
    """Floats and ints in one function; the result has another type."""
    steps = 0.0
    while n > 1:
        if n % 2 == 0:
            n = n // 2
        else:
            n = 3 * n + 1
        steps += 1.0
    return steps


@triton.jit
def masked(x_ptr, out_ptr, n, N: tl.constexpr):
    i = tl.program_id(0) * N + tl.arange(0, N)
    x = tl.load(x_ptr + i, mask=i < n, other=0)
    tl.store(out_ptr + i, tl.map_elementwise(collatz, x), mask=i < n)


@pytest.mark.parametrize("n", [1, 31, 200])
def test_masked_tail(n, device):
    x = np.arange(n, dtype=np.int64) + 1

    def steps(k):
        return 0 if k <= 1 else 1 + steps(k // 2 if k % 2 == 0 else 3 * k + 1)

    want = np.array([steps(int(k)) for k in x], np.float32)
    arguments = dict(x_ptr=x, out_ptr=blank(want), n=n, N=64)
    check(masked, (triton.cdiv(n, 64),), arguments, dict(out_ptr=want), device=device)


@triton.jit
def scalars_and_shapes(x_ptr, out_ptr, k, N: tl.constexpr):
    """Operands are broadcast; scalars alone give a scalar."""
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    table = tl.map_elementwise(quotient, x[:, None], x[None, :])
    tl.store(out_ptr + i[:, None] * N + i[None, :], table + tl.map_elementwise(gcd, k, 12))


def test_broadcast_operands(device):
    x = np.arange(-4, 4, dtype=np.int32)
    want = c_divide(x[:, None], x[None, :])[0] + np.gcd(18, 12)
    want = want.astype(np.int32)
    arguments = dict(x_ptr=x, out_ptr=blank(want), k=18, N=8)
    check(scalars_and_shapes, (1,), arguments, dict(out_ptr=want), device=device)
