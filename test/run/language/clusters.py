"""Programs launched as clusters of CTAs give the same results as programs of one CTA."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from harness import check, values

CTAS = pytest.mark.parametrize("ctas", [1, 2, 4, 8])


@triton.jit
def rows(x_ptr, sum_ptr, out_ptr, count_ptr, n, BLOCK: tl.constexpr):
    """Sums and sorts rows by programs of a grid along all three axes, and counts the programs."""
    program = tl.program_id(0) + tl.num_programs(0) * (tl.program_id(1) + tl.num_programs(1) * tl.program_id(2))
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + program * n + at, mask=at < n, other=1000)
    tl.store(sum_ptr + program, tl.sum(tl.where(at < n, x, 0)))
    tl.store(out_ptr + program * BLOCK + at, tl.sort(x))
    before = tl.atomic_add(count_ptr, 1)
    tl.atomic_add(count_ptr + 1, tl.num_programs(0) * 100 + tl.num_programs(1) * 10 + tl.num_programs(2) + before * 0)


@pytest.mark.parametrize("ctas", [1, 2, 4])
@pytest.mark.parametrize("grid", [(1,), (5,), (3, 2, 2)])
def test_rows(grid, ctas, device):
    n, block, programs = 201, 256, int(np.prod(grid))
    x = values("int32", programs, n, low=-99, high=99)
    out = np.full((programs, block), 1000, np.int32)
    out[:, :n] = x
    shape = (*grid, 1, 1)
    count = np.array([programs, programs * (shape[0] * 100 + shape[1] * 10 + shape[2])], np.int32)
    arguments = dict(x_ptr=x, sum_ptr=np.zeros(programs, np.int32), out_ptr=np.zeros_like(out))
    arguments |= dict(count_ptr=np.zeros(2, np.int32), n=n, BLOCK=block, num_ctas=ctas)
    expected = dict(sum_ptr=x.sum(1).astype(np.int32), out_ptr=np.sort(out, 1), count_ptr=count)
    check(rows, grid, arguments, expected, device=device)


# --- Elementwise, in place -------------------------------------------------------------------------


@triton.jit
def twice(x_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    tl.store(x_ptr + at, 2 * x, mask=at < n)


@CTAS
@pytest.mark.parametrize("n", [1, 1000, 4096, 5003])
def test_in_place(n, ctas, device):
    x = values("float32", n)
    arguments = dict(x_ptr=x, n=n, BLOCK=2048, num_ctas=ctas)
    check(twice, (triton.cdiv(n, 2048),), arguments, dict(x_ptr=2 * x), device=device)


@triton.jit
def reversed_in_place(x_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    tl.debug_barrier()
    tl.store(x_ptr + BLOCK - 1 - at, x)


@CTAS
def test_debug_barrier_orders_all(ctas, device):
    x = values("int32", 4096)
    check(reversed_in_place, (1,), dict(x_ptr=x, BLOCK=4096, num_ctas=ctas), dict(x_ptr=x[::-1]), device=device)


# --- Reductions ------------------------------------------------------------------------------------


@triton.jit
def softmax(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    row = tl.program_id(0) * n
    x = tl.load(x_ptr + row + at, mask=at < n, other=-float("inf"))
    e = tl.exp(x - tl.max(x, 0))
    tl.store(out_ptr + row + at, e / tl.sum(e, 0), mask=at < n)


@CTAS
@pytest.mark.parametrize("n", [4096, 7001])
def test_softmax(n, ctas, device):
    x = values("float32", 3, n)
    e = np.exp(x - x.max(1, keepdims=True))
    arguments = dict(x_ptr=x, out_ptr=np.zeros_like(x), n=n, BLOCK=8192, num_ctas=ctas)
    check(softmax, (3,), arguments, dict(out_ptr=e / e.sum(1, keepdims=True)), device=device, rtol=1e-4, atol=1e-7)


@triton.jit
def layer_norm(x_ptr, out_ptr, mean_ptr, n, BLOCK: tl.constexpr):
    """Reads its row in a loop, sums in tiles, and reduces after it."""
    row = tl.program_id(0) * n
    total = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + row + at, mask=at < n, other=0.0)
    mean = tl.sum(total, 0) / n
    variance = 0.0
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row + at, mask=at < n, other=mean) - mean
        variance += tl.sum(x * x, 0)
    scale = 1 / tl.sqrt(variance / n + 1e-5)
    tl.store(mean_ptr + tl.program_id(0), mean)
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row + at, mask=at < n)
        tl.store(out_ptr + row + at, (x - mean) * scale, mask=at < n)


@CTAS
def test_layer_norm(ctas, device):
    n = 5000
    x = values("float32", 4, n)
    arguments = dict(x_ptr=x, out_ptr=np.zeros_like(x), mean_ptr=np.zeros(4, np.float32))
    arguments |= dict(n=n, BLOCK=2048, num_ctas=ctas)
    mean, scale = x.mean(1, keepdims=True), 1 / np.sqrt(x.var(1, keepdims=True) + 1e-5)
    expected = dict(out_ptr=(x - mean) * scale, mean_ptr=mean[:, 0])
    check(layer_norm, (4,), arguments, expected, device=device, rtol=1e-3, atol=1e-3)


@triton.jit
def both_sums(x_ptr, rows_ptr, columns_ptr, most_ptr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    i, j = tl.arange(0, ROWS), tl.arange(0, COLUMNS)
    x = tl.load(x_ptr + i[:, None] * COLUMNS + j[None, :])
    tl.store(rows_ptr + i, tl.sum(x, 1))
    tl.store(columns_ptr + j, tl.sum(x, 0))
    tl.store(most_ptr + i, tl.argmax(x, 1))
    tl.store(most_ptr + ROWS + j, tl.argmin(x, 0))


@CTAS
@pytest.mark.parametrize("shape", [(64, 64), (16, 256), (256, 16), (8, 8)])
def test_sums_along_both_dimensions(shape, ctas, device):
    x = values("int32", *shape, low=-50, high=50)
    arguments = dict(x_ptr=x, rows_ptr=np.zeros(shape[0], np.int32), columns_ptr=np.zeros(shape[1], np.int32))
    arguments |= dict(most_ptr=np.zeros(sum(shape), np.int32), ROWS=shape[0], COLUMNS=shape[1], num_ctas=ctas)
    most = np.concatenate([x.argmax(1), x.argmin(0)]).astype(np.int32)
    expected = dict(rows_ptr=x.sum(1).astype(np.int32), columns_ptr=x.sum(0).astype(np.int32), most_ptr=most)
    check(both_sums, (1,), arguments, expected, device=device)


@triton.jit
def norms(x_ptr, out_ptr, steps_ptr, n, BLOCK: tl.constexpr):
    """Runs as long as what all blocks computed together says."""
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0.0)
    steps = 0
    while tl.sum(x * x, 0) > 1.0:
        x = x * 0.5
        steps += 1
    tl.store(out_ptr + at, x, mask=at < n)
    tl.store(steps_ptr, steps)


@CTAS
def test_loops_end_together(ctas, device):
    x = values("float32", 3000, low=1, high=2)
    expected, steps = x.copy(), 0
    while (expected.astype(np.float64) ** 2).sum() > 1:
        expected, steps = expected * np.float32(0.5), steps + 1
    arguments = dict(x_ptr=x, out_ptr=np.zeros_like(x), steps_ptr=np.zeros(1, np.int32))
    arguments |= dict(n=3000, BLOCK=4096, num_ctas=ctas)
    check(norms, (1,), arguments, dict(out_ptr=expected, steps_ptr=np.array([steps], np.int32)), device=device)


# --- Changes of shape, scans, gathers --------------------------------------------------------------


@triton.jit
def reshaped(x_ptr, out_ptr, sums_ptr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    at = tl.arange(0, ROWS * COLUMNS)
    x = tl.load(x_ptr + at)
    tile = tl.reshape(x, (ROWS, COLUMNS))
    turned = tl.trans(tile)
    tl.store(out_ptr + tl.arange(0, COLUMNS)[:, None] * ROWS + tl.arange(0, ROWS)[None, :], turned)
    tl.store(sums_ptr + tl.arange(0, ROWS), tl.sum(tile, 1))
    tl.store(sums_ptr + ROWS + at, tl.cumsum(x, 0))
    pair = tl.reshape(x, (ROWS * COLUMNS // 2, 2))
    even, odd = tl.split(pair)
    tl.store(sums_ptr + ROWS + ROWS * COLUMNS + tl.arange(0, ROWS * COLUMNS // 2), even - odd)


@CTAS
def test_shapes(ctas, device):
    x = values("int32", 64, 32, low=-99, high=99)
    arguments = dict(x_ptr=x, out_ptr=np.zeros((32, 64), np.int32), sums_ptr=np.zeros(64 + 3072, np.int32))
    arguments |= dict(ROWS=64, COLUMNS=32, num_ctas=ctas)
    pairs = x.reshape(-1, 2)
    sums = np.concatenate([x.sum(1), x.cumsum(), pairs[:, 0] - pairs[:, 1]]).astype(np.int32)
    check(reshaped, (1,), arguments, dict(out_ptr=np.ascontiguousarray(x.T), sums_ptr=sums), device=device)


@triton.jit
def scanned(x_ptr, index_ptr, out_ptr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    i, j = tl.arange(0, ROWS)[:, None], tl.arange(0, COLUMNS)[None, :]
    x = tl.load(x_ptr + i * COLUMNS + j)
    index = tl.load(index_ptr + i * COLUMNS + j)
    tl.store(out_ptr + i * COLUMNS + j, tl.cumsum(x, 1) + tl.gather(x, index, 1) * 1000)


@CTAS
def test_scans_and_gathers(ctas, device):
    x, index = values("int32", 32, 128, low=-9, high=9), values("int32", 32, 128, low=0, high=127)
    expected = (x.cumsum(1) + np.take_along_axis(x, index, 1) * 1000).astype(np.int32)
    arguments = dict(x_ptr=x, index_ptr=index, out_ptr=np.zeros_like(x), ROWS=32, COLUMNS=128, num_ctas=ctas)
    check(scanned, (1,), arguments, dict(out_ptr=expected), device=device)


# --- Dots ------------------------------------------------------------------------------------------


@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, K, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    k = tl.arange(0, 32)
    acc = tl.zeros((BLOCK, BLOCK), tl.float32)
    for start in range(0, K, 32):
        a = tl.load(a_ptr + rows[:, None] * K + start + k)
        b = tl.load(b_ptr + columns[None, :] * K + (start + k)[:, None])
        acc = tl.dot(a, b, acc)
    tl.store(c_ptr + rows[:, None] * BLOCK * tl.num_programs(1) + columns, acc)


@pytest.mark.parametrize("ctas", [2, 4, 8])
@pytest.mark.parametrize("block", [64, 128])
def test_matmuls(block, ctas, device):
    a, b = (values("int8", rows * block, 128, seed=rows).astype(np.float16) for rows in (3, 2))
    c = a.astype(np.float32) @ b.astype(np.float32).T
    arguments = dict(a_ptr=a, b_ptr=b, c_ptr=np.zeros_like(c), K=128, BLOCK=block, num_ctas=ctas)
    check(matmul, (3, 2), arguments, dict(c_ptr=c), device=device)


@triton.jit
def matmul_by_descriptors(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """A program computes tiles one after the other, as persistent kernels do."""
    a = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [BM, BK])
    b = tl.make_tensor_descriptor(b_ptr, [N, K], [K, 1], [BN, BK])
    c = tl.make_tensor_descriptor(c_ptr, [M, N], [N, 1], [BM, BN])
    columns = tl.cdiv(N, BN)
    for tile in range(tl.program_id(0), tl.cdiv(M, BM) * columns, tl.num_programs(0)):
        m, n = tile // columns * BM, tile % columns * BN
        acc = tl.zeros((BM, BN), tl.float32)
        for k in range(0, K, BK):
            acc = tl.dot(a.load([m, k]), b.load([n, k]).T, acc)
        c.store([m, n], acc.to(tl.float16))


@pytest.mark.parametrize("ctas", [2, 4])
@pytest.mark.parametrize("shape", [(256, 256, 128), (200, 328, 96)])
def test_descriptors(shape, ctas, device):
    m, n, k = shape
    a, b = (values("int8", rows, k, low=-3, high=3, seed=rows).astype(np.float16) for rows in (m, n))
    c = (a.astype(np.float32) @ b.astype(np.float32).T).astype(np.float16)
    arguments = dict(a_ptr=a, b_ptr=b, c_ptr=np.zeros_like(c), M=m, N=n, K=k, BM=128, BN=128, BK=64, num_ctas=ctas)
    check(matmul_by_descriptors, (2,), arguments, dict(c_ptr=c), device=device)


@triton.jit
def attention(q_ptr, k_ptr, v_ptr, out_ptr, N, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    i, d = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, D)
    q = tl.load(q_ptr + i[:, None] * D + d)
    most, total = tl.full((BM,), -float("inf"), tl.float32), tl.zeros((BM,), tl.float32)
    acc = tl.zeros((BM, D), tl.float32)
    for start in range(0, N, BN):
        j = start + tl.arange(0, BN)
        s = tl.dot(q, tl.load(k_ptr + j[None, :] * D + d[:, None])) * scale
        s = tl.where(i[:, None] >= j[None, :], s, -1e30)
        new = tl.maximum(most, tl.max(s, 1))
        p, keep = tl.exp(s - new[:, None]), tl.exp(most - new)
        total = total * keep + tl.sum(p, 1)
        acc = tl.dot(p.to(tl.float16), tl.load(v_ptr + j[:, None] * D + d), acc * keep[:, None])
        most = new
    tl.store(out_ptr + i[:, None] * D + d, acc / total[:, None])


@pytest.mark.parametrize("ctas", [2, 4])
@pytest.mark.parametrize("block", [32, 128])
def test_attention(block, ctas, device):
    n, d = 256, 64
    q, k, v = (values("float32", n, d, seed=seed).astype(np.float16) for seed in (1, 2, 3))
    s = q.astype(np.float32) @ k.astype(np.float32).T / 8
    s[np.triu_indices(n, 1)] = -1e30
    p = np.exp(s - s.max(1, keepdims=True))
    expected = (p / p.sum(1, keepdims=True)) @ v.astype(np.float32)
    arguments = dict(q_ptr=q, k_ptr=k, v_ptr=v, out_ptr=np.zeros((n, d), np.float32), N=n, scale=0.125)
    arguments |= dict(BM=block, BN=64, D=d, num_ctas=ctas)
    check(attention, (n // block,), arguments, dict(out_ptr=expected), device=device, rtol=2e-2, atol=5e-3)


# --- Side effects ----------------------------------------------------------------------------------


@triton.jit
def counted(x_ptr, bins_ptr, seen_ptr, swapped_ptr, n, BLOCK: tl.constexpr):
    """Atomic accesses of tiles whose parts differ, of tiles that all blocks have, and of scalars."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0)
    tl.atomic_add(bins_ptr + x, 1, mask=at < n)
    before = tl.atomic_add(seen_ptr, 1)
    tl.store(seen_ptr + 1 + before, before)
    tl.atomic_max(swapped_ptr, tl.max(x, 0))
    tl.atomic_cas(swapped_ptr + 1, 0, 5)


