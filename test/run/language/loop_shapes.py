"""Options of `tl.range` that transform loops change no result: unrolling, flattening, one accumulator buffer."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from harness import check, values


@triton.jit
def sums_of_rows(x_ptr, out_ptr, n, width, FACTOR: tl.constexpr, STEP: tl.constexpr, STAGES: tl.constexpr):
    """Every STEP-th element of each row, and the index of the last one."""
    row = tl.program_id(0)
    total = 0
    last = -1
    for i in tl.range(0, width, STEP, num_stages=STAGES, loop_unroll_factor=FACTOR):
        total = total * 3 + tl.load(x_ptr + row * n + i)
        last = i
    tl.store(out_ptr + row * 2, total)
    tl.store(out_ptr + row * 2 + 1, last)


@pytest.mark.parametrize("stages", [None, 3])
@pytest.mark.parametrize("step", [1, 3])
@pytest.mark.parametrize("factor", [1, 2, 4, 7])
@pytest.mark.parametrize("width", [0, 1, 3, 4, 14, 29])
def test_unrolled(width, factor, step, stages, device):
    x = values("int32", 3, 29, low=-5, high=5)
    out = np.zeros((3, 2), np.int32)
    out[:, 1] = -1
    for i in range(0, width, step):
        out[:, 0] = out[:, 0] * 3 + x[:, i]
        out[:, 1] = i
    arguments = dict(x_ptr=x, out_ptr=np.zeros_like(out), n=29, width=width, FACTOR=factor)
    arguments |= dict(STEP=step, STAGES=stages)
    check(sums_of_rows, (3,), arguments, dict(out_ptr=out), device=device)


@triton.jit
def nested(x_ptr, out_ptr, count_ptr, rows, width, first, each):
    """The sum of every row, starting from its index, and the number of rows."""
    count = 0
    for row in tl.range(first, rows, each, flatten=True):
        total = row * 100
        for i in range(width):
            total += tl.load(x_ptr + row * width + i) * (i + 1)
        tl.store(out_ptr + row, total)
        count += total
    tl.store(count_ptr, count)


@pytest.mark.parametrize("rows, width, first, each", [(5, 7, 0, 1), (5, 7, 1, 2), (5, 0, 0, 1), (0, 7, 0, 1), (1, 1, 0, 9), (3, 4, 3, 1)])
def test_flattened(rows, width, first, each, device):
    x = values("int32", max(rows * width, 1), low=-9, high=9)
    out, total = np.full(6, -1, np.int32), 0
    for row in range(first, rows, each):
        out[row] = row * 100 + (x[row * width : (row + 1) * width] * (np.arange(width) + 1)).sum()
        total += out[row]
    arguments = dict(x_ptr=x, out_ptr=np.full(6, -1, np.int32), count_ptr=np.zeros(1, np.int32))
    arguments |= dict(rows=rows, width=width, first=first, each=each)
    check(nested, (1,), arguments, dict(out_ptr=out, count_ptr=[total]), device=device)


@triton.jit
def not_flat(x_ptr, out_ptr, rows, BLOCK: tl.constexpr):
    """Loops that cannot be flattened: inner bounds that change, and a load before the inner loop."""
    at = tl.arange(0, BLOCK)
    for row in tl.range(rows, flatten=True):
        total = tl.load(x_ptr + at)
        for i in tl.range(row, disallow_acc_multi_buffer=True):
            total += tl.load(x_ptr + i * BLOCK + at)
        tl.store(out_ptr + row * BLOCK + at, total)


def test_loops_that_stay_two(device):
    x = values("int32", 6, 16)
    out = np.stack([x[0] + x[:row].sum(0) for row in range(6)]).astype(np.int32)
    arguments = dict(x_ptr=x, out_ptr=np.zeros_like(out), rows=6, BLOCK=16)
    check(not_flat, (1,), arguments, dict(out_ptr=out), device=device)


@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, K, FACTOR: tl.constexpr, ONE_BUFFER: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    k = tl.arange(0, 32)
    acc = tl.zeros((BLOCK, BLOCK), tl.float32)
    for start in tl.range(
        0, K, 32, num_stages=3, loop_unroll_factor=FACTOR, disallow_acc_multi_buffer=ONE_BUFFER
    ):
        a = tl.load(a_ptr + at[:, None] * K + start + k, mask=start + k < K, other=0.0)
        b = tl.load(b_ptr + at[None, :] * K + (start + k)[:, None], mask=(start + k)[:, None] < K, other=0.0)
        acc = tl.dot(a, b, acc)
    tl.store(c_ptr + at[:, None] * BLOCK + at, acc)


@pytest.mark.parametrize("one_buffer", [False, True])
@pytest.mark.parametrize("factor", [None, 2, 3])
@pytest.mark.parametrize("K", [16, 64, 200])
def test_matmuls(K, factor, one_buffer, device):
    a, b = ((np.floor(values("float32", 64, K, seed=seed)) / 2).astype(np.float16) for seed in range(2))
    c = a.astype(np.float64) @ b.astype(np.float64).T
    arguments = dict(a_ptr=a, b_ptr=b, c_ptr=np.zeros((64, 64), np.float32), K=K)
    arguments |= dict(FACTOR=factor, ONE_BUFFER=one_buffer, BLOCK=64)
    check(matmul, (1,), arguments, dict(c_ptr=c.astype(np.float32)), device=device)


@triton.jit
def rows_of_tiles(
    a_ptr, b_ptr, c_ptr, K, tiles, first, each,
    STAGES: tl.constexpr, FACTOR: tl.constexpr, FLAT: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """The tiles of A of one program times one B; the index of each tile is added to its result."""
    at = tl.arange(0, BLOCK)
    k = tl.arange(0, 32)
    done = 0
    for tile in tl.range(first, tiles, each, flatten=FLAT):
        acc = tl.zeros((BLOCK, BLOCK), tl.float32)
        rows = tile * BLOCK + at
        for start in tl.range(0, K, 32, num_stages=STAGES, loop_unroll_factor=FACTOR):
            a = tl.load(a_ptr + rows[:, None] * K + start + k, mask=start + k < K, other=0.0)
            b = tl.load(b_ptr + at[None, :] * K + (start + k)[:, None], mask=(start + k)[:, None] < K, other=0.0)
            acc = tl.dot(a, b, acc)
        tl.store(c_ptr + rows[:, None] * BLOCK + at, acc + done)
        done += 1


@pytest.mark.parametrize("tiles, first, each", [(4, 0, 1), (4, 1, 2), (0, 0, 1), (2, 3, 5)])
@pytest.mark.parametrize("flat, factor", [(True, None), (True, 2), (False, 2)])
@pytest.mark.parametrize("stages", [1, 3])
@pytest.mark.parametrize("K", [0, 32, 112])
def test_tiles_of_dots(K, stages, flat, factor, tiles, first, each, device):
    a, b = ((np.floor(values("float32", rows, K, seed=rows)) / 2).astype(np.float16) for rows in (256, 64))
    c = np.full((256, 64), -1, np.float32)
    for done, tile in enumerate(range(first, tiles, each)):
        rows = slice(tile * 64, tile * 64 + 64)
        c[rows] = a[rows].astype(np.float64) @ b.astype(np.float64).T + done
    arguments = dict(a_ptr=a, b_ptr=b, c_ptr=np.full_like(c, -1), K=K, tiles=tiles, first=first, each=each)
    arguments |= dict(STAGES=stages, FACTOR=factor, FLAT=flat, BLOCK=64)
    check(rows_of_tiles, (1,), arguments, dict(c_ptr=c), device=device)
