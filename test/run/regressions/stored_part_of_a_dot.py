"""Dots multiply the rows and columns that are stored: the edges of matrices, results that other things read, too."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from harness import BFloat16, launch, values


@triton.jit
def product(a, b, c, d, m, n, k, USE: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    row = tl.program_id(0) * BM
    column = tl.program_id(1) * BN
    i = (row + tl.arange(0, BM)) % m
    j = (column + tl.arange(0, BN)) % n
    acc = tl.zeros((BM, BN), tl.float32)
    for first in range(0, k, BK):
        at = first + tl.arange(0, BK)
        x = tl.load(a + i[:, None] * k + at[None, :], at[None, :] < k, 0.0)
        y = tl.load(b + at[:, None] * n + j[None, :], at[:, None] < k, 0.0)
        acc = tl.dot(x, y, acc)
    i = row + tl.arange(0, BM)
    j = column + tl.arange(0, BN)
    inside = (i[:, None] < m) & (j[None, :] < n)
    tl.store(c + i[:, None] * n + j[None, :], acc, inside)
    if USE == "sum":  # of all rows, those outside of the matrix included
        tl.store(d + tl.program_id(0) * n + j, tl.sum(acc, 0), j < n)
    elif USE == "rows":  # a store with another end
        tl.store(d + i[:, None] * n + j[None, :], acc * 2, (i[:, None] < m - 1) & (j[None, :] < n))


@pytest.mark.always("none-1-1-1-blocks0-float16", "rows-127-129-31-blocks1-bfloat16")
@pytest.mark.parametrize("dtype", ["float16", "float32", "bfloat16"])
@pytest.mark.parametrize("blocks", [(64, 32, 32), (48, 112, 32)])
@pytest.mark.parametrize("m, n, k", [(1, 1, 1), (33, 65, 40), (64, 64, 64), (100, 7, 33), (127, 129, 31)])
@pytest.mark.parametrize("use", ["none", "sum", "rows"])
def test_edges(dtype, blocks, m, n, k, use, device):
    BM, BN, BK = blocks
    a = values("int8", m * k, seed=1, low=-4, high=4).astype(np.float32).reshape(m, k)
    b = values("int8", k * n, seed=2, low=-4, high=4).astype(np.float32).reshape(k, n)
    narrow = BFloat16 if dtype == "bfloat16" else lambda x: x.astype(dtype)
    c = np.full((m, n), -7, np.float32)
    tiles = -(-m // BM)
    d = np.full((max(tiles, m), n), -7, np.float32)
    grid = (tiles, -(-n // BN))
    if not launch(product, grid, narrow(a), narrow(b), c, d, m, n, k, use, BM, BN, BK, device=device):
        return
    expected = a.astype(np.float64) @ b.astype(np.float64)
    assert (c == expected).all()
    if use == "rows":
        assert (d[: m - 1] == 2 * expected[: m - 1]).all()
        assert (d[m - 1 :] == -7).all()
    elif use == "sum":
        wrapped = expected[np.arange(tiles * BM) % m].reshape(tiles, BM, n)
        assert (d[:tiles] == wrapped.sum(1)).all()


@triton.jit
def growing(a, b, c, n, ACCUMULATES: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    r = tl.arange(0, M)[:, None]
    s = tl.arange(0, N)[None, :]
    q = tl.arange(0, K)
    acc = tl.zeros((M, N), tl.float32)
    for end in range(16, n * 16 + 16, 16):
        i = end // 16 - 1
        x = tl.load(a + i * M * K + r * K + q[None, :])
        y = tl.load(b + i * N * K + q[:, None] * N + s)
        if ACCUMULATES:
            acc = tl.dot(x, y, acc)
            tl.store(c + i * M * N + r * N + s, acc, r < end)
        else:  # what the iteration before has computed
            tl.store(c + i * M * N + r * N + s, acc, r < end)
            acc = tl.dot(x, y)


@pytest.mark.parametrize("accumulates", [True, False])
def test_ends_that_change_in_the_loop(accumulates, device):
    """A later iteration stores rows that an earlier one does not."""
    M, N, K, n = 64, 64, 32, 4
    a = values("int8", n * M * K, seed=1, low=-4, high=4).astype(np.float32).reshape(n, M, K)
    b = values("int8", n * K * N, seed=2, low=-4, high=4).astype(np.float32).reshape(n, K, N)
    c = np.zeros((n, M, N), np.float32)
    if launch(growing, (1,), a, b, c, n, accumulates, M, N, K, device=device):
        products = a @ b
        expected = np.cumsum(products, 0)
        if not accumulates:
            expected = np.concatenate([np.zeros_like(products[:1]), products[:-1]])
        for i in range(n):
            expected[i, 16 * (i + 1) :] = 0
        assert (c == expected).all()
