"""Matmuls of microscaled matrices in blocks: a scale for each 32 elements along K, any format on each side."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from _microscaling import scale, tile
from harness import launch


@triton.jit
def scaled_matmul(
    a_ptr, a_scale_ptr, b_ptr, b_scale_ptr, c_ptr, M, N, K, A: tl.constexpr, B: tl.constexpr,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr,
):  # fmt: skip
    """C = A B^T, both sides and their scales in rows along K; codes of four bits are packed in pairs."""
    A_PACK: tl.constexpr = 2 if A == "e2m1" else 1
    B_PACK: tl.constexpr = 2 if B == "e2m1" else 1
    rows = tl.program_id(0) * BLOCK_M + tl.arange(0, BLOCK_M)
    columns = tl.program_id(1) * BLOCK_N + tl.arange(0, BLOCK_N)
    a_k, b_k = tl.arange(0, BLOCK_K // A_PACK), tl.arange(0, BLOCK_K // B_PACK)
    group = tl.arange(0, BLOCK_K // 32)
    acc = tl.zeros((BLOCK_M, BLOCK_N), tl.float32)
    for start in range(0, K, BLOCK_K):
        a_at, b_at, at = start // A_PACK + a_k, start // B_PACK + b_k, start // 32 + group
        a_mask = (rows[:, None] < M) & (a_at < K // A_PACK)
        a = tl.load(a_ptr + rows[:, None] * (K // A_PACK) + a_at, mask=a_mask, other=0)
        b_mask = (columns < N) & (b_at[:, None] < K // B_PACK)
        b = tl.load(b_ptr + columns * (K // B_PACK) + b_at[:, None], mask=b_mask, other=0)
        a_scale = tl.load(
            a_scale_ptr + rows[:, None] * (K // 32) + at, mask=(rows[:, None] < M) & (at < K // 32), other=127
        )
        b_scale = tl.load(
            b_scale_ptr + columns[:, None] * (K // 32) + at,
            mask=(columns[:, None] < N) & (at < K // 32),
            other=127,
        )
        acc = tl.dot_scaled(a, a_scale, A, b, b_scale, B, acc)
    tl.store(c_ptr + rows[:, None] * N + columns, acc, mask=(rows[:, None] < M) & (columns < N))


@pytest.mark.parametrize("forms", [("e4m3", "e4m3"), ("e5m2", "e4m3"), ("e2m1", "e2m1"), ("e4m3", "e2m1")])
@pytest.mark.parametrize("shape", [(32, 32, 128), (70, 45, 224), (1, 3, 32)])
def test_matmuls(shape, forms, device):
    M, N, K = shape
    a, x = tile(forms[0], M, K, seed=1)
    b, y = tile(forms[1], N, K, seed=2)
    s, x_scale = scale("e8m0", M, K // 32, seed=3)
    t, y_scale = scale("e8m0", N, K // 32, seed=4)
    c = np.full((M, N), np.nan, np.float32)
    grid = (triton.cdiv(M, 32), triton.cdiv(N, 32))
    blocks = dict(A=forms[0], B=forms[1], BLOCK_M=32, BLOCK_N=32, BLOCK_K=64)
    if not launch(scaled_matmul, grid, a, s, b, t, c, M, N, K, device=device, **blocks):
        return
    x, y = x * np.repeat(x_scale, 32, 1), y * np.repeat(y_scale, 32, 1)
    bound = 2 * K * np.finfo(np.float32).eps * (np.abs(x) @ np.abs(y).T)
    assert (np.abs(c - x @ y.T) <= bound).all()
