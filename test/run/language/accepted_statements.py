"""Statements and expressions"""
# SPDX-License-Identifier: MIT

import collections

import numpy as np
import triton
import triton.language as tl
from _accepted import accepts

Pair = collections.namedtuple("Pair", ["first", "second"])


@triton.jit
def comprehensions(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    doubled = [k * 2 for k in (1, 2, 3) if k > 1]
    sums = [a + b for a, b in ((n, 1), (2, 3))]
    tl.static_assert(len(doubled) == 2)
    tl.store(out + i, tl.load(x + i) + doubled[1] + sums[0] + sums[1])


def test_comprehensions(device):
    """List comprehensions over tuples, with conditions and tuples as targets."""
    accepts(comprehensions, lambda x, n: x + 6 + n + 1 + 5, device)


@triton.jit
def ranges_as_values(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    squares = [k * k for k in range(1, 4)]
    tl.static_assert(len(range(3)) == 3)
    tl.store(out + i, tl.load(x + i) + squares[2] + len(squares))


def test_ranges_as_values(device):
    """Beyond: a comprehension over a `range` of constants (`len` of one Triton has too)."""
    accepts(ranges_as_values, lambda x, n: x + 9 + 3, device)


@triton.jit
def walrus(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    if (k := n + 1) > 3:
        tl.store(out + i, (v := tl.load(x + i)) + k)
        tl.store(out + i, v + k)


def test_walrus(device):
    """Assignment expressions."""
    accepts(walrus, lambda x, n: x + n + 1, device)


@triton.jit
def sum_of(first, *rest):
    for k in tl.static_range(len(rest)):
        first += rest[k]
    return first


@triton.jit
def starred_calls(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    both = (n, 2)
    tl.store(out + i, sum_of(tl.load(x + i), *both, *(3, n)))


def test_starred_calls(device):
    """`*` before an argument, `*args` among parameters."""
    accepts(starred_calls, lambda x, n: x + 2 * n + 5, device)


@triton.jit
def larger_first(a, b):
    if a > b:
        return a, 0
    return b, 1


@triton.jit
def early_returns(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    value, side = larger_first(n, 6)
    tl.store(out + i, tl.load(x + i) * value + side)
    if n > 6:
        return
    tl.store(out + i, tl.load(x + i) * value + side + 10)


def test_early_returns(device):
    """`return` in an `if`, of constants and values."""
    accepts(early_returns, lambda x, n: x * 6 + 11, device)
    accepts(early_returns, lambda x, n: x * 9, device, n=9)


@triton.jit
def logic(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    inside = 0 <= i < n
    if (n > 2 and B > 2 and not n > 50) or x is None:
        v = v + 1
    if n:
        v = v + 1
    tl.store(out + i, tl.where(inside, v, 0))


def test_logic(device):
    """`and`, `or`, `not`, `is`, chained comparisons; a number as a condition."""
    accepts(logic, lambda x, n: np.where(np.arange(16) < n, x + 2, 0), device)


@triton.jit
def logic_of_tiles(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    chosen = (v > 0) and not (v > 4) or (v == -4)
    tl.store(out + i, tl.where(chosen, v, 0))


def test_logic_of_tiles(device):
    """`and`, `or` and `not` of tiles, element by element, with a warning."""
    accepts(logic_of_tiles, lambda x, n: np.where(((x > 0) & ~(x > 4)) | (x == -4), x, 0), device)


@triton.jit
def ternaries(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    a = 1 if n > 2 else 0
    b = v if n > 2 else v + 1
    c = None if B > 2 else v
    kind = tl.float16 if B > 2 else tl.float32
    tl.static_assert(c is None)
    tl.store(out + i, (b + a).to(kind))


def test_ternaries(device):
    """Conditional expressions: with run-time conditions sides of one type, with compile-time conditions any."""
    accepts(ternaries, lambda x, n: x + 1, device)
    accepts(ternaries, lambda x, n: x + 1, device, n=1)


@triton.jit
def branches(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    count = 0
    factor = 1.0
    extra = None
    if n > 3:
        count = n
        factor = 2.0
        w = v
    else:
        w = -v
    if B == 16:
        extra = v
    tl.store(out + i, w * factor + count + extra)


def test_branches(device):
    """Names that a branch changes, names that both sides assign; another type if the condition is constant."""
    accepts(branches, lambda x, n: x * 2 + n + x, device)
    accepts(branches, lambda x, n: -x + x, device, n=2)


@triton.jit
def loops(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    total = 0
    for k in range(n, 0, -1):
        total += k
    for k in tl.range(0, n, 2, num_stages=2):
        total += k
    for k in tl.static_range(4, 0, -2):
        total += k
    for _ in range(tl.cdiv(n, 2)):
        total += 1
    left = n
    while left:
        left -= 1
        total += 1
    running = True
    while running and left < 3:
        left += 1
        running = left < 2
    tl.store(out + i, v + total + left)


def test_loops(device):
    """`range` with any step, `tl.range`, `tl.static_range`, `while` on numbers, flags and their `and`."""
    accepts(loops, lambda x, n: x + 15 + 6 + 6 + 3 + 5 + 2, device)


@triton.jit
def carried_tuples(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    state = (n, tl.load(x + i))
    for _ in range(3):
        state = (state[0] + 1, state[1] * 2)
    tl.store(out + i, state[1] + state[0])


def test_carried_tuples(device):
    """Tuples that a loop carries."""
    accepts(carried_tuples, lambda x, n: x * 8 + n + 3, device)


@triton.jit
def first_and_sum(pair):
    return Pair(pair.first + 1, pair.first + pair.second)


@triton.jit
def tuples(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    (a, b), c = (n, 2), v
    a, b = b, a
    t = (a, b) + (3,) * 2
    p = first_and_sum(Pair(first=a, second=b))
    tl.static_assert(len(t) == 4 and (1, 2) == (1, 2) and t[1:][-1] is not None)
    tl.store(out + i, c + t[0] * 100 + t[-1] + p.first + p.second + sum_of(*p))


def test_tuples(device):
    """Tuples and named tuples: nested targets, swaps, `+`, `*`, slices, fields by name."""
    accepts(tuples, lambda x, n: x + 200 + 3 + 3 + (2 + n) + (3 + 2 + n), device)


@triton.jit
def texts(x, out, n, B: tl.constexpr):
    """A docstring, `pass` and `...` have no effect."""
    i = tl.arange(0, B)
    name: tl.constexpr = f"{B:04d}" + "x"
    tl.static_assert(
        name == "0016x" and name[-1] == "x" and name.startswith("00") and len(name) == 5,
        f"not {name}",
    )
    assert n > 0, "n is positive"
    tl.store(out + i, tl.load(x + i))


def test_texts(device):
    """Strings: f-strings with formats, `+`, indices, comparisons, methods; docstrings, `assert` with a message."""
    accepts(texts, lambda x, n: x, device)


@triton.jit
def beyond_statements(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)

    def twice(a):
        return a * 2

    add_n = lambda a: a + n  # noqa: E731
    for k in range(100):
        if k > 4:
            break
        if k == 2:
            continue
        v += 1
    [a, b] = 1, 2
    if B in (8, 16):
        v += a
    tl.store(out + i, add_n(twice(v)) + b + v[3])


def test_beyond_statements(device):
    """Beyond: nested functions and lambdas that read names of the enclosing function, `break`, `continue`, `[a, b] =`,
    `in`, elements and slices of tiles."""
    accepts(beyond_statements, lambda x, n: (x + 5) * 2 + n + 2 + x[3] + 5, device)


@triton.jit
def forms_with_one_operand(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    value = n if tl.full([1], 1, tl.int32) > 0 else n + 1
    tl.store(out + i, +v + value + n + int(bool(B)))


def test_forms_with_one_operand(device):
    """Beyond: unary `+`, `bool`, a tile of one element as the condition of a conditional expression."""
    accepts(forms_with_one_operand, lambda x, n: x + 2 * n + 1, device)


@triton.jit
def else_of_loops(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    for k in tl.static_range(3):
        v += k
    else:
        v = v * 2 + n
    for k in tl.static_range(0):
        v += k
    else:
        v += 1000
    tl.store(out + i, v)


def test_else_of_loops(device):
    """`else` of a loop over `tl.static_range`, which runs after each iteration."""

    def expected(x, n):
        for k in range(3):
            x = (x + k) * 2 + n
        return x

    accepts(else_of_loops, expected, device)
