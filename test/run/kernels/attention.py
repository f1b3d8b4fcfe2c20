"""Attention in blocks with a running softmax, forward and backward: causal or not, any length."""
# SPDX-License-Identifier: MIT

import math

import numpy as np
import pytest
import triton
import triton.language as tl
from harness import check, values


@triton.jit
def rows_of(ptr, start, N, D: tl.constexpr, BLOCK: tl.constexpr):
    """BLOCK rows of a matrix of width D, zeros beyond its end, and their indices."""
    rows = start + tl.arange(0, BLOCK)
    at = rows[:, None] * D + tl.arange(0, D)[None, :]
    return tl.load(ptr + at, mask=rows[:, None] < N, other=0.0), rows


@triton.jit
def scores(q, k, rows, columns, N, scale, CAUSAL: tl.constexpr):
    """q k^T in units of log2 e; minus infinity where a key is masked for a query."""
    s = tl.dot(q, tl.trans(k), input_precision="ieee") * scale
    seen = columns[None, :] < N
    if CAUSAL:
        seen = seen & (rows[:, None] >= columns[None, :])
    return tl.where(seen, s, float("-inf"))


@triton.jit
def attention_forward(
    q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr, N, scale,
    D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    start = tl.program_id(0) * BLOCK_M
    head = tl.program_id(1) * N * D
    q, rows = rows_of(q_ptr + head, start, N, D, BLOCK_M)
    peak = tl.full([BLOCK_M], float("-inf"), tl.float32)
    total = tl.zeros([BLOCK_M], tl.float32)
    acc = tl.zeros([BLOCK_M, D], tl.float32)
    end = N
    if CAUSAL:
        end = min(N, start + BLOCK_M)
    for begin in range(0, end, BLOCK_N):
        k, columns = rows_of(k_ptr + head, begin, N, D, BLOCK_N)
        v, _ = rows_of(v_ptr + head, begin, N, D, BLOCK_N)
        s = scores(q, k, rows, columns, N, scale, CAUSAL)
        higher = tl.maximum(peak, tl.max(s, 1))
        p = tl.exp2(s - higher[:, None])
        rescale = tl.exp2(peak - higher)
        total = total * rescale + tl.sum(p, 1)
        acc = tl.dot(p.to(v.dtype), v, acc * rescale[:, None], input_precision="ieee")
        peak = higher
    tl.store(lse_ptr + tl.program_id(1) * N + rows, peak + tl.log2(total), mask=rows < N)
    at = rows[:, None] * D + tl.arange(0, D)[None, :]
    out = (acc / total[:, None]).to(out_ptr.dtype.element_ty)
    tl.store(out_ptr + head + at, out, mask=rows[:, None] < N)


@triton.jit
def add_blocks(
    acc, total, peak, q, k_ptr, v_ptr, rows, first, last, scale,
    D: tl.constexpr, BLOCK: tl.constexpr, MASK: tl.constexpr,
):  # fmt: skip
    """The running softmax over keys `first` to `last`; the scores are masked in the second loop alone."""
    for begin in range(first, last, BLOCK):
        columns = begin + tl.arange(0, BLOCK)
        k = tl.load(k_ptr + columns[None, :] * D + tl.arange(0, D)[:, None])
        s = tl.dot(q, k)
        if MASK:
            s = s * scale + tl.where(rows[:, None] >= columns[None, :], 0, -1.0e6)
            higher = tl.maximum(peak, tl.max(s, 1))
            s -= higher[:, None]
        else:
            higher = tl.maximum(peak, tl.max(s, 1) * scale)
            s = s * scale - higher[:, None]
        p = tl.exp2(s)
        rescale = tl.exp2(peak - higher)
        total = total * rescale + tl.sum(p, 1)
        v = tl.load(v_ptr + columns[:, None] * D + tl.arange(0, D)[None, :])
        acc = tl.dot(p.to(v.dtype), v, acc * rescale[:, None])
        peak = higher
    return acc, total, peak


@triton.jit
def attention_below_and_on_the_diagonal(
    q_ptr, k_ptr, v_ptr, out_ptr, lse_ptr, N, scale,
    D: tl.constexpr, BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr,
):  # fmt: skip
    """Causal; N is a multiple of BLOCK_M."""
    start = tl.program_id(0) * BLOCK_M
    head = tl.program_id(1) * N * D
    rows = start + tl.arange(0, BLOCK_M)
    at = rows[:, None] * D + tl.arange(0, D)[None, :]
    q = tl.load(q_ptr + head + at)
    peak = tl.full([BLOCK_M], float("-inf"), tl.float32)
    total = tl.zeros([BLOCK_M], tl.float32)
    acc = tl.zeros([BLOCK_M, D], tl.float32)
    acc, total, peak = add_blocks(
        acc, total, peak, q, k_ptr + head, v_ptr + head, rows, 0, start, scale, D, BLOCK_N, False
    )
    acc, total, peak = add_blocks(
        acc, total, peak, q, k_ptr + head, v_ptr + head, rows, start, start + BLOCK_M, scale, D, BLOCK_N, True
    )
    tl.store(lse_ptr + tl.program_id(1) * N + rows, peak + tl.log2(total))
    tl.store(out_ptr + head + at, (acc / total[:, None]).to(out_ptr.dtype.element_ty))


@triton.jit
def row_products(out_ptr, dout_ptr, delta_ptr, N, D: tl.constexpr, BLOCK_M: tl.constexpr):
    """delta = the sum of out * dout along each row."""
    head = tl.program_id(1)
    out, rows = rows_of(out_ptr + head * N * D, tl.program_id(0) * BLOCK_M, N, D, BLOCK_M)
    dout, _ = rows_of(dout_ptr + head * N * D, tl.program_id(0) * BLOCK_M, N, D, BLOCK_M)
    delta = tl.sum(out.to(tl.float32) * dout.to(tl.float32), 1)
    tl.store(delta_ptr + head * N + rows, delta, mask=rows < N)


@triton.jit
def attention_backward(
    q_ptr, k_ptr, v_ptr, dout_ptr, lse_ptr, delta_ptr, dq_ptr, dk_ptr, dv_ptr, N, scale, factor,
    D: tl.constexpr, BLOCK: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    """Gradients of a block of keys and values, over all queries; then of a block of queries, over all keys."""
    head = tl.program_id(1) * N * D
    lse_ptr += tl.program_id(1) * N
    delta_ptr += tl.program_id(1) * N
    start = tl.program_id(0) * BLOCK

    k, columns = rows_of(k_ptr + head, start, N, D, BLOCK)
    v, _ = rows_of(v_ptr + head, start, N, D, BLOCK)
    dk = tl.zeros([BLOCK, D], tl.float32)
    dv = tl.zeros([BLOCK, D], tl.float32)
    first = start if CAUSAL else 0
    for begin in range(first, N, BLOCK):
        q, rows = rows_of(q_ptr + head, begin, N, D, BLOCK)
        dout, _ = rows_of(dout_ptr + head, begin, N, D, BLOCK)
        lse = tl.load(lse_ptr + rows, mask=rows < N, other=float("inf"))
        delta = tl.load(delta_ptr + rows, mask=rows < N, other=0.0)
        p = tl.exp2(scores(q, k, rows, columns, N, scale, CAUSAL) - lse[:, None])
        dv = tl.dot(tl.trans(p.to(dout.dtype)), dout, dv, input_precision="ieee")
        dp = tl.dot(dout, tl.trans(v), input_precision="ieee")
        ds = p * (dp - delta[:, None])
        dk = tl.dot(tl.trans(ds.to(q.dtype)), q, dk, input_precision="ieee")
    at = columns[:, None] * D + tl.arange(0, D)[None, :]
    tl.store(dk_ptr + head + at, dk * factor, mask=columns[:, None] < N)
    tl.store(dv_ptr + head + at, dv, mask=columns[:, None] < N)

    q, rows = rows_of(q_ptr + head, start, N, D, BLOCK)
    dout, _ = rows_of(dout_ptr + head, start, N, D, BLOCK)
    lse = tl.load(lse_ptr + rows, mask=rows < N, other=float("inf"))
    delta = tl.load(delta_ptr + rows, mask=rows < N, other=0.0)
    dq = tl.zeros([BLOCK, D], tl.float32)
    end = min(N, start + BLOCK) if CAUSAL else N
    for begin in range(0, end, BLOCK):
        k, columns = rows_of(k_ptr + head, begin, N, D, BLOCK)
        v, _ = rows_of(v_ptr + head, begin, N, D, BLOCK)
        p = tl.exp2(scores(q, k, rows, columns, N, scale, CAUSAL) - lse[:, None])
        ds = p * (tl.dot(dout, tl.trans(v), input_precision="ieee") - delta[:, None])
        dq = tl.dot(ds.to(k.dtype), k, dq, input_precision="ieee")
    at = rows[:, None] * D + tl.arange(0, D)[None, :]
    tl.store(dq_ptr + head + at, dq * factor, mask=rows[:, None] < N)


class Reference:
    """Output and gradients in float64."""

    def __init__(self, heads, n, d, causal, dtype):
        shape = heads, n, d
        self.q, self.k, self.v, self.dout = (
            values(dtype, *shape, seed=seed, low=-2, high=2) for seed in range(4)
        )
        q, k, v, dout = (array.astype(np.float64) for array in (self.q, self.k, self.v, self.dout))
        self.factor = 1 / math.sqrt(d)
        s = q @ k.swapaxes(1, 2) * self.factor
        if causal:
            s = np.where(np.tri(n, dtype=bool), s, -np.inf)
        peak = s.max(2, keepdims=True)
        p = np.exp(s - peak)
        total = p.sum(2, keepdims=True)
        self.lse = (peak + np.log(total))[..., 0] * math.log2(math.e)
        p /= total
        self.out = p @ v
        self.delta = (self.out * dout).sum(2)
        ds = p * (dout @ v.swapaxes(1, 2) - self.delta[..., None])
        self.dq = ds @ k * self.factor
        self.dk = ds.swapaxes(1, 2) @ q * self.factor
        self.dv = p.swapaxes(1, 2) @ dout
        self.scale = self.factor * math.log2(math.e)


SHAPES = [(1, 64, 32), (2, 100, 16), (1, 33, 64), (3, 1, 16)]
TOLERANCES = {"float32": 2e-5, "float16": 4e-3}


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("shape", SHAPES)
def test_forward(shape, dtype, causal, device):
    ref = Reference(*shape, causal, dtype)
    heads, n, d = shape
    arguments = dict(q_ptr=ref.q, k_ptr=ref.k, v_ptr=ref.v, out_ptr=np.zeros(shape, dtype))
    arguments |= dict(lse_ptr=np.zeros((heads, n), np.float32), N=n, scale=ref.scale)
    arguments |= dict(D=d, BLOCK_M=32, BLOCK_N=16, CAUSAL=causal)
    expected = dict(out_ptr=ref.out.astype(dtype), lse_ptr=ref.lse.astype(np.float32))
    tolerance = TOLERANCES[dtype]
    grid = (triton.cdiv(n, 32), heads)
    check(attention_forward, grid, arguments, expected, device=device, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(
    "d, block_m, block_n, warps",
    [(64, 128, 128, 8), (64, 128, 64, 4), (128, 128, 64, 8), (128, 128, 64, 4), (32, 64, 32, 4)],
)
def test_forward_in_two_loops(d, block_m, block_n, warps, device):
    heads, n = 2, 3 * block_m
    ref = Reference(heads, n, d, True, "float16")
    arguments = dict(q_ptr=ref.q, k_ptr=ref.k, v_ptr=ref.v, out_ptr=np.zeros(ref.q.shape, "float16"))
    arguments |= dict(lse_ptr=np.zeros((heads, n), np.float32), N=n, scale=ref.scale)
    arguments |= dict(D=d, BLOCK_M=block_m, BLOCK_N=block_n, num_warps=warps)
    expected = dict(out_ptr=ref.out.astype("float16"), lse_ptr=ref.lse.astype(np.float32))
    check(
        attention_below_and_on_the_diagonal, (n // block_m, heads), arguments, expected,
        device=device, rtol=8e-3, atol=8e-3,
    )  # fmt: skip


@pytest.mark.parametrize("shape", SHAPES)
def test_row_products(shape, device):
    out, dout = values("float16", *shape), values("float16", *shape, seed=1)
    heads, n, d = shape
    delta = (out.astype(np.float64) * dout.astype(np.float64)).sum(2).astype(np.float32)
    arguments = dict(out_ptr=out, dout_ptr=dout, delta_ptr=np.zeros((heads, n), np.float32))
    arguments |= dict(N=n, D=d, BLOCK_M=16)
    grid = (triton.cdiv(n, 16), heads)
    check(row_products, grid, arguments, dict(delta_ptr=delta), device=device, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("causal", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("shape", SHAPES)
def test_backward(shape, dtype, causal, device):
    ref = Reference(*shape, causal, dtype)
    heads, n, d = shape
    arguments = dict(q_ptr=ref.q, k_ptr=ref.k, v_ptr=ref.v, dout_ptr=ref.dout)
    arguments |= dict(lse_ptr=ref.lse.astype(np.float32), delta_ptr=ref.delta.astype(np.float32))
    arguments |= {f"{name}_ptr": np.zeros(shape, np.float32) for name in ("dq", "dk", "dv")}
    arguments |= dict(N=n, scale=ref.scale, factor=ref.factor, D=d, BLOCK=16, CAUSAL=causal)
    expected = {f"{name}_ptr": getattr(ref, name).astype(np.float32) for name in ("dq", "dk", "dv")}
    tolerance = 4 * TOLERANCES[dtype]
    grid = (triton.cdiv(n, 16), heads)
    check(attention_backward, grid, arguments, expected, device=device, rtol=tolerance, atol=tolerance)
