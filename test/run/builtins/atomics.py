"""Atomic accesses: every kind and element type, masks, equal addresses, many programs, and
memory order.
"""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from harness import BFloat16, check, empty_like, launch, values

INTEGERS = ["int32", "uint32", "int64", "uint64"]


@triton.jit
def combine(x_ptr, v_ptr, old_ptr, n, KIND: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = i < n
    v = tl.load(v_ptr + i, mask=mask)
    if KIND == "add":
        old = tl.atomic_add(x_ptr + i, v, mask=mask)
    elif KIND == "max":
        old = tl.atomic_max(x_ptr + i, v, mask=mask)
    elif KIND == "min":
        old = tl.atomic_min(x_ptr + i, v, mask=mask)
    elif KIND == "and":
        old = tl.atomic_and(x_ptr + i, v, mask=mask)
    elif KIND == "or":
        old = tl.atomic_or(x_ptr + i, v, mask=mask)
    elif KIND == "xor":
        old = tl.atomic_xor(x_ptr + i, v, mask=mask)
    else:
        old = tl.atomic_xchg(x_ptr + i, v, mask=mask)
    tl.store(old_ptr + i, old, mask=mask)


REFERENCE = {
    "add": np.add,
    "max": np.maximum,
    "min": np.minimum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "xchg": lambda x, v: v,
}


def whole_range(dtype, n, seed):
    info = np.iinfo(dtype)
    random = np.random.default_rng(seed)
    x = random.integers(info.min, info.max, n, dtype=dtype, endpoint=True)
    x[:2] = info.min, info.max
    return x


@pytest.mark.parametrize("block", [1, 16, 128])
@pytest.mark.parametrize("kind", REFERENCE)
@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers(dtype, kind, block, device):
    n = 77
    x, v = whole_range(dtype, n, 1), whole_range(dtype, n, 2)[::-1].copy()
    with np.errstate(over="ignore"):
        expected = REFERENCE[kind](x, v)
    arguments = dict(x_ptr=x, v_ptr=v, old_ptr=empty_like(x), n=n, KIND=kind, BLOCK=block)
    results = dict(x_ptr=expected, old_ptr=x)
    check(combine, (triton.cdiv(n, block),), arguments, results, device=device)


@pytest.mark.parametrize("kind", ["add", "xchg"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_floats(dtype, kind, device):
    x, v = values(dtype, 100, seed=1), values(dtype, 100, seed=2)
    x[:4] = np.inf, np.nan, -0.0, 1e-40
    v[:4] = 1, 2, -0.0, 1e-40
    if device != "cpu" and (dtype, kind) == ("float32", "add"):
        x[3] = v[3] = 1e-30  # GPUs flush denormals to zero there
    arguments = dict(x_ptr=x, v_ptr=v, old_ptr=empty_like(x), n=100, KIND=kind, BLOCK=32)
    results = dict(x_ptr=REFERENCE[kind](x, v), old_ptr=x)
    check(combine, (4,), arguments, results, device=device)


SPECIAL = [0.0, -0.0, 1.5, -1.5, np.inf, -np.inf, 1e-40, -1e-40, 3e38, -3e38]


@pytest.mark.parametrize("kind", ["max", "min"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_extremes_of_floats(dtype, kind, device):
    """Zeros are distinguished by their sign: -0.0 is less than 0.0."""
    x, v = (side.ravel().astype(dtype) for side in np.meshgrid(SPECIAL, SPECIAL))
    key = np.where(x == v, np.signbit(x), x < v)
    takes_v = key if kind == "max" else np.where(x == v, np.signbit(v), v < x)
    expected = np.where(takes_v.astype(bool), v, x)
    bits = np.int32 if dtype == "float32" else np.int64
    arguments = dict(x_ptr=x, v_ptr=v, old_ptr=empty_like(x), n=len(x), KIND=kind, BLOCK=128)
    check(combine, (1,), arguments, dict(x_ptr=expected, old_ptr=x), device=device)
    # Again, with the signs of zeros checked.
    arguments = dict(x_ptr=x.copy(), v_ptr=v, bits_ptr=np.zeros(len(x), bits), n=len(x))
    arguments |= dict(IS_MAX=kind == "max", BLOCK=128)
    results = dict(x_ptr=expected, bits_ptr=expected.view(bits))
    check(extreme_bits, (1,), arguments, results, device=device)


@triton.jit
def extreme_bits(x_ptr, v_ptr, bits_ptr, n, IS_MAX: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(v_ptr + i, mask=i < n)
    if IS_MAX:
        tl.atomic_max(x_ptr + i, v, mask=i < n)
    else:
        tl.atomic_min(x_ptr + i, v, mask=i < n)
    x = tl.load(x_ptr + i, mask=i < n)
    tl.store(bits_ptr + i, x.to(bits_ptr.dtype.element_ty, bitcast=True), mask=i < n)


@pytest.mark.parametrize("sign", [1, -1])
def test_nan_counts_as_beyond_infinity(sign, device):
    nan = np.array(np.copysign(np.nan, sign), np.float32)
    assert np.signbit(nan) == (sign < 0)
    for kind in ("max", "min"):
        wins = (kind == "max") == (sign > 0)
        x = np.array([1, -1, np.inf, -np.inf, 0], np.float32)
        v = np.full(5, nan, np.float32)
        expected = v if wins else x
        for a, b in ((x, v), (v, x)):
            arguments = dict(x_ptr=a, v_ptr=b, old_ptr=empty_like(a), n=5, KIND=kind, BLOCK=8)
            check(combine, (1,), arguments, dict(x_ptr=expected, old_ptr=a), device=device)


def test_small_floats_round_each_sum(device):
    x = values("float16", 64, low=-200, high=200)
    v = values("float16", 64, seed=3)
    x[:3], v[:3] = (65504, 1, 6e-8), (65504, 2**-11, 6e-8)
    arguments = dict(x_ptr=x, v_ptr=v, old_ptr=empty_like(x), n=64, KIND="add", BLOCK=64)
    with np.errstate(over="ignore"):
        check(combine, (1,), arguments, dict(x_ptr=x + v, old_ptr=x), device=device)
    a, b = BFloat16(values("float32", 64)), BFloat16(values("float32", 64, seed=3))
    total = BFloat16(a.values() + b.values())
    arguments = dict(x_ptr=a, v_ptr=b, old_ptr=BFloat16(np.zeros(64)), n=60, KIND="add", BLOCK=64)
    expected, old = a.values().copy(), np.zeros(64, np.float32)
    expected[:60], old[:60] = total.values()[:60], a.values()[:60]
    results = dict(x_ptr=BFloat16(expected), old_ptr=BFloat16(old))
    check(combine, (1,), arguments, results, device=device)


# --- Equal addresses ---------------------------------------------------------------------------


@triton.jit
def count(index_ptr, bins_ptr, ticket_ptr, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    bins = tl.load(index_ptr + i, mask=i < n, other=0)
    ticket = tl.atomic_add(bins_ptr + bins, 1, mask=i < n, sem="relaxed")
    tl.store(ticket_ptr + i, ticket, mask=i < n)


@pytest.mark.parametrize("block, bins", [(64, 1), (64, 5), (1024, 3), (16, 100)])
def test_equal_addresses_are_updated_one_after_another(block, bins, device):
    n = 3000
    index = np.random.default_rng(0).integers(0, bins, n, dtype=np.int32)
    counts = np.bincount(index, minlength=bins).astype(np.int32)
    total, tickets = np.zeros(bins, np.int32), np.full(n, -1, np.int32)
    grid = (triton.cdiv(n, block),)
    if not launch(count, grid, index, total, tickets, n, BLOCK=block, device=device):
        return
    assert (total == counts).all()
    for each in range(bins):
        assert (np.sort(tickets[index == each]) == np.arange(counts[each])).all()


@triton.jit
def many_programs(sum_ptr, wide_ptr, small_ptr, most_ptr, bits_ptr):
    pid = tl.program_id(0)
    tl.atomic_add(sum_ptr, 1.0)
    tl.atomic_add(wide_ptr, pid.to(tl.int64) << 20)
    tl.atomic_add(small_ptr, 0.5)
    tl.atomic_max(most_ptr, (pid * 7919) % 1000)
    tl.atomic_xor(bits_ptr + pid % 3, 1 << (pid % 31))


@pytest.mark.parametrize("programs", [1, 2000])
def test_many_programs_on_one_address(programs, device):
    pid = np.arange(programs, dtype=np.int64)
    bits = np.zeros(3, np.int32)
    for each in range(programs):
        bits[each % 3] ^= 1 << (each % 31)
    arguments = dict(sum_ptr=np.zeros(1, np.float32), wide_ptr=np.zeros(1, np.int64))
    arguments |= dict(small_ptr=np.zeros(1, np.float16), most_ptr=np.zeros(1, np.int32))
    arguments |= dict(bits_ptr=np.zeros(3, np.int32))
    expected = dict(
        sum_ptr=[programs],
        wide_ptr=[(pid << 20).sum()],
        small_ptr=[np.float16(0.5 * programs)],
        most_ptr=[(pid * 7919 % 1000).max()],
        bits_ptr=bits,
    )
    check(many_programs, (programs,), arguments, expected, device=device)


# --- Masks -------------------------------------------------------------------------------------


@triton.jit
def masks(x_ptr, n):
    tl.atomic_add(x_ptr, 1, mask=True)
    tl.atomic_add(x_ptr + 1, 1, mask=False)
    tl.atomic_add(x_ptr + 2, 1, mask=n > 3)
    tl.atomic_add(x_ptr + 3, 1, mask=n < 3)
    i = tl.arange(0, 8)
    tl.atomic_add(x_ptr + 8 + i, i, mask=(i % 3 == 0) & (i < n))
    tl.atomic_or(x_ptr + 16 + i, 4, mask=n > 100)
    # A mask of one element for all lanes.
    tl.atomic_max(x_ptr + 24 + i, 5, mask=n > 0)


def test_masks(device):
    x = np.zeros(32, np.int32)
    expected = x.copy()
    expected[[0, 2]] = 1
    expected[8:16] = [0, 0, 0, 3, 0, 0, 6, 0]
    expected[24:32] = 5
    check(masks, (1,), dict(x_ptr=x, n=7), dict(x_ptr=expected), device=device)


# --- Shapes ------------------------------------------------------------------------------------


@triton.jit
def two_dimensions(x_ptr, old_ptr, rows, columns, stride, M: tl.constexpr, N: tl.constexpr):
    r, c = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    mask = (r < rows) & (c < columns)
    old = tl.atomic_add(x_ptr + r * stride + c, (r * 100 + c).to(tl.float32), mask=mask)
    tl.store(old_ptr + c * rows + r, old, mask=mask)


@pytest.mark.parametrize("rows, columns", [(1, 1), (3, 5), (8, 16), (7, 1)])
def test_two_dimensions(rows, columns, device):
    x = values("float32", 8, 20, low=0, high=100).round()
    added = np.zeros_like(x)
    added[:rows, :columns] = np.add.outer(np.arange(rows) * 100, np.arange(columns))
    old = np.zeros((columns, rows), np.float32)
    arguments = dict(x_ptr=x, old_ptr=old, rows=rows, columns=columns, stride=20, M=8, N=16)
    expected = dict(x_ptr=x + added, old_ptr=x[:rows, :columns].T)
    check(two_dimensions, (1,), arguments, expected, device=device)


@triton.jit
def column_sums(x_ptr, out_ptr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """All rows of the tile have the same addresses."""
    r, c = tl.arange(0, ROWS)[:, None], tl.arange(0, COLUMNS)[None, :]
    x = tl.load(x_ptr + r * COLUMNS + c)
    tl.atomic_add(out_ptr + c + 0 * r, x)


def test_one_stride_is_zero(device):
    x = values("int32", 32, 8, low=-100, high=100)
    arguments = dict(x_ptr=x, out_ptr=np.zeros(8, np.int32), ROWS=32, COLUMNS=8)
    check(column_sums, (1,), arguments, dict(out_ptr=x.sum(axis=0)), device=device)


# --- Compare and swap --------------------------------------------------------------------------


@triton.jit
def swap(x_ptr, compare_ptr, v_ptr, old_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    old = tl.atomic_cas(x_ptr + i, tl.load(compare_ptr + i), tl.load(v_ptr + i))
    tl.store(old_ptr + i, old)


@pytest.mark.parametrize("dtype", ["int16", "uint16", "float16", *INTEGERS, "float32", "float64"])
def test_swaps_where_the_bits_agree(dtype, device):
    x = values(dtype, 32, low=0, high=50)
    compared, v = x.copy(), values(dtype, 32, seed=5, low=50, high=100)
    compared[::3] += 1
    if dtype.startswith("float"):
        x[1], compared[1] = 0.0, -0.0  # equal numbers, other bits
        x[2], compared[2] = np.nan, np.nan
    expected = np.where(np.arange(32) % 3 == 0, x, v)
    if dtype.startswith("float"):
        expected[1] = 0.0
    arguments = dict(x_ptr=x, compare_ptr=compared, v_ptr=v, old_ptr=empty_like(x), BLOCK=32)
    check(swap, (1,), arguments, dict(x_ptr=expected, old_ptr=x), device=device)


@triton.jit
def add_by_swaps(x_ptr, total_ptr, n):
    """An update that no built-in has: a multiplication."""
    for i in range(n):
        factor = tl.load(x_ptr + tl.program_id(0) * n + i)
        seen = tl.load(total_ptr)
        old = tl.atomic_cas(total_ptr, seen, seen * factor % 9973)
        while old != seen:
            seen = old
            old = tl.atomic_cas(total_ptr, seen, seen * factor % 9973)


def test_loop_around_swaps(device):
    x = values("int64", 64, 10, low=2, high=9000)
    product = 1
    for factor in x.ravel():
        product = product * int(factor) % 9973
    arguments = dict(x_ptr=x, total_ptr=np.ones(1, np.int64), n=10)
    check(add_by_swaps, (64,), arguments, dict(total_ptr=[product]), device=device)


# --- Order -------------------------------------------------------------------------------------


@triton.jit
def locked(lock_ptr, data_ptr, rounds, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    for _ in range(rounds):
        while tl.atomic_cas(lock_ptr, 0, 1) == 1:
            pass
        tl.store(data_ptr + i, tl.load(data_ptr + i) + i)
        tl.atomic_xchg(lock_ptr, 0)


def test_spin_lock(device):
    arguments = dict(lock_ptr=np.zeros(1, np.int32), data_ptr=np.zeros(64, np.int32))
    arguments |= dict(rounds=20, BLOCK=64)
    check(locked, (50,), arguments, dict(data_ptr=np.arange(64) * 1000), device=device)


@triton.jit
def chain(flag_ptr, data_ptr, BLOCK: tl.constexpr):
    """Each program adds to the values that the previous one has written."""
    pid = tl.program_id(0)
    i = tl.arange(0, BLOCK)
    before = tl.zeros((BLOCK,), tl.int64)
    if pid > 0:
        while tl.atomic_add(flag_ptr + pid - 1, 0, sem="acquire") == 0:
            pass
        before = tl.load(data_ptr + (pid - 1) * BLOCK + i)
    tl.store(data_ptr + pid * BLOCK + i, before + pid + i)
    tl.atomic_xchg(flag_ptr + pid, 1, sem="release")


def test_flags_pass_data_on(device):
    programs, block = 200, 256
    step = np.add.outer(np.arange(programs), np.arange(block))
    arguments = dict(flag_ptr=np.zeros(programs, np.int32), BLOCK=block)
    arguments |= dict(data_ptr=np.zeros((programs, block), np.int64))
    expected = dict(flag_ptr=np.ones(programs), data_ptr=step.cumsum(axis=0))
    check(chain, (programs,), arguments, expected, device=device)


@triton.jit
def between(x_ptr, seen_ptr, BLOCK: tl.constexpr):
    """Loads and stores on both sides of an atomic access to the same memory."""
    i = tl.arange(0, BLOCK)
    first = tl.load(x_ptr + i)
    tl.debug_barrier()  # the stores are by other threads than the loads
    tl.store(x_ptr + (BLOCK - 1 - i), first * 2)
    old = tl.atomic_add(x_ptr + i, first)
    then = tl.load(x_ptr + i)
    tl.atomic_xchg(x_ptr + i, 7.0)
    tl.store(seen_ptr + i, first)
    tl.store(seen_ptr + BLOCK + i, old)
    tl.store(seen_ptr + 2 * BLOCK + i, then)
    tl.store(seen_ptr + 3 * BLOCK + i, tl.load(x_ptr + i))


@pytest.mark.parametrize("block", [1, 8, 256])
def test_loads_and_stores_keep_their_place(block, device):
    x = np.arange(block, dtype=np.float32) + 1
    old = x[::-1] * 2
    seen = np.stack([x, old, old + x, np.full(block, 7)])
    arguments = dict(x_ptr=x, seen_ptr=np.zeros((4, block), np.float32), BLOCK=block)
    check(between, (1,), arguments, dict(x_ptr=np.full(block, 7), seen_ptr=seen), device=device)


@triton.jit
def operand_from_the_target(x_ptr, BLOCK: tl.constexpr):
    """The values are read before the first access, though they lie where it writes."""
    i = tl.arange(0, BLOCK)
    tl.atomic_add(x_ptr + BLOCK - 1 - i, tl.load(x_ptr + i))


def test_operand_from_the_target(device):
    x = np.arange(128, dtype=np.int32) * 3
    arguments = dict(x_ptr=x, BLOCK=128)
    check(operand_from_the_target, (1,), arguments, dict(x_ptr=x + x[::-1]), device=device)


@triton.jit
def in_loops(x_ptr, out_ptr, trips, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    last = tl.zeros((BLOCK,), tl.int32)
    first = tl.load(x_ptr + i)
    for iteration in range(trips):
        if iteration % 2 == 0:
            last = last + tl.atomic_add(x_ptr + i, iteration + i)
        else:
            tl.atomic_add(x_ptr + i // 2, 1)
    tl.store(out_ptr + i, last + first * 1000)


@pytest.mark.parametrize("trips", [0, 1, 5])
def test_in_loops_and_branches(trips, device):
    x = values("int32", 64, low=0, high=10)
    now, last = x.copy(), np.zeros(64, np.int32)
    i = np.arange(64)
    for iteration in range(trips):
        if iteration % 2 == 0:
            last += now
            now += iteration + i
        else:
            np.add.at(now, i // 2, 1)
    arguments = dict(x_ptr=x, out_ptr=np.zeros(64, np.int32), trips=trips, BLOCK=64)
    check(in_loops, (1,), arguments, dict(x_ptr=now, out_ptr=last + x * 1000), device=device)


@triton.jit
def result_in_a_reduction(x_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr, tl.sum(tl.atomic_xchg(x_ptr + i, i), axis=0))


def test_result_in_a_reduction(device):
    x = values("int32", 512, low=-100, high=100)
    arguments = dict(x_ptr=x, out_ptr=np.zeros(1, np.int32), BLOCK=512)
    expected = dict(x_ptr=np.arange(512), out_ptr=[x.sum()])
    check(result_in_a_reduction, (1,), arguments, expected, device=device)


def test_memory_that_must_not_be_written(device):
    if device.startswith(("cuda", "hip")):
        pytest.skip("a GPU gets copies of arrays")
    x = np.zeros(8, np.int32)
    x.setflags(write=False)
    with pytest.raises(ValueError, match="read-only"):
        result_in_a_reduction[(1,)](x, np.zeros(1, np.int32), BLOCK=8)
    assert (x == 0).all()


@triton.jit
def add_neighbours(x_ptr, v_ptr, old_ptr, n, BLOCK: tl.constexpr, USED: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    old = tl.atomic_add(x_ptr + i, tl.load(v_ptr + i), mask=i < n, sem="relaxed")
    if USED:
        tl.store(old_ptr + i, old, mask=i < n)


@pytest.mark.parametrize("used", [False, True])
@pytest.mark.parametrize("n", [1008, 1003])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_sums_of_neighbours(dtype, n, used, device):
    x, v = values("int32", 1024, seed=1).astype(dtype), values("int32", 1024, seed=2).astype(dtype)
    expected = x + np.where(np.arange(1024) < n, v, 0).astype(dtype)
    old = np.zeros(1024, dtype)
    results = dict(x_ptr=expected, old_ptr=np.where(np.arange(1024) < n, x, 0).astype(dtype) if used else old)
    arguments = dict(x_ptr=x, v_ptr=v, old_ptr=old, n=n, BLOCK=512, USED=used)
    check(add_neighbours, (2,), arguments, results, device=device)


@triton.jit
def add_odd_tile(x_ptr, v_ptr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    at = tl.arange(0, ROWS)[:, None] * 16 + tl.arange(0, COLUMNS)[None, :]
    tl.atomic_add(x_ptr + at, tl.load(v_ptr + at))


@pytest.mark.parametrize("columns", [3, 6, 12])
@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_sums_of_tiles_of_any_extent(dtype, columns, device):
    x, v = values("int32", 40, 16, seed=1).astype(dtype), values("int32", 40, 16, seed=2).astype(dtype)
    expected = x.copy()
    expected[:, :columns] += v[:, :columns]
    arguments = dict(x_ptr=x, v_ptr=v, ROWS=40, COLUMNS=columns)
    check(add_odd_tile, (1,), arguments, dict(x_ptr=expected), device=device)
