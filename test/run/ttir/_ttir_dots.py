"""The dots among the kernels of _ttir_kernels.py."""
# SPDX-License-Identifier: MIT

import triton
import triton.language as tl
from _ttir_case import case


@case(
    a="*fp16", b="*fp16", c="*fp16", M="i32", N="i32", K="i32", a_row="i32", b_row="i32",
    c_row="i32", BLOCK_M=32, BLOCK_N=32, BLOCK_K=16, GROUP=2,
)  # fmt: skip
@triton.jit
def matmul(
    a, b, c, M, N, K, a_row, b_row, c_row,
    BLOCK_M: tl.constexpr, BLOCK_N: tl.constexpr, BLOCK_K: tl.constexpr, GROUP: tl.constexpr,
):  # fmt: skip
    rows = tl.cdiv(M, BLOCK_M)
    columns = tl.cdiv(N, BLOCK_N)
    row, column = tl.swizzle2d(
        tl.program_id(0) // columns, tl.program_id(0) % columns, rows, columns, GROUP
    )
    tl.assume(row >= 0)
    tl.assume(a_row > 0)
    m = (row * BLOCK_M + tl.arange(0, BLOCK_M)) % M
    n = (column * BLOCK_N + tl.arange(0, BLOCK_N)) % N
    k = tl.arange(0, BLOCK_K)
    a_place = a + m[:, None] * a_row + k[None, :]
    b_place = b + k[:, None] * b_row + n[None, :]
    total = tl.zeros((BLOCK_M, BLOCK_N), dtype=tl.float32)
    for step in range(0, tl.cdiv(K, BLOCK_K)):
        left = tl.load(a_place, mask=k[None, :] < K - step * BLOCK_K, other=0.0)
        right = tl.load(b_place, mask=k[:, None] < K - step * BLOCK_K, other=0.0)
        total = tl.dot(left, right, total)
        a_place += BLOCK_K
        b_place += BLOCK_K * b_row
    total = tl.where(total >= 0, total, 0.01 * total)
    m = row * BLOCK_M + tl.arange(0, BLOCK_M)
    n = column * BLOCK_N + tl.arange(0, BLOCK_N)
    inside = (m[:, None] < M) & (n[None, :] < N)
    tl.store(c + m[:, None] * c_row + n[None, :], total.to(tl.float16), mask=inside)


@case(q="*fp16", k="*fp16", v="*fp16", out="*fp32", scale="fp32", N=64, BLOCK=32, D=16)
@triton.jit
def attention(q, k, v, out, scale, N: tl.constexpr, BLOCK: tl.constexpr, D: tl.constexpr):
    first = tl.program_id(0) * BLOCK
    keys = tl.make_tensor_descriptor(k, [N, D], [D, 1], [BLOCK, D])
    values = tl.make_tensor_descriptor(v, [N, D], [D, 1], [BLOCK, D])
    row = first + tl.arange(0, BLOCK)
    dim = tl.arange(0, D)
    query = tl.load(q + row[:, None] * D + dim[None, :])
    highest = tl.full([BLOCK], -float("inf"), tl.float32)
    weight = tl.zeros([BLOCK], tl.float32)
    total = tl.zeros([BLOCK, D], tl.float32)
    for start in tl.range(0, first + BLOCK, BLOCK):
        start = tl.multiple_of(start, BLOCK)
        score = tl.dot(query, keys.load([start, 0]).T) * scale * 1.44269504
        column = start + tl.arange(0, BLOCK)
        score = tl.where(row[:, None] >= column[None, :], score, -1.0e6)
        new = tl.maximum(highest, tl.max(score, 1))
        power = tl.math.exp2(score - new[:, None])
        shrink = tl.math.exp2(highest - new)
        weight = weight * shrink + tl.sum(power, 1)
        total = total * shrink[:, None]
        total = tl.dot(power.to(tl.float16), values.load([start, 0]), total)
        highest = new
    tl.store(out + row[:, None] * D + dim[None, :], total / weight[:, None])


@case(
    q="*fp16", k="*fp16", v="*fp16", do="*fp16", lse="*fp32", delta="*fp32", dq="*fp32", dk="*fp32",
    dv="*fp32", scale="fp32", N=64, BLOCK=32, D=16,
)  # fmt: skip
@triton.jit
def attention_backward(
    q, k, v, do, lse, delta, dq, dk, dv, scale,
    N: tl.constexpr, BLOCK: tl.constexpr, D: tl.constexpr,
):  # fmt: skip
    column = tl.arange(0, D)
    mine = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    offsets = mine[:, None] * D + column[None, :]
    keys = tl.load(k + offsets)
    weights = tl.load(v + offsets)
    dkeys = tl.zeros((BLOCK, D), tl.float32)
    dweights = tl.zeros((BLOCK, D), tl.float32)
    for first in range(0, N, BLOCK):
        row = first + tl.arange(0, BLOCK)
        at = row[:, None] * D + column[None, :]
        queries = tl.load(q + at)
        gradient = tl.load(do + at)
        share = tl.exp(tl.dot(keys, tl.trans(queries)) * scale - tl.load(lse + row)[None, :])
        dweights += tl.dot(share.to(tl.float16), gradient)
        dshare = tl.dot(weights, tl.trans(gradient)) - tl.load(delta + row)[None, :]
        dscore = (share * dshare * scale).to(tl.float16)
        dkeys += tl.dot(dscore, queries)
        tl.atomic_add(dq + at, tl.dot(tl.trans(dscore), keys), sem="relaxed")
    tl.store(dk + offsets, dkeys)
    tl.store(dv + offsets, dweights)


@case(a="*fp32", b="*fp32", c="*fp32", BLOCK=16)
@triton.jit
def dot_precisions(a, b, c, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    offsets = i[:, None] * BLOCK + i[None, :]
    left = tl.load(a + offsets)
    right = tl.load(b + offsets)
    total = tl.dot(left, right, input_precision="ieee")
    total += tl.dot(left, right, input_precision="tf32x3")
    batch = tl.reshape(left, (2, BLOCK // 2, BLOCK))
    transposed = tl.trans(batch, 0, 2, 1)
    result = tl.dot(batch, transposed, input_precision="ieee")
    tl.store(c + offsets, total + tl.reshape(tl.join(result, result), (BLOCK, BLOCK)))


@case(a="*u8", a_scale="*u8", b="*u8", b_scale="*u8", c="*fp32", M=32, N=32, K=64)
@triton.jit
def dot_scales(
    a, a_scale, b, b_scale, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr
):
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    k = tl.arange(0, K)
    packed = tl.arange(0, K // 2)
    scale = tl.arange(0, K // 32)
    left = tl.load(a + m[:, None] * K + k[None, :])
    right = tl.load(b + packed[:, None] * N + n[None, :])
    left_scale = tl.load(a_scale + m[:, None] * (K // 32) + scale[None, :])
    right_scale = tl.load(b_scale + n[:, None] * (K // 32) + scale[None, :])
    result = tl.dot_scaled(left, left_scale, "e4m3", right, right_scale, "e2m1")
    tl.store(c + m[:, None] * N + n[None, :], result)
