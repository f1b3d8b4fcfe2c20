"""Matmuls with K split over programs: sums by atomic additions, and in a fixed order by the last program."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from harness import check, values


@triton.jit
def partial_matmul(
    a_ptr, b_ptr, rows, columns, part, M, N, K,
    SPLIT: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """The dot over every SPLIT-th block of K, from the one with index `part`."""
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(part * BLOCK_K, K, SPLIT * BLOCK_K):
        k = start + tl.arange(0, BLOCK_K)
        a = tl.load(a_ptr + rows[:, None] * K + k, mask=(rows[:, None] < M) & (k < K), other=0.0)
        b = tl.load(b_ptr + k[:, None] * N + columns, mask=(k[:, None] < K) & (columns < N), other=0.0)
        acc = tl.dot(a, b, acc)
    return acc


@triton.jit
def sum_by_atomics(
    a_ptr, b_ptr, c_ptr, M, N, K,
    SPLIT: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    acc = partial_matmul(
        a_ptr, b_ptr, rows, columns, tl.program_id(2), M, N, K, SPLIT, BLOCK_M, BLOCK_N, BLOCK_K
    )
    at = c_ptr + rows[:, None] * N + columns
    sums = acc.to(c_ptr.dtype.element_ty)
    tl.atomic_add(at, sums, mask=(rows[:, None] < M) & (columns < N), sem="relaxed")


@triton.jit
def sum_by_the_last(
    a_ptr, b_ptr, c_ptr, parts_ptr, count_ptr, M, N, K,
    SPLIT: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """Parts are stored to memory; the program that finishes a tile last adds them in order."""
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    part = tl.program_id(2)
    acc = partial_matmul(a_ptr, b_ptr, rows, columns, part, M, N, K, SPLIT, BLOCK_M, BLOCK_N, BLOCK_K)
    at = rows[:, None] * N + columns
    mask = (rows[:, None] < M) & (columns < N)
    tl.store(parts_ptr + part * M * N + at, acc, mask=mask)
    tile = tl.program_id(0) * tl.num_programs(1) + tl.program_id(1)
    if tl.atomic_add(count_ptr + tile, 1) == SPLIT - 1:
        total = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
        for each in range(SPLIT):
            total += tl.load(parts_ptr + each * M * N + at, mask=mask, other=0.0)
        tl.store(c_ptr + at, total, mask=mask)
        tl.store(count_ptr + tile, 0)


SHAPES = [(64, 64, 256), (33, 70, 100), (1, 17, 33), (40, 1, 15)]
BLOCKS = dict(BLOCK_M=32, BLOCK_N=32, BLOCK_K=16)


def exact_matrices(M, N, K):
    """Multiples of 1/2: any order of summation gives the same result."""
    a, b = (np.floor(values("float32", *size, seed=size[0])) / 2 for size in ((M, K), (K, N)))
    return a.astype(np.float16), b.astype(np.float16), a.astype(np.float64) @ b.astype(np.float64)


@pytest.mark.parametrize("split", [1, 4, 7])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("shape", SHAPES)
def test_atomic_additions(shape, dtype, split, device):
    M, N, K = shape
    a, b, exact = exact_matrices(M, N, K)
    c = np.floor(values(dtype, M, N, seed=9))
    assert np.abs(exact).max() < 1024
    arguments = dict(a_ptr=a, b_ptr=b, c_ptr=c, M=M, N=N, K=K, SPLIT=split, **BLOCKS)
    grid = (triton.cdiv(M, 32), triton.cdiv(N, 32), split)
    check(sum_by_atomics, grid, arguments, dict(c_ptr=c + exact.astype(dtype)), device=device)


@pytest.mark.parametrize("split", [1, 4, 7])
@pytest.mark.parametrize("shape", SHAPES)
def test_the_last_one_adds(shape, split, device):
    M, N, K = shape
    a, b = values("float16", M, K), values("float16", K, N, seed=1)
    parts = np.zeros((split, M, N))
    for part in range(split):
        for start in range(part * 16, K, split * 16):
            k = slice(start, start + 16)
            parts[part] += a[:, k].astype(np.float64) @ b[k].astype(np.float64)
    grid = (triton.cdiv(M, 32), triton.cdiv(N, 32), split)
    arguments = dict(a_ptr=a, b_ptr=b, c_ptr=np.zeros((M, N), np.float32))
    arguments |= dict(parts_ptr=np.zeros(parts.shape, np.float32), M=M, N=N, K=K, SPLIT=split, **BLOCKS)
    arguments["count_ptr"] = np.zeros(grid[0] * grid[1], np.int32)
    expected = dict(c_ptr=parts.sum(0), parts_ptr=parts)
    check(sum_by_the_last, grid, arguments, expected, device=device, rtol=1e-4, atol=1e-4)
