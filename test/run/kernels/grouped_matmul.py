"""Matmuls of many pairs of matrices in one launch: programs iterate over the tiles of all, by addresses from memory."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from harness import Addresses, empty_like, launch, values


@triton.jit
def matmul_by_pointers(
    a_ptr, b_ptr, m, n, M, N, K, lda, ldb,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    rows, columns, k = m + tl.arange(0, BLOCK_M), n + tl.arange(0, BLOCK_N), tl.arange(0, BLOCK_K)
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(0, K, BLOCK_K):
        at = start + k
        a = tl.load(a_ptr + rows[:, None] * lda + at, mask=(rows[:, None] < M) & (at < K), other=0.0)
        b_at = b_ptr + at[:, None] * ldb + columns
        b = tl.load(b_at, mask=(at[:, None] < K) & (columns < N), other=0.0)
        acc = tl.dot(a, b, acc)
    return acc


@triton.jit
def matmul_by_descriptors(
    a_ptr, b_ptr, m, n, M, N, K, lda, ldb,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    a_matrix = tl.make_tensor_descriptor(a_ptr, [M, K], [lda, 1], [BLOCK_M, BLOCK_K])
    b_matrix = tl.make_tensor_descriptor(b_ptr, [K, N], [ldb, 1], [BLOCK_K, BLOCK_N])
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for k in range(0, K, BLOCK_K):
        acc = tl.dot(a_matrix.load([m, k]), b_matrix.load([k, n]), acc)
    return acc


@triton.jit
def grouped_matmul(
    a_list, b_list, c_list, size_ptr, stride_ptr, groups, MATMUL: tl.constexpr, PROGRAMS: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    tile = tl.program_id(0)
    first = 0  # the index of the group's first tile
    for group in range(groups):
        M, N, K = tl.load(size_ptr + group * 3), tl.load(size_ptr + group * 3 + 1), tl.load(size_ptr + group * 3 + 2)
        lda, ldb = tl.load(stride_ptr + group * 3), tl.load(stride_ptr + group * 3 + 1)
        ldc = tl.load(stride_ptr + group * 3 + 2)
        a = tl.load(a_list + group).to(tl.pointer_type(tl.float16))
        b = tl.load(b_list + group).to(tl.pointer_type(tl.float16))
        c = tl.load(c_list + group).to(tl.pointer_type(tl.float32))
        across = tl.cdiv(N, BLOCK_N)
        end = first + tl.cdiv(M, BLOCK_M) * across
        while tile < end:
            m, n = (tile - first) // across * BLOCK_M, (tile - first) % across * BLOCK_N
            acc = MATMUL(a, b, m, n, M, N, K, lda, ldb, BLOCK_M, BLOCK_N, BLOCK_K)
            rows, columns = m + tl.arange(0, BLOCK_M), n + tl.arange(0, BLOCK_N)
            at = c + rows[:, None] * ldc + columns
            tl.store(at, acc, mask=(rows[:, None] < M) & (columns < N))
            tile += PROGRAMS
        first = end


def exact(rows, columns, stride, seed):
    """A matrix of small multiples of 1/2, for exact results, in rows `stride` elements apart."""
    memory = (np.floor(values("float32", rows, stride, seed=seed)) / 2).astype(np.float16)
    return memory[:, :columns]


SIZES = [(64, 32, 32), (1, 1, 1), (100, 70, 45), (16, 130, 64), (33, 8, 0), (129, 16, 100)]


@pytest.mark.parametrize("sizes", [SIZES, SIZES[2:3], []])
@pytest.mark.parametrize("programs", [1, 5, 64])
@pytest.mark.parametrize("matmul", [matmul_by_pointers, matmul_by_descriptors])
def test_groups(matmul, programs, sizes, device):
    # Rows of descriptors start at multiples of 16 bytes.
    strides = [[extent + -extent % 8 + 8 for extent in (k, n, n)] for _, n, k in sizes]
    a, b, c = [], [], []
    for seed, ((m, n, k), (lda, ldb, ldc)) in enumerate(zip(sizes, strides, strict=True)):
        a.append(exact(m, k, lda, seed))
        b.append(exact(k, n, ldb, seed + 100))
        c.append(empty_like(np.zeros((m, ldc), np.float32)))
    before = [each.copy() for each in c]
    tables = [np.array(rows, np.int32).reshape(-1, 3) for rows in (sizes, strides)]
    addresses = [Addresses(each) for each in (a, b, c)]
    grid = (programs,)
    blocks = dict(MATMUL=matmul, PROGRAMS=programs, BLOCK_M=32, BLOCK_N=32, BLOCK_K=16)
    if not launch(grouped_matmul, grid, *addresses, *tables, len(sizes), device=device, **blocks):
        return
    for left, right, got, untouched in zip(a, b, c, before, strict=True):
        columns = right.shape[1]
        np.testing.assert_array_equal(got[:, :columns], left.astype(np.float64) @ right.astype(np.float64))
        np.testing.assert_array_equal(
            got[:, columns:].view(np.uint8), untouched[:, columns:].view(np.uint8)
        )
