"""Ranges whose step is negative, or of a sign known only at run time, run as Python's range."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from harness import check

INT32, INT64 = np.iinfo(np.int32), np.iinfo(np.int64)


def summary(numbers, before, bits):
    """Their count, a hash that depends on their order, and the last one."""
    total = 0
    for number in numbers:
        total = (total * 3 + number) % 2**bits
    total -= 2**bits * (total >= 2 ** (bits - 1))
    return [len(numbers), total, numbers[-1] if len(numbers) else before]


@triton.jit
def typed(bounds_ptr, out_ptr, T: tl.constexpr, STAGES: tl.constexpr):
    start = tl.load(bounds_ptr).to(T)
    stop = tl.load(bounds_ptr + 1).to(T)
    step = tl.load(bounds_ptr + 2).to(T)
    count = 0
    total = start.to(tl.int64) * 0
    i = start
    for i in tl.range(start, stop, step, num_stages=STAGES):
        count += 1
        total = total * 3 + i
    tl.store(out_ptr, count)
    tl.store(out_ptr + 1, total)
    tl.store(out_ptr + 2, i)


CASES = [
    *(("int32", case) for case in [(88, -1, -8), (0, 20, 7), (5, 10, -3), (10, 5, 3), (4, 4, -1), (7, 6, -1)]),
    ("int32", (INT32.max - 1, INT32.min, INT32.min)),
    ("int32", (INT32.min, INT32.max, INT32.max)),
    ("int32", (INT32.max, INT32.min, -(2**30))),
    ("int32", (INT32.max - 5, INT32.max, 3)),
    ("int32", (INT32.min + 3, INT32.min, -2)),
    ("int64", (2**40, 2**40 - 9, -4)),
    ("int64", (INT64.max, INT64.min, INT64.min + 1)),
    ("int64", (-(2**62), 2**62, 2**61)),
    ("uint32", (2**32 - 8, 2**32 - 1, 3)),
    ("uint32", (9, 2, 1)),
    ("int8", (100, -100, -50)),
    ("int16", (-5, 5, 5)),
]


@pytest.mark.parametrize("stages", [None, 3])
@pytest.mark.parametrize("kind, bounds", CASES)
def test_types_and_limits(kind, bounds, stages, device):
    arguments = dict(bounds_ptr=np.array(bounds, np.int64), out_ptr=np.zeros(3, np.int64))
    arguments |= dict(T=getattr(tl, kind), STAGES=stages)
    # A loop's variable that had an integer of its own type before keeps that one where the loop does not run.
    out = np.array(summary(range(*bounds), bounds[0], 64), np.int64)
    check(typed, (1,), arguments, dict(out_ptr=out), device=device)


@triton.jit
def mixed(out_ptr, start, stop, step, UNSIGNED: tl.constexpr):
    """Bounds without a sign and a step with one."""
    first, last = start, stop
    if UNSIGNED:
        first, last = start.to(tl.uint32), stop.to(tl.uint32)
    count = 0
    total = 0
    for i in range(first, last, step):
        count += 1
        total = total * 3 + i.to(tl.int32)
    tl.store(out_ptr, count)
    tl.store(out_ptr + 1, total)


@pytest.mark.parametrize("unsigned", [False, True])
@pytest.mark.parametrize("bounds", [(30, 3, -4), (3, 30, 4), (3, 30, -4), (2**31 - 2, 0, -(2**30))])
def test_a_signed_step_of_bounds_without_sign(bounds, unsigned, device):
    arguments = dict(zip(["start", "stop", "step"], bounds, strict=True), out_ptr=np.zeros(2, np.int32), UNSIGNED=unsigned)
    out = np.array(summary(range(*bounds), 0, 32)[:2], np.int32)
    check(mixed, (1,), arguments, dict(out_ptr=out), device=device)


@pytest.mark.parametrize("unsigned", [False, True])
def test_a_step_of_zero_gives_no_iteration(unsigned, device):
    arguments = dict(start=5, stop=9, step=0, out_ptr=np.ones(2, np.int32), UNSIGNED=unsigned)
    check(mixed, (1,), arguments, dict(out_ptr=np.zeros(2, np.int32)), device=device)


@triton.jit
def with_and_without_sign(out_ptr, start, stop, step, START: tl.constexpr, STOP: tl.constexpr, STEP: tl.constexpr):
    count = 0
    total = 0
    for i in range(tl.cast(start, START), tl.cast(stop, STOP), tl.cast(step, STEP)):
        count += 1
        total = total * 3 + i.to(tl.int32)
        if count > 50:
            break
    tl.store(out_ptr, count)
    tl.store(out_ptr + 1, total)


@pytest.mark.parametrize(
    "bounds, kinds",
    [
        ((0, -1, 2), ("uint32", "int32", "int32")),
        ((7, -100, 2), ("uint32", "int32", "uint32")),
        ((-5, 6, 2), ("int32", "uint32", "int32")),
        ((-5, 6, 2), ("int32", "int32", "uint32")),
        ((0, -3, 2), ("int32", "int32", "uint32")),
        ((-5, 6, -2), ("int32", "uint32", "int32")),
        ((6, -5, -2), ("uint32", "int32", "int32")),
        ((2, 9, 3), ("uint32", "int32", "uint32")),
        ((-5, 6, 2), ("int8", "uint32", "int32")),
        ((3, -7, 2), ("uint64", "int64", "int32")),
        ((2**32 - 8, 2**32 - 1, 2), ("uint32", "uint32", "int32")),
    ],
)
def test_bounds_with_and_without_a_sign(bounds, kinds, device):
    names = dict(zip(["START", "STOP", "STEP"], (getattr(tl, kind) for kind in kinds), strict=True))
    arguments = dict(zip(["start", "stop", "step"], bounds, strict=True), out_ptr=np.zeros(2, np.int32), **names)
    out = np.array(summary(range(*bounds), 0, 32)[:2], np.int32)
    check(with_and_without_sign, (1,), arguments, dict(out_ptr=out), device=device)


@triton.jit
def numbers_beside_no_sign(out_ptr, x, LOW: tl.constexpr):
    bound = x.to(tl.uint32)
    up = 0
    for _ in range(LOW, bound):
        up += 1
    down = 0
    for _ in range(bound, LOW):
        down += 1
        if down > 50:
            break
    tl.store(out_ptr, up)
    tl.store(out_ptr + 1, down)


@pytest.mark.parametrize("low", [-5, -1, 0, 3, 9])
def test_numbers_beside_a_bound_without_sign(low, device):
    out = np.array([len(range(low, 6)), len(range(6, low))], np.int32)
    check(numbers_beside_no_sign, (1,), dict(out_ptr=np.zeros(2, np.int32), x=6, LOW=low), dict(out_ptr=out), device=device)


@triton.jit
def left(out_ptr, start, stop, step, limit, STEP: tl.constexpr):
    """Nested loops that a `break` and a `continue` leave; the variables are read after them."""
    count = 0
    for i in range(start, stop, step):
        if i == limit:
            break
        for j in range(i, 0, STEP):
            if j % 2 == 0:
                continue
            count += j
    tl.store(out_ptr, count)
    tl.store(out_ptr + 1, i)


@pytest.mark.parametrize("step", [-1, -3])
@pytest.mark.parametrize("bounds, limit", [((9, -1, -2), 3), ((1, 9, 3), 7), ((9, -1, -2), 77), ((6, 2, -1), 6)])
def test_loops_that_are_left(bounds, limit, step, device):
    count = 0
    for i in range(*bounds):
        if i == limit:
            break
        count += sum(j for j in range(i, 0, step) if j % 2)
    arguments = dict(zip(["start", "stop", "step"], bounds, strict=True), out_ptr=np.zeros(2, np.int32), limit=limit, STEP=step)
    check(left, (1,), arguments, dict(out_ptr=np.array([count, i], np.int32)), device=device)


@triton.jit
def grid_stride(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    step = tl.num_programs(0) * BLOCK
    total = tl.zeros((BLOCK,), tl.int32)
    for begin in range(tl.program_id(0) * BLOCK, n, step):
        offsets = begin + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + offsets, offsets < n, 0)
    tl.atomic_add(out_ptr, tl.sum(total))


def test_a_step_of_the_grid(device):
    x = np.arange(1000, dtype=np.int32)
    arguments = dict(x_ptr=x, out_ptr=np.zeros(1, np.int32), n=1000, BLOCK=64)
    check(grid_stride, (3,), arguments, dict(out_ptr=np.array([x.sum()], np.int32)), device=device)


@triton.jit
def above(out_ptr, start, STOP: tl.constexpr, STEP: tl.constexpr, START: tl.constexpr):
    count = tl.zeros((), tl.int64)
    total = tl.zeros((), tl.int64)
    for i in range(start if START is None else START, STOP, STEP):
        count += 1
        total = total * 3 + i
    tl.store(out_ptr, count)
    tl.store(out_ptr + 1, total)


@pytest.mark.parametrize("is_constant", [False, True])
@pytest.mark.parametrize(
    "bounds",
    [
        (INT32.max - 1, INT32.max + 4, 1),
        (INT32.max - 3, 2**32 - 1, 2**30),
        (5, 2**31, 2**30),
        (INT32.max - 1, INT32.min, -(2**31)),
        (-7, 2**31 + 7, 2**31),
    ],
)
def test_numbers_above_the_largest_signed_one(bounds, is_constant, device):
    start, stop, step = bounds
    out = np.array(summary(range(*bounds), 0, 64)[:2], np.int64)
    arguments = dict(out_ptr=np.zeros(2, np.int64), start=start, STOP=stop, STEP=step)
    check(above, (1,), dict(**arguments, START=start if is_constant else None), dict(out_ptr=out), device=device)