@CTAS
def test_atomics(ctas, device):
    n, programs = 5000, 3
    x = values("int32", n, low=0, high=15)
    arguments = dict(x_ptr=x, bins_ptr=np.zeros(16, np.int32), seen_ptr=np.zeros(programs + 1, np.int32))
    arguments |= dict(swapped_ptr=np.zeros(2, np.int32), n=n, BLOCK=2048, num_ctas=ctas)
    seen = np.array([programs, *range(programs)], np.int32)
    expected = dict(bins_ptr=np.bincount(x, minlength=16).astype(np.int32), seen_ptr=seen)
    expected |= dict(swapped_ptr=np.array([x.max(), 5], np.int32))
    check(counted, (programs,), arguments, expected, device=device)


@triton.jit
def locked(x_ptr, out_ptr, count_ptr, lock_ptr, BLOCK: tl.constexpr):
    """Adds to a row that all programs share, one program at a time."""
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + tl.program_id(0) * BLOCK + at)
    while tl.atomic_cas(lock_ptr, 0, 1) == 1:
        pass
    count = tl.load(count_ptr)
    if count == 0:
        tl.store(out_ptr + at, x)
    else:
        tl.store(out_ptr + at, tl.load(out_ptr + at) + x)
    tl.debug_barrier()  # all threads have read the count
    tl.store(count_ptr, count + 1)
    tl.debug_barrier()
    tl.atomic_xchg(lock_ptr, 0)


