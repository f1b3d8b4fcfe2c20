"""Dots of different depths whose operands are computed from one tile of scales: each keeps a width along K of its own,
though the scales, and with them the operands, get one layout."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from harness import Float8, launch, values


@triton.jit
def scores(q, k, scales, o, ROWS: tl.constexpr, N: tl.constexpr, K0: tl.constexpr, K1: tl.constexpr, ZERO: tl.constexpr):
    """q @ ((k - zero) * scale), K0 elements of the depth at first, then K1."""
    r, n = tl.arange(0, ROWS), tl.arange(0, N)
    d0, d1 = tl.arange(0, K0), K0 + tl.arange(0, K1)
    q0 = tl.load(q + r[:, None] * (K0 + K1) + d0[None, :])
    q1 = tl.load(q + r[:, None] * (K0 + K1) + d1[None, :])
    scale = tl.load(scales + 2 * n)[None, :]
    k0 = tl.load(k + d0[:, None] + n[None, :] * (K0 + K1)).to(q0.dtype)
    k1 = tl.load(k + d1[:, None] + n[None, :] * (K0 + K1)).to(q0.dtype)
    if ZERO:
        zero = tl.load(scales + 2 * n + 1)[None, :]
        k0, k1 = k0 - zero, k1 - zero
    total = tl.dot(q0, (k0 * scale).to(q0.dtype)) + tl.dot(q1, (k1 * scale).to(q0.dtype))
    tl.store(o + r[:, None] * N + n[None, :], total)


def small(shape, seed, low, high):
    return values("int8", int(np.prod(shape)), seed=seed, low=low, high=high).reshape(shape)


def stored_as(dtype, codes):
    """`codes` are 0 to 3; also as e5m2, whose exponent has the bias 15."""
    if dtype == "float8e5":
        return Float8(np.array([0x00, 0x3C, 0x40, 0x42], np.uint8)[codes], dtype)
    return codes.astype(dtype)


@pytest.mark.parametrize("stored", ["uint8", "int8", "float8e5", "float16"])
@pytest.mark.parametrize("depths", [(32, 16), (16, 32), (64, 16), (64, 32), (128, 64), (32, 32)])
@pytest.mark.parametrize("num_warps", [1, 4])
def test_scores_of_a_quantised_cache(stored, depths, num_warps, device):
    rows, n, depth = 16, 32, sum(depths)
    q, k, scales = small((rows, depth), 1, -2, 3), small((n, depth), 2, 0, 4), small((n, 2), 3, 0, 4)
    o = np.zeros((rows, n), np.float32)
    arguments = (q.astype(np.float16), stored_as(stored, k), scales.astype(np.float16), o)
    if launch(scores, (1,), *arguments, rows, n, *depths, True, num_warps=num_warps, device=device):
        assert (o == q.astype(int) @ ((k.astype(int) - scales[:, 1:]) * scales[:, :1]).T).all()


@pytest.mark.parametrize("operand", ["float16", "float32"])
@pytest.mark.parametrize("columns", [16, 128])
def test_without_zeros(operand, columns, device):
    rows, depths = 32, (64, 16)
    q, k, scales = small((rows, 80), 1, -2, 3), small((columns, 80), 2, -8, 8), small((columns, 2), 3, 0, 4)
    o = np.zeros((rows, columns), np.float32)
    if launch(scores, (1,), q.astype(operand), k, scales.astype(operand), o, rows, columns, *depths, False, device=device):
        assert (o == q.astype(int) @ (k.astype(int) * scales[:, :1]).T).all()
