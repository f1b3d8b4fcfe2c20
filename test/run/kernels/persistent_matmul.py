"""Matmuls by persistent programs: each computes one tile after the other, through descriptors or pointers."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from harness import check, values


@triton.jit
def corner(tile, M, N, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, GROUP: tl.constexpr):
    """The origin of a tile: GROUP rows of tiles are finished before the next ones begin."""
    down, across = tl.cdiv(M, BLOCK_M), tl.cdiv(N, BLOCK_N)
    top = tile // (GROUP * across) * GROUP
    inside = tile % (GROUP * across)
    height = min(down - top, GROUP)
    return (top + inside % height) * BLOCK_M, inside // height * BLOCK_N


@triton.jit
def by_descriptors(
    a_ptr, b_ptr, c_ptr, M, N, K, PROGRAMS: tl.constexpr, FLATTEN: tl.constexpr, HALVES: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """C = A B^T; HALVES stores a tile's columns in two parts."""
    WIDTH: tl.constexpr = BLOCK_N // 2 if HALVES else BLOCK_N
    a = tl.make_tensor_descriptor(a_ptr, [M, K], [K, 1], [BLOCK_M, BLOCK_K])
    b = tl.make_tensor_descriptor(b_ptr, [N, K], [K, 1], [BLOCK_N, BLOCK_K])
    c = tl.make_tensor_descriptor(c_ptr, [M, N], [N, 1], [BLOCK_M, WIDTH])
    tiles = tl.cdiv(M, BLOCK_M) * tl.cdiv(N, BLOCK_N)
    for tile in tl.range(tl.program_id(0), tiles, PROGRAMS, flatten=FLATTEN):
        m, n = corner(tile, M, N, BLOCK_M, BLOCK_N, 2)
        acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
        for k in range(0, K, BLOCK_K):
            acc = tl.dot(a.load([m, k]), b.load([n, k]).T, acc)
        if HALVES:
            parts = tl.permute(tl.reshape(acc, (BLOCK_M, 2, WIDTH)), (0, 2, 1))
            left, right = tl.split(parts)
            c.store([m, n], left.to(c.dtype))
            c.store([m, n + WIDTH], right.to(c.dtype))
        else:
            c.store([m, n], acc.to(c.dtype))


@triton.jit
def by_pointers(
    a_ptr, b_ptr, c_ptr, M, N, K, PROGRAMS: tl.constexpr, FLATTEN: tl.constexpr, HALVES: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """The same by pointers; HALVES is ignored."""
    tiles = tl.cdiv(M, BLOCK_M) * tl.cdiv(N, BLOCK_N)
    for tile in tl.range(tl.program_id(0), tiles, PROGRAMS, flatten=FLATTEN):
        m, n = corner(tile, M, N, BLOCK_M, BLOCK_N, 2)
        rows, columns, k = m + tl.arange(0, BLOCK_M), n + tl.arange(0, BLOCK_N), tl.arange(0, BLOCK_K)
        a_at = a_ptr + (rows % M)[:, None] * K + k
        b_at = b_ptr + (columns % N)[None, :] * K + k[:, None]
        acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
        for step in range(tl.cdiv(K, BLOCK_K)):
            a = tl.load(a_at, mask=k < K - step * BLOCK_K, other=0.0)
            b = tl.load(b_at, mask=k[:, None] < K - step * BLOCK_K, other=0.0)
            acc = tl.dot(a, b, acc)
            a_at += BLOCK_K
            b_at += BLOCK_K
        at = c_ptr + rows[:, None] * N + columns
        tl.store(at, acc.to(c_ptr.dtype.element_ty), mask=(rows[:, None] < M) & (columns < N))


# (M, N, K, programs): more programs than tiles, one for all, and K = 0.
SHAPES = [(128, 128, 64, 3), (100, 72, 48, 2), (64, 32, 16, 8), (130, 200, 8, 1), (40, 40, 0, 2)]


@pytest.mark.parametrize("kernel", [by_descriptors, by_pointers])
@pytest.mark.parametrize("flatten", [False, True])
@pytest.mark.parametrize("halves", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_matmuls(shape, halves, flatten, kernel, device):
    M, N, K, programs = shape
    # Multiples of 1/2: products and sums are exact.
    a, b = (np.floor(values("float32", rows, K, seed=rows)) / 2 for rows in (M, N))
    c = a.astype(np.float64) @ b.astype(np.float64).T
    arguments = dict(a_ptr=a.astype(np.float16), b_ptr=b.astype(np.float16), c_ptr=np.full((M, N), 9, np.float16))
    arguments |= dict(M=M, N=N, K=K, PROGRAMS=programs, FLATTEN=flatten, HALVES=halves)
    arguments |= dict(BLOCK_M=64, BLOCK_N=32, BLOCK_K=32)
    check(kernel, (programs,), arguments, dict(c_ptr=c.astype(np.float16)), device=device)
