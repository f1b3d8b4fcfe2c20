"""Kernels shared by the tests of JAX."""
# SPDX-License-Identifier: MIT

import triton
import triton.language as tl


@triton.jit
def add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    x = tl.load(x_ptr + at, mask=inside)
    tl.store(out_ptr + at, x + tl.load(y_ptr + at, mask=inside), mask=inside)


@triton.jit
def scale(x_ptr, factor, shift, negate, n, out_ptr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x_ptr + at, mask=at < n) * factor + shift
    value = tl.where(negate, -value, value)
    tl.store(out_ptr + at, value, mask=at < n)


@triton.jit
def softmax(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    row = tl.program_id(0) * columns
    x = tl.load(x_ptr + row + at, mask=at < columns, other=-float("inf"))
    powers = tl.exp(x - tl.max(x, 0))
    tl.store(out_ptr + row + at, powers / tl.sum(powers, 0), mask=at < columns)


@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    rows = tl.program_id(0) * BM + tl.arange(0, BM)
    columns = tl.program_id(1) * BN + tl.arange(0, BN)
    total = tl.zeros((BM, BN), tl.float32)
    for start in range(0, K, BK):
        depth = start + tl.arange(0, BK)
        a_mask = (rows[:, None] < M) & (depth[None, :] < K)
        b_mask = (depth[:, None] < K) & (columns[None, :] < N)
        a = tl.load(a_ptr + rows[:, None] * K + depth[None, :], mask=a_mask, other=0.0)
        b = tl.load(b_ptr + depth[:, None] * N + columns[None, :], mask=b_mask, other=0.0)
        total = tl.dot(a, b, total, input_precision="ieee")
    mask = (rows[:, None] < M) & (columns[None, :] < N)
    tl.store(c_ptr + rows[:, None] * N + columns[None, :], total, mask=mask)


@triton.jit
def attention(
    q_ptr,
    k_ptr,
    v_ptr,
    out_ptr,
    length,
    sm_scale,
    D: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
):
    base = tl.program_id(1) * length * D
    rows, depth = tl.program_id(0) * BM + tl.arange(0, BM), tl.arange(0, D)
    q = tl.load(
        q_ptr + base + rows[:, None] * D + depth[None, :], mask=rows[:, None] < length, other=0.0
    )
    top = tl.full((BM,), -float("inf"), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    out = tl.zeros((BM, D), tl.float32)
    for start in range(0, length, BN):
        keys = start + tl.arange(0, BN)
        at = base + keys[:, None] * D + depth[None, :]
        k = tl.load(k_ptr + at, mask=keys[:, None] < length, other=0.0)
        v = tl.load(v_ptr + at, mask=keys[:, None] < length, other=0.0)
        scores = tl.dot(q, tl.trans(k), input_precision="ieee") * sm_scale
        scores = tl.where(keys[None, :] < length, scores, -float("inf"))
        higher = tl.maximum(top, tl.max(scores, 1))
        powers = tl.exp(scores - higher[:, None])
        shrink = tl.exp(top - higher)
        total = total * shrink + tl.sum(powers, 1)
        out = tl.dot(powers.to(v.dtype), v, out * shrink[:, None], input_precision="ieee")
        top = higher
    at = base + rows[:, None] * D + depth[None, :]
    tl.store(
        out_ptr + at,
        (out / total[:, None]).to(out_ptr.dtype.element_ty),
        mask=rows[:, None] < length,
    )


@triton.jit
def increment(x_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + at, tl.load(x_ptr + at, mask=at < n) + 1, mask=at < n)


@triton.jit
def increment_into(x_ptr, n, out_ptr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=at < n) + 1, mask=at < n)


@triton.jit
def histogram(x_ptr, counts_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.atomic_add(counts_ptr + tl.load(x_ptr + at, mask=at < n, other=0), 1, mask=at < n)


@triton.jit
def split(x_ptr, low_ptr, high_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n)
    tl.store(low_ptr + at, (x & 15).to(tl.int8), mask=at < n)
    tl.store(high_ptr + at, x >> 4, mask=at < n)


@triton.jit
def row_sum(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), tl.float32)
    row = tl.program_id(0) * columns
    for start in range(0, columns, BLOCK):
        at = start + tl.arange(0, BLOCK)
        total += tl.load(x_ptr + row + at, mask=at < columns, other=0.0)
    tl.store(out_ptr + tl.program_id(0), tl.sum(total, 0))


tuned_add = triton.autotune([triton.Config({"BLOCK": size}) for size in (16, 64)], key=["n"])(add)
tuned_increment = triton.autotune([triton.Config({"BLOCK": size}) for size in (16, 64)], key=["n"])(
    increment
)
sized_add = triton.heuristics({"BLOCK": lambda args: triton.next_power_of_2(args["n"])})(add)
