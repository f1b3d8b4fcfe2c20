"""break, continue and return inside loops: runtime and unrolled, nested, with carried tiles and returned values."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from harness import check


@triton.jit
def first_match(x_ptr, out_ptr, n, wanted):
    at = -1
    steps = 0
    for i in range(n):
        steps += 1
        if tl.load(x_ptr + i) == wanted:
            at = i
            break
    tl.store(out_ptr, at)
    tl.store(out_ptr + 1, steps)


@pytest.mark.parametrize("wanted", [3, 8, 99])
@pytest.mark.parametrize("n", [0, 1, 12])
def test_break_ends_a_for(n, wanted, device):
    x = np.array([3, 1, 4, 1, 5, 9, 2, 6, 8, 3, 5, 8], np.int32)
    hits = np.nonzero(x[:n] == wanted)[0]
    expected = np.array([hits[0] if len(hits) else -1, hits[0] + 1 if len(hits) else n], np.int32)
    arguments = dict(x_ptr=x, out_ptr=np.zeros(2, np.int32), n=n, wanted=wanted)
    check(first_match, (1,), arguments, dict(out_ptr=expected), device=device)


@triton.jit
def odd_sum(out_ptr, n, limit):
    total = 0
    last = -1
    for i in range(0, n, 1):
        if i % 2 == 0:
            continue
        if i > limit:
            break
        else:
            last = i
        total += i
    tl.store(out_ptr, total)
    tl.store(out_ptr + 1, last)


@pytest.mark.parametrize("n", [0, 1, 10, 11])
@pytest.mark.parametrize("limit", [-1, 4, 100])
def test_continue_and_break(n, limit, device):
    total, last = 0, -1
    for i in range(n):
        if i % 2 == 0:
            continue
        if i > limit:
            break
        total, last = total + i, i
    arguments = dict(out_ptr=np.zeros(2, np.int32), n=n, limit=limit)
    check(odd_sum, (1,), arguments, dict(out_ptr=np.array([total, last], np.int32)), device=device)


@triton.jit
def tiles(x_ptr, out_ptr, n, limit, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK,), tl.float32)
    previous = acc
    for step in range(n):
        x = tl.load(x_ptr + step * BLOCK + i)
        if tl.sum(x) < 0:
            continue
        previous = acc
        acc += x
        if tl.sum(acc) > limit:
            break
        acc = acc * 0.5
    tl.store(out_ptr + i, acc)
    tl.store(out_ptr + BLOCK + i, previous)


@pytest.mark.parametrize("limit", [5, 40, 10000])
def test_tiles_are_carried_over_both_ways_out(limit, device):
    x = np.arange(8 * 16, dtype=np.float32).reshape(8, 16) % 7 - 2
    acc = previous = np.zeros(16, np.float32)
    for row in x:
        if row.sum() < 0:
            continue
        previous, acc = acc, acc + row
        if acc.sum() > limit:
            break
        acc = acc * np.float32(0.5)
    arguments = dict(x_ptr=x, out_ptr=np.zeros((2, 16), np.float32), n=8, limit=limit, BLOCK=16)
    check(tiles, (1,), arguments, dict(out_ptr=np.stack([acc, previous])), device=device)


@triton.jit
def find(x_ptr, rows, columns, wanted):
    for row in range(rows):
        for column in range(columns):
            if tl.load(x_ptr + row * columns + column) == wanted:
                return row, column
            if column > row:
                break
    return -1, rows * columns


@triton.jit
def find_kernel(x_ptr, out_ptr, rows, columns, wanted):
    row, column = find(x_ptr, rows, columns, wanted)
    tl.store(out_ptr, row)
    tl.store(out_ptr + 1, column)


@pytest.mark.parametrize("wanted", [0, 1, 2, 7, 11, 50])
def test_return_from_nested_loops(wanted, device):
    x = np.arange(12, dtype=np.int32).reshape(3, 4)
    expected = (-1, 12)
    for row in range(3):
        for column in range(4):
            if x[row, column] == wanted and expected == (-1, 12):
                expected = (row, column)
            if column > row:
                break
    arguments = dict(x_ptr=x, out_ptr=np.zeros(2, np.int32), rows=3, columns=4, wanted=wanted)
    check(find_kernel, (1,), arguments, dict(out_ptr=np.array(expected, np.int32)), device=device)


@triton.jit
def collatz(n, limit):
    steps = 0
    while True:
        if n == 1:
            break
        if steps == limit:
            return -1
        n = tl.where(n % 2 == 0, n // 2, 3 * n + 1)
        steps += 1
    return steps


@triton.jit
def collatz_kernel(out_ptr, limit):
    at = tl.program_id(0)
    tl.store(out_ptr + at, collatz(at + 1, limit))


def test_while_true_ends_by_break_or_return(device):
    def steps(n, limit):
        count = 0
        while n != 1:
            if count == limit:
                return -1
            n, count = (n // 2 if n % 2 == 0 else 3 * n + 1), count + 1
        return count

    expected = np.array([steps(n + 1, 20) for n in range(30)], np.int32)
    arguments = dict(out_ptr=np.zeros(30, np.int32), limit=20)
    check(collatz_kernel, (30,), arguments, dict(out_ptr=expected), device=device)


@triton.jit
def guarded_test(x_ptr, out_ptr, n):
    i = 0
    total = 0
    while i < n and tl.load(x_ptr + i) >= 0:
        if tl.load(x_ptr + i) == 5:
            i += 2
            continue
        total += tl.load(x_ptr + i)
        i += 1
        if total > 20:
            break
    tl.store(out_ptr, total)
    tl.store(out_ptr + 1, i)


@pytest.mark.parametrize("x", [[1, 5, 9, 2, -1, 4], [9, 9, 9, 9], [5, 5, 5], [-1]])
def test_while_with_continue(x, device):
    i = total = 0
    while i < len(x) and x[i] >= 0:
        if x[i] == 5:
            i += 2
            continue
        total, i = total + x[i], i + 1
        if total > 20:
            break
    x = np.array(x + [0, 0], np.int32)
    arguments = dict(x_ptr=x, out_ptr=np.zeros(2, np.int32), n=len(x) - 2)
    check(guarded_test, (1,), arguments, dict(out_ptr=np.array([total, i], np.int32)), device=device)


@triton.jit
def unrolled(x_ptr, out_ptr, limit, N: tl.constexpr, STOP: tl.constexpr):
    total = 0
    for i in tl.static_range(N):
        if i == STOP:
            break
        x = tl.load(x_ptr + i)
        if x == 0:
            continue
        total += x
        if total > limit:
            total = -total
            break
        total += 100 * i
    tl.store(out_ptr, total)


@pytest.mark.parametrize("limit", [0, 250, 10000])
@pytest.mark.parametrize("stop", [0, 4, 99])
def test_unrolled_loops_are_left(limit, stop, device):
    x = np.array([1, 0, 3, 4, 0, 6, 7, 8], np.int32)
    total = 0
    for i in range(8):
        if i == stop:
            break
        if x[i] == 0:
            continue
        total += int(x[i])
        if total > limit:
            total = -total
            break
        total += 100 * i
    arguments = dict(x_ptr=x, out_ptr=np.zeros(1, np.int32), limit=limit, N=8, STOP=stop)
    check(unrolled, (1,), arguments, dict(out_ptr=np.array([total], np.int32)), device=device)


@triton.jit
def static_search(x_ptr, wanted, N: tl.constexpr):
    for i in tl.static_range(N):
        if tl.load(x_ptr + i) == wanted:
            return i
    return N


@triton.jit
def static_search_kernel(x_ptr, out_ptr, N: tl.constexpr):
    at = tl.program_id(0)
    tl.store(out_ptr + at, static_search(x_ptr, at, N))


def test_return_from_an_unrolled_loop(device):
    x = np.array([4, 2, 0, 2, 1], np.int32)
    expected = np.array([list(x).index(w) if w in x else 5 for w in range(6)], np.int32)
    arguments = dict(x_ptr=x, out_ptr=np.zeros(6, np.int32), N=5)
    check(static_search_kernel, (6,), arguments, dict(out_ptr=expected), device=device)


@triton.jit
def early_kernel(out_ptr, n):
    at = tl.program_id(0)
    for i in range(n):
        tl.store(out_ptr + at, i)
        if i == at:
            return
    tl.store(out_ptr + at, -1)


@pytest.mark.parametrize("n", [0, 1, 3, 9])
def test_a_kernel_returns_from_a_loop(n, device):
    expected = np.array([at if at < n else -1 for at in range(5)], np.int32)
    arguments = dict(out_ptr=np.full(5, -7, np.int32), n=n)
    check(early_kernel, (5,), arguments, dict(out_ptr=expected), device=device)


@triton.jit
def tile_of(x_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    for step in range(n - 1, -1, -1):
        x = tl.load(x_ptr + step * BLOCK + i)
        if tl.max(x) > 10:
            return x, step
    return tl.zeros((BLOCK,), tl.int32), -1


@triton.jit
def returned_tile(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    x, step = tile_of(x_ptr, n, BLOCK)
    tl.store(out_ptr + tl.arange(0, BLOCK), x + step)


@pytest.mark.parametrize("n", [1, 3, 4])
def test_a_tile_is_returned_from_a_loop(n, device):
    x = np.arange(4 * 8, dtype=np.int32).reshape(4, 8) % 19
    steps = [s for s in range(n - 1, -1, -1) if x[s].max() > 10]
    expected = x[steps[0]] + steps[0] if steps else np.full(8, -1, np.int32)
    arguments = dict(x_ptr=x, out_ptr=np.zeros(8, np.int32), n=n, BLOCK=8)
    check(returned_tile, (1,), arguments, dict(out_ptr=expected.astype(np.int32)), device=device)


@triton.jit
def last_index(x_ptr, out_ptr, n):
    last = 0
    for i in range(n):
        last = i
        if tl.load(x_ptr + i) < 0:
            break
    for i in range(last):
        for j in range(i):
            if j == 2:
                continue
            if i == 3:
                break
            last += j
    tl.store(out_ptr, last)


def test_the_index_outlives_its_loop_under_another_name(device):
    x = np.array([1, 2, 3, 4, 5, 6, -7, 8], np.int32)
    last = 6
    for i in range(6):
        for j in range(i):
            if j == 2:
                continue
            if i == 3:
                break
            last += j
    arguments = dict(x_ptr=x, out_ptr=np.zeros(1, np.int32), n=8)
    check(last_index, (1,), arguments, dict(out_ptr=np.array([last], np.int32)), device=device)
