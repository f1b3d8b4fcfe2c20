"""Autotuned kernels of our own with the usual lists of configurations; they run under any `triton`."""
# SPDX-License-Identifier: MIT

import torch
import triton
import triton.language as tl

BLOCKS = [
    triton.Config({"BLOCK": block}, num_warps=warps)
    for block in (256, 512, 1024, 2048, 4096, 8192)
    for warps in (2, 4, 8)
]
WARPS = [triton.Config({}, num_warps=warps) for warps in (1, 2, 4, 8, 16, 32)]
MATMULS = [
    triton.Config({"BM": m, "BN": n, "BK": k, "GROUP": 8}, num_warps=warps, num_stages=stages)
    for m, n, k, stages, warps in (
        (128, 256, 64, 3, 8),
        (64, 256, 32, 4, 4),
        (128, 128, 32, 4, 4),
        (128, 64, 32, 4, 4),
        (64, 128, 32, 4, 4),
        (128, 32, 32, 4, 4),
        (64, 32, 32, 5, 2),
        (32, 64, 32, 5, 2),
        (256, 128, 64, 3, 8),
        (128, 128, 64, 4, 8),
        (128, 128, 64, 4, 4),
        (128, 64, 64, 4, 4),
        (64, 128, 64, 4, 4),
        (64, 64, 64, 4, 4),
        (64, 64, 128, 3, 4),
        (128, 256, 128, 3, 8),
    )
]
ATTENTION = [
    triton.Config({"BM": m, "BN": n}, num_warps=warps, num_stages=stages)
    for m in (64, 128)
    for n in (32, 64, 128)
    for warps in (4, 8)
    for stages in (2, 3, 4)
]


@triton.autotune(BLOCKS, key=["n"])
@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    total = tl.load(x_ptr + at, mask=inside) + tl.load(y_ptr + at, mask=inside)
    tl.store(out_ptr + at, total, mask=inside)


def run_add(n, device):
    x, y = (torch.randn(n, device=device) for _ in range(2))
    out = torch.empty_like(x)
    add_kernel[lambda meta: (triton.cdiv(n, meta["BLOCK"]),)](x, y, out, n)


@triton.autotune(WARPS, key=["n"])
@triton.jit
def softmax_kernel(x_ptr, out_ptr, n, WIDTH: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    at = tl.arange(0, WIDTH)
    x = tl.load(x_ptr + row * n + at, mask=at < n, other=float("-inf"))
    x = tl.exp(x - tl.max(x, axis=0))
    tl.store(out_ptr + row * n + at, x / tl.sum(x, axis=0), mask=at < n)


def run_softmax(rows, columns, device):
    x = torch.randn(rows, columns, device=device)
    out = torch.empty_like(x)
    softmax_kernel[(rows,)](x, out, columns, WIDTH=triton.next_power_of_2(columns))


@triton.autotune(BLOCKS, key=["n"])
@triton.jit
def layer_norm_kernel(x_ptr, weight_ptr, bias_ptr, out_ptr, n, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64) * n
    total = tl.zeros([BLOCK], tl.float32)
    squares = tl.zeros([BLOCK], tl.float32)
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row + at, mask=at < n, other=0.0).to(tl.float32)
        total += x
        squares += x * x
    mean = tl.sum(total, axis=0) / n
    scale = 1 / tl.sqrt(tl.sum(squares, axis=0) / n - mean * mean + eps)
    for start in range(0, n, BLOCK):
        at = start + tl.arange(0, BLOCK)
        inside = at < n
        x = tl.load(x_ptr + row + at, mask=inside, other=0.0).to(tl.float32)
        y = (x - mean) * scale * tl.load(weight_ptr + at, mask=inside) + tl.load(
            bias_ptr + at, mask=inside
        )
        tl.store(out_ptr + row + at, y, mask=inside)


def run_layer_norm(rows, columns, device):
    x = torch.randn(rows, columns, device=device, dtype=torch.float16)
    weight, bias = (torch.randn(columns, device=device, dtype=torch.float16) for _ in range(2))
    layer_norm_kernel[(rows,)](x, weight, bias, torch.empty_like(x), columns, 1e-5)


@triton.autotune(MATMULS, key=["M", "N", "K"])
@triton.jit
def matmul_kernel(
    a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, GROUP: tl.constexpr
):  # fmt: skip
    program = tl.program_id(0)
    tall, wide = tl.cdiv(M, BM), tl.cdiv(N, BN)
    first = program // (GROUP * wide) * GROUP
    group = min(tall - first, GROUP)
    rows = (first + program % (GROUP * wide) % group) * BM + tl.arange(0, BM)
    columns = program % (GROUP * wide) // group * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    a = a_ptr + (rows % M)[:, None] * K + depth[None, :]
    b = b_ptr + depth[:, None] * N + (columns % N)[None, :]
    total = tl.zeros((BM, BN), tl.float32)
    for k in range(tl.cdiv(K, BK)):
        left = K - k * BK
        x = tl.load(a, mask=depth[None, :] < left, other=0.0)
        y = tl.load(b, mask=depth[:, None] < left, other=0.0)
        total = tl.dot(x, y, total)
        a += BK
        b += BK * N
    out = c_ptr + rows[:, None] * N + columns[None, :]
    inside = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(out, total.to(c_ptr.dtype.element_ty), mask=inside)


def run_matmul(size, device, dtype):
    a, b = (torch.randn(size, size, device=device).to(dtype) for _ in range(2))
    out = torch.empty_like(a)
    tiles = lambda meta: (triton.cdiv(size, meta["BM"]) * triton.cdiv(size, meta["BN"]),)  # noqa: E731
    matmul_kernel[tiles](a, b, out, size, size, size)


@triton.autotune(ATTENTION, key=["n", "D"])
@triton.jit
def attention_kernel(
    q_ptr, k_ptr, v_ptr, out_ptr, n, scale, D: tl.constexpr, BM: tl.constexpr, BN: tl.constexpr
):
    base = tl.program_id(1).to(tl.int64) * n * D
    rows, columns, width = (
        tl.program_id(0) * BM + tl.arange(0, BM),
        tl.arange(0, BN),
        tl.arange(0, D),
    )
    q = tl.load(q_ptr + base + rows[:, None] * D + width[None, :])
    highest = tl.full([BM], float("-inf"), tl.float32)
    weights = tl.zeros([BM], tl.float32)
    total = tl.zeros([BM, D], tl.float32)
    for start in range(0, n, BN):
        at = start + columns
        k = tl.load(k_ptr + base + at[None, :] * D + width[:, None])
        scores = tl.dot(q, k) * scale
        above = tl.maximum(highest, tl.max(scores, 1))
        scores = tl.exp2(scores - above[:, None])
        shrink = tl.exp2(highest - above)
        weights = weights * shrink + tl.sum(scores, 1)
        v = tl.load(v_ptr + base + at[:, None] * D + width[None, :])
        total = tl.dot(scores.to(v.dtype), v, total * shrink[:, None])
        highest = above
    out = out_ptr + base + rows[:, None] * D + width[None, :]
    tl.store(out, (total / weights[:, None]).to(out_ptr.dtype.element_ty))


def run_attention(length, width, heads, device):
    q, k, v = (torch.randn(heads, length, width, device=device).half() for _ in range(3))
    blocks = lambda meta: (length // meta["BM"], heads)  # noqa: E731
    attention_kernel[blocks](q, k, v, torch.empty_like(q), length, 1.44 / width**0.5, D=width)
