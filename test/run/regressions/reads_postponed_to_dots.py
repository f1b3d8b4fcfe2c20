"""Dots without a matrix instruction read operands from shared memory themselves: such a buffer is written again only
after a barrier, also where one was between the operand's load and the dot."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from harness import launch, values


@triton.jit
def gradients(q, do, shift, k, v, dk, dv, steps, ROWS: tl.constexpr, DEPTH: tl.constexpr, MASK: tl.constexpr):
    """The gradients of K and V in the backward pass of attention, for rows of keys; `weight` and `change` go through
    one buffer."""
    r, d = tl.arange(0, ROWS), tl.arange(0, DEPTH)
    tile_k = tl.load(k + r[:, None] * DEPTH + d[None, :])
    tile_v = tl.load(v + r[:, None] * DEPTH + d[None, :])
    sum_k = tl.zeros([ROWS, DEPTH], tl.float32)
    sum_v = tl.zeros([ROWS, DEPTH], tl.float32)
    m = tl.arange(0, ROWS)
    for _ in range(steps):
        tile_q = tl.load(q + m[None, :] * DEPTH + d[:, None])
        moved = tl.load(shift + m)
        weight = tl.dot(tile_k, tile_q, input_precision="ieee") - moved[None, :]
        if MASK:
            weight = tl.where(m[None, :] >= r[:, None], weight, 0)
        tile_do = tl.load(do + m[:, None] * DEPTH + d[None, :])
        sum_v += tl.dot(weight, tile_do, input_precision="ieee")
        change = weight * (tl.dot(tile_v, tl.trans(tile_do), input_precision="ieee") - moved[None, :])
        sum_k += tl.dot(change, tl.trans(tile_q), input_precision="ieee")
        m += ROWS
    tl.store(dv + r[:, None] * DEPTH + d[None, :], sum_v)
    tl.store(dk + r[:, None] * DEPTH + d[None, :], sum_k)


@pytest.mark.parametrize("mask", [False, True])
@pytest.mark.parametrize("rows, depth, num_warps", [(16, 64, 4), (16, 32, 4), (16, 32, 8), (32, 32, 4)])
def test_gradients_of_attention(rows, depth, num_warps, mask, device):
    steps = 2
    m = steps * rows
    small = [values("int8", n * depth, seed=n + i, low=-2, high=3) for i, n in enumerate((m, m, rows, rows))]
    q, do, k, v = (x.astype(np.float32).reshape(-1, depth) for x in small)
    shift = values("int8", m, seed=9, low=-2, high=3).astype(np.float32)
    dk, dv = np.zeros((rows, depth), np.float32), np.zeros((rows, depth), np.float32)
    arguments = (q, do, shift, k, v, dk, dv, steps, rows, depth, mask)
    if launch(gradients, (1,), *arguments, num_warps=num_warps, num_stages=1, device=device):
        weight = k @ q.T - shift
        if mask:
            weight *= np.arange(m) >= np.arange(rows)[:, None]
        assert (dv == weight @ do).all()
        assert (dk == (weight * (v @ do.T - shift)) @ q).all()