@CTAS
def test_locks(ctas, device):
    x = values("int32", 6, 2048, low=-99, high=99)
    arguments = dict(x_ptr=x, out_ptr=np.full(2048, 7, np.int32), count_ptr=np.zeros(1, np.int32))
    arguments |= dict(lock_ptr=np.zeros(1, np.int32), BLOCK=2048, num_ctas=ctas)
    expected = dict(out_ptr=x.sum(0).astype(np.int32), count_ptr=np.array([6], np.int32))
    check(locked, (6,), arguments, expected, device=device)


@triton.jit
def last_sums(x_ptr, partial_ptr, count_ptr, out_ptr, BLOCK: tl.constexpr, PROGRAMS: tl.constexpr):
    """The last program to finish adds the partial sums of all."""
    at = tl.arange(0, BLOCK)
    total = tl.sum(tl.load(x_ptr + tl.program_id(0) * BLOCK + at), 0)
    tl.store(partial_ptr + tl.program_id(0), total)
    if tl.atomic_add(count_ptr, 1) == PROGRAMS - 1:
        tl.store(out_ptr, tl.sum(tl.load(partial_ptr + tl.arange(0, PROGRAMS)), 0))


@CTAS
def test_partial_sums_are_released(ctas, device):
    x = values("int32", 16, 2048, low=-99, high=99)
    arguments = dict(x_ptr=x, partial_ptr=np.zeros(16, np.int32), count_ptr=np.zeros(1, np.int32))
    arguments |= dict(out_ptr=np.zeros(1, np.int32), BLOCK=2048, PROGRAMS=16, num_ctas=ctas)
    expected = dict(partial_ptr=x.sum(1).astype(np.int32), count_ptr=np.array([16], np.int32))
    expected |= dict(out_ptr=np.array([x.sum()], np.int32))
    check(last_sums, (16,), arguments, expected, device=device)
