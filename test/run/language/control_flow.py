"""if, for and while on run-time values: phis, early return, no iterations, nesting."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from harness import check, values


@triton.jit
def branches(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    scale = 1.0
    if n > 10:
        x = x * 2
        scale = 3.0
    elif n > 5:
        y = tl.sum(x, 0)
        x = x + y
    else:
        scale = -1.0
    if n == 7:
        new = x
    else:
        new = x * scale
    tl.store(out_ptr + i, new + scale)


@pytest.mark.parametrize("n", [0, 5, 6, 7, 10, 11])
def test_values_merge_after_if(n, device):
    x = np.arange(32, dtype=np.float32)
    y, scale = x, 1.0
    if n > 10:
        y, scale = x * 2, 3.0
    elif n > 5:
        y = x + x.sum()
    else:
        scale = -1.0
    expected = ((y if n == 7 else y * scale) + scale).astype(np.float32)
    arguments = dict(x_ptr=x, out_ptr=np.zeros_like(x), n=n, BLOCK=32)
    check(branches, (1,), arguments, dict(out_ptr=expected), device=device)


@triton.jit
def nested_branches(out_ptr, a, b):
    result = 0
    if a > 0:
        if b > 0:
            result = 1
            if a > b:
                result += 10
        else:
            result = 2
    else:
        if b > 0:
            result = 3
    tl.store(out_ptr, result)
    tl.store(out_ptr + 1, (1 if a > b else 2) if a != b else 3)


@pytest.mark.parametrize("a", [-2, 5, 9])
@pytest.mark.parametrize("b", [-3, 5, 7])
def test_nested_if(a, b, device):
    result = (1 + (10 if a > b else 0) if b > 0 else 2) if a > 0 else (3 if b > 0 else 0)
    expected = np.array([result, (1 if a > b else 2) if a != b else 3], np.int32)
    arguments = dict(out_ptr=np.zeros(2, np.int32), a=a, b=b)
    check(nested_branches, (1,), arguments, dict(out_ptr=expected), device=device)


@triton.jit
def early(out_ptr, n):
    at = tl.program_id(0)
    if at >= n:
        return
    if at % 3 == 1:
        tl.store(out_ptr + at, -1)
        return
    else:
        if at % 3 == 2:
            tl.store(out_ptr + at, -2)
            return
    tl.store(out_ptr + at, at)


@pytest.mark.parametrize("n", [0, 1, 8, 20])
def test_early_return(n, device):
    at = np.arange(16)
    expected = np.where(at % 3 == 1, -1, np.where(at % 3 == 2, -2, at))
    expected = np.where(at < n, expected, 99).astype(np.int32)
    arguments = dict(out_ptr=np.full(16, 99, np.int32), n=n)
    check(early, (16,), arguments, dict(out_ptr=expected), device=device)


@triton.jit
def sign(x):
    if x > 0:
        return 1
    if x < 0:
        return -1
    return 0


@triton.jit
def pick(x, y):
    if x > y:
        return x, y
    else:
        return y, x


@triton.jit
def returns_of_functions(x_ptr, out_ptr):
    at = tl.program_id(0)
    x = tl.load(x_ptr + at)
    large, small = pick(x, 2)
    tl.store(out_ptr + at, sign(x) * 100 + large - small)


def test_early_return_of_called_functions(device):
    x = np.array([-5, 0, 2, 9], np.int32)
    expected = (np.sign(x) * 100 + np.abs(x - 2)).astype(np.int32)
    arguments = dict(x_ptr=x, out_ptr=np.zeros_like(x))
    check(returns_of_functions, (4,), arguments, dict(out_ptr=expected), device=device)


@triton.jit
def loops(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.float32)
    largest = tl.full((BLOCK,), -float("inf"), tl.float32)
    count = 0
    for row in range(n):
        x = tl.load(x_ptr + row * BLOCK + i)
        total += x
        largest = tl.maximum(largest, x)
        if row % 2 == 0:
            count += 1
    tl.store(out_ptr + i, total)
    tl.store(out_ptr + BLOCK + i, largest + count)


@pytest.mark.parametrize("n", [0, 1, 2, 9])
@pytest.mark.parametrize("block", [1, 4, 64, 512])
def test_tiles_carried_by_a_loop(n, block, device):
    x = values("float32", max(n, 1), block)
    total, largest = np.zeros(block, np.float32), np.full(block, -np.inf, np.float32)
    for row in range(n):
        total += x[row]
        largest = np.maximum(largest, x[row])
    expected = np.stack([total, largest + np.float32((n + 1) // 2)])
    arguments = dict(x_ptr=x, out_ptr=np.zeros((2, block), np.float32), n=n, BLOCK=block)
    check(loops, (1,), arguments, dict(out_ptr=expected), device=device)


@triton.jit
def swapping(x_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    a = tl.load(x_ptr + i)
    b = tl.load(x_ptr + BLOCK + i)
    for _ in range(n):
        a, b = b, a
    tl.store(x_ptr + i, a)
    tl.store(x_ptr + BLOCK + i, b)


@triton.jit
def fibonacci(x_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    a = tl.load(x_ptr + i)
    b = tl.load(x_ptr + BLOCK + i)
    left = n  # an argument of 1 is specialised as a constant; a local variable is not
    while left > 0:
        a, b = b, a + b
        left -= 1
    tl.store(x_ptr + i, a)
    tl.store(x_ptr + BLOCK + i, b)


@pytest.mark.parametrize("n", [0, 1, 2, 7])
@pytest.mark.parametrize("block", [1, 16, 256])
def test_two_tiles_that_swap(n, block, device):
    x = values("int32", 2, block)
    arguments = dict(x_ptr=x, n=n, BLOCK=block)
    check(swapping, (1,), arguments, dict(x_ptr=x[::-1] if n % 2 else x), device=device)
    a, b = x
    for _ in range(n):
        a, b = b, a + b
    check(fibonacci, (1,), arguments, dict(x_ptr=np.stack([a, b])), device=device)


@triton.jit
def reversing(x_ptr, out_ptr, n, ROWS: tl.constexpr):
    """A loop-carried tile that each iteration transposes: it is not read in the order in which it is written."""
    at = tl.arange(0, ROWS)[:, None] * ROWS + tl.arange(0, ROWS)[None, :]
    x = tl.load(x_ptr + at)
    for step in range(n):
        x = tl.trans(x) + step
    tl.store(out_ptr + at, x)


@pytest.mark.parametrize("n", [0, 1, 2, 5])
@pytest.mark.parametrize("rows", [2, 8, 32])
def test_a_carried_tile_that_is_transposed(rows, n, device):
    x = values("int32", rows, rows)
    expected = x
    for step in range(n):
        expected = expected.T + step
    arguments = dict(x_ptr=x, out_ptr=np.zeros_like(x), n=n, ROWS=rows)
    check(reversing, (1,), arguments, dict(out_ptr=expected.astype(np.int32)), device=device)


@triton.jit
def normalising(x_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    for _ in range(n):
        x = x - tl.min(x, 0) + tl.sum(x, 0)
    tl.store(x_ptr + i, x)


@pytest.mark.parametrize("n", [0, 1, 6])
def test_a_carried_tile_that_is_reduced(n, device):
    x = values("int32", 64)
    expected = x
    for _ in range(n):
        expected = (expected - expected.min() + expected.sum(dtype=np.int32)).astype(np.int32)
    arguments = dict(x_ptr=x, n=n, BLOCK=64)
    check(normalising, (1,), arguments, dict(x_ptr=expected), device=device)


@triton.jit
def nested(x_ptr, out_ptr, rows, columns, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    total = tl.zeros((BLOCK,), tl.int32)
    for row in range(rows):
        inner = tl.zeros((BLOCK,), tl.int32)
        for column in range(row, columns):
            inner += tl.load(x_ptr + column * BLOCK + i) * (row + 1)
            if column == 3:
                total -= 1
        total += inner
    tl.store(out_ptr + i, total)


@pytest.mark.parametrize("rows, columns", [(0, 5), (3, 0), (1, 1), (4, 6)])
def test_nested_loops(rows, columns, device):
    x = values("int32", 8, 32)
    expected = np.zeros(32, np.int32)
    for row in range(rows):
        for column in range(row, columns):
            expected += x[column] * (row + 1) - (column == 3)
    arguments = dict(x_ptr=x, out_ptr=np.zeros(32, np.int32), rows=rows, columns=columns, BLOCK=32)
    check(nested, (1,), arguments, dict(out_ptr=expected), device=device)


@triton.jit
def counting_down(out_ptr, start, stop):
    count = 0
    for i in range(start, stop, -3):
        tl.store(out_ptr + count, i)
        count += 1
    for i in range(start, stop, -1):
        count += i % 2
    tl.store(out_ptr + 15, count)


@pytest.mark.parametrize("start, stop", [(10, 0), (9, 0), (1, 0), (0, 0), (-1, 5), (5, -7)])
def test_negative_steps(start, stop, device):
    steps = list(range(start, stop, -3))
    expected = np.zeros(16, np.int32)
    expected[: len(steps)] = steps
    expected[15] = len(steps) + sum(int(np.fmod(i, 2)) for i in range(start, stop, -1))
    arguments = dict(out_ptr=np.zeros(16, np.int32), start=start, stop=stop)
    check(counting_down, (1,), arguments, dict(out_ptr=expected), device=device)


@triton.jit
def assuming_elsewhere(out_ptr, step, flag):
    count = 0
    if flag > 0:
        tl.assume(step > 0)
        for _ in range(0, 10, step):
            count += 1
    else:
        for _ in range(10, 0, step):
            count += 10
    for _ in range(10, 0, step):
        count += 100
    for k in range(2):
        for _ in range(5 * k, 0, step):
            count += 1000
        if flag > k:
            tl.assume(step > 0)
    tl.store(out_ptr, count)


@pytest.mark.parametrize("step, flag", [(3, 1), (-3, 0)])
def test_an_assumption_holds_only_where_it_is_made(step, flag, device):
    down = len(range(10, 0, step))
    count = len(range(0, 10, step)) if flag else 10 * down
    count += 100 * down + 1000 * len(range(5, 0, step))
    arguments = dict(out_ptr=np.zeros(1, np.int32), step=step, flag=flag)
    check(assuming_elsewhere, (1,), arguments, dict(out_ptr=np.array([count], np.int32)), device=device)


@triton.jit
def wide_loop(out_ptr, start, stop):
    count = 0
    last = start
    for i in range(start, stop, 2**32):
        count += 1
        last = i
    tl.store(out_ptr, last)
    tl.store(out_ptr + 1, count)


def test_a_loop_over_64_bit_integers(device):
    start, stop = 2**40, 2**40 + 5 * 2**32
    expected = np.array([start + 4 * 2**32, 5], np.int64)
    arguments = dict(out_ptr=np.zeros(2, np.int64), start=start, stop=stop)
    check(wide_loop, (1,), arguments, dict(out_ptr=expected), device=device)


@triton.jit
def while_loops(x_ptr, out_ptr, limit, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    steps = 0
    while (tl.max(x, 0) < limit) & (steps < 100):
        x = x * 2 + 1
        steps += 1
    tl.store(out_ptr + i, x)
    tl.store(out_ptr + BLOCK, steps)


@pytest.mark.parametrize("limit", [-5, 1, 10, 1000])
def test_while_with_a_reduction(limit, device):
    x = values("int32", 16)
    expected, steps = x, 0
    while expected.max() < limit and steps < 100:
        expected, steps = expected * 2 + 1, steps + 1
    expected = np.append(expected, steps).astype(np.int32)
    arguments = dict(x_ptr=x, out_ptr=np.zeros(17, np.int32), limit=limit, BLOCK=16)
    check(while_loops, (1,), arguments, dict(out_ptr=expected), device=device)


@triton.jit
def stores_in_branches(out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    for step in range(n):
        if step % 2 == 0:
            tl.store(out_ptr + i, tl.load(out_ptr + i) + step)
        elif step > 2:
            tl.store(out_ptr + i, tl.load(out_ptr + BLOCK - 1 - i))


@pytest.mark.parametrize("n", [0, 1, 3, 4, 8])
def test_stores_and_loads_in_branches_of_loops(n, device):
    x = values("int32", 64)
    expected = x
    for step in range(n):
        if step % 2 == 0:
            expected = expected + step
        elif step > 2:
            expected = expected[::-1]
    arguments = dict(out_ptr=x, n=n, BLOCK=64)
    expected = expected.astype(np.int32)
    check(stores_in_branches, (1,), arguments, dict(out_ptr=expected), device=device)


@triton.jit
def loop_variable(out_ptr, n):
    for i in range(n):
        j = i
        i = i * 2  # does not change the trip count  # noqa: PLW2901
        tl.store(out_ptr + j, i)


def test_the_loop_variable_may_be_assigned(device):
    arguments = dict(out_ptr=np.zeros(5, np.int32), n=5)
    expected = np.arange(0, 10, 2, dtype=np.int32)
    check(loop_variable, (1,), arguments, dict(out_ptr=expected), device=device)


@triton.jit
def totals(x_ptr, out_ptr, outer, inner, n, BLOCK: tl.constexpr):
    """Two loop-carried tiles that begin as constants, in nested loops; masked."""
    i = tl.arange(0, BLOCK)
    product = tl.full((BLOCK,), 1.0, tl.float32)
    for a in range(outer):
        total = tl.zeros((BLOCK,), tl.float32)
        most = tl.full((BLOCK,), -float("inf"), tl.float32)
        for b in range(a, inner):
            x = tl.load(x_ptr + b * n + i, mask=i < n, other=-0.0)
            total += x
            most = tl.maximum(most, x)
        product = product * tl.where(most > 0, total, -total)
    tl.store(out_ptr + i, product)


@pytest.mark.parametrize("outer", [0, 1, 3])
@pytest.mark.parametrize("inner", [0, 1, 4])
@pytest.mark.parametrize("n", [1, 61, 128])
def test_first_iteration_of_carried_constants(outer, inner, n, device):
    x = np.random.default_rng(n).integers(-4, 5, (4, n)).astype(np.float32)
    padded = np.full((4, 128), -0.0, np.float32)
    padded[:, :n] = x
    expected = np.ones(128, np.float32)
    for a in range(outer):
        total, most = np.zeros(128, np.float32), np.full(128, -np.inf, np.float32)
        for b in range(a, inner):
            total, most = total + padded[b], np.maximum(most, padded[b])
        expected = expected * np.where(most > 0, total, -total)
    arguments = dict(x_ptr=x, out_ptr=np.zeros(128, np.float32), outer=outer, inner=inner, n=n)
    check(totals, (1,), arguments | dict(BLOCK=128), dict(out_ptr=expected), device=device)


@triton.jit
def far_steps(out_ptr, lower, upper, step):
    iterations = 0
    for i in range(lower, upper, step):
        iterations += 1
        tl.store(out_ptr + iterations, i)
    tl.store(out_ptr, iterations)


@pytest.mark.parametrize(
    "lower, upper, step",
    [(0, 2**31 - 1, 2**30), (-(2**31), 2**31 - 1, 2**31 - 1), (0, 2**31 - 1, 2**31 - 1), (5, 5, 3), (7, 5, 1), (0, 10, 4)],
)
def test_steps_past_the_end_of_the_type(lower, upper, step, device):
    iterations = list(range(lower, upper, step))
    expected = np.zeros(8, np.int32)
    expected[: len(iterations) + 1] = [len(iterations), *iterations]
    arguments = dict(out_ptr=np.zeros(8, np.int32), lower=lower, upper=upper, step=step)
    check(far_steps, (1,), arguments, dict(out_ptr=expected), device=device)
