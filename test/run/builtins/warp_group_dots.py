"""Dots large enough for wgmma: element types, directions in memory, numbers of warps.

All numbers are small integers, so sums are exact in any order; results are rounded at most once.
"""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from _fp8 import FORMATS
from harness import BFloat16, Float8, launch, values

ELEMENTS = ["float16", "bfloat16", "float32", "int8", "float8e4nv", "float8e5"]


def integers(dtype, *shape, seed):
    """-3 to 3 in any type, and the same in float64."""
    exact = values("int8", *shape, seed=seed, low=-3, high=4).astype(np.float64)
    if dtype == "bfloat16":
        return BFloat16(exact), exact
    if dtype in FORMATS:
        return Float8(FORMATS[dtype].encode(exact), dtype), exact
    return exact.astype(dtype), exact


@triton.jit
def dot_kernel(
    a_ptr, b_ptr, c_ptr, k, am, ak, bk, bn,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, OUT: tl.constexpr, IMPRECISE: tl.constexpr,
):  # fmt: skip
    i = tl.arange(0, BM)
    j = tl.arange(0, BN)
    depth = tl.arange(0, BK)
    a = a_ptr + i[:, None] * am + depth[None, :] * ak
    b = b_ptr + depth[:, None] * bk + j[None, :] * bn
    acc = tl.full((BM, BN), 1, OUT)
    for _ in range(0, k, BK):
        acc = tl.dot(tl.load(a), tl.load(b), acc, input_precision="tf32",
                     max_num_imprecise_acc=IMPRECISE, out_dtype=OUT)  # fmt: skip
        a += BK * ak
        b += BK * bk
    tl.store(c_ptr + i[:, None] * BN + j[None, :], acc)


def check_dot(dtype, block, k, transposed, warps, device, right=None, imprecise=None):
    m, n, depth = block
    a, exact_a = integers(dtype, *((k, m) if transposed[0] else (m, k)), seed=1)
    b, exact_b = integers(right or dtype, *((n, k) if transposed[1] else (k, n)), seed=2)
    strides = (1, m) if transposed[0] else (k, 1), (1, k) if transposed[1] else (n, 1)
    out = "int32" if dtype == "int8" else "float32"
    c = np.full((m, n), -1, out)
    arguments = (a, b, c, k, *strides[0], *strides[1], m, n, depth, getattr(tl, out), imprecise)
    if launch(dot_kernel, (1,), *arguments, device=device, num_warps=warps):
        left, right = exact_a.T if transposed[0] else exact_a, exact_b.T if transposed[1] else exact_b
        assert (c == left @ right + 1).all()


@pytest.mark.parametrize("dtype", ELEMENTS)
@pytest.mark.parametrize("transposed", [(0, 0), (0, 1), (1, 0), (1, 1)])
@pytest.mark.parametrize("warps", [4, 8])
def test_elements_and_directions(dtype, transposed, warps, device):
    check_dot(dtype, (128, 64, 64), 192, transposed, warps, device)


@pytest.mark.parametrize("block", [(64, 8, 16), (64, 256, 32), (128, 16, 128), (256, 64, 32), (64, 32, 256)])
@pytest.mark.parametrize("transposed", [(0, 0), (1, 1)])
@pytest.mark.parametrize("warps", [1, 2, 4, 8, 16])
def test_blocks_and_warps(block, transposed, warps, device):
    check_dot("float16", block, 2 * block[2], transposed, warps, device)


@pytest.mark.parametrize("types", [("float8e4nv", "float8e5"), ("float8e5", "float8e4nv")])
def test_two_kinds_of_byte_floats(types, device):
    check_dot(types[0], (64, 64, 64), 128, (0, 1), 4, device, right=types[1])


@triton.jit
def shared_operand(a_ptr, b_ptr, c_ptr, steps, out_ptr, sums_ptr, M: tl.constexpr, D: tl.constexpr):
    i = tl.arange(0, M)
    d = tl.arange(0, D)
    sums = tl.zeros((D, D), tl.float32)
    for step in range(steps):
        rows = step * M + i
        a = tl.load(a_ptr + rows[:, None] * D + d[None, :]).to(tl.float32)
        b = tl.load(b_ptr + rows[None, :] * D + d[:, None]).to(tl.float32)
        c = tl.load(c_ptr + rows[:, None] * D + d[None, :]).to(tl.float32)
        out = tl.dot(tl.dot(a, b), c) + tl.dot(a, sums)
        sums += tl.dot(b, c)
        tl.store(out_ptr + rows[:, None] * D + d[None, :], out)
    tl.store(sums_ptr + d[:, None] * D + d[None, :], sums)


@pytest.mark.parametrize("warps", [4, 8])
def test_the_right_operand_of_one_is_the_left_of_another(warps, device):
    m, size, steps = 64, 32, 3
    (a, exact_a), (b, exact_b), (c, exact_c) = (
        integers("float16", steps * m, size, seed=seed) for seed in (3, 4, 5)
    )
    out, sums = np.full((steps * m, size), -1, "float32"), np.full((size, size), -1, "float32")
    arguments = (a, b, c, steps, out, sums, m, size)
    if launch(shared_operand, (1,), *arguments, device=device, num_warps=warps):
        before = np.zeros((size, size))
        for step in range(steps):
            x, y, z = (each[step * m : (step + 1) * m] for each in (exact_a, exact_b, exact_c))
            # tf32 keeps 11 bits of the left operand, which is the result of dots here
            expected = x @ y.T @ z + x @ before
            assert np.abs(out[step * m : (step + 1) * m] - expected).max() <= 2.0**-10 * np.abs(expected).max()
            before += y.T @ z
        assert (sums == before).all()


@pytest.mark.parametrize("imprecise", [0, 32, 64, 128])
def test_imprecise_sums(imprecise, device):
    check_dot("float8e4nv", (64, 64, 128), 256, (0, 1), 4, device, imprecise=imprecise)


@triton.jit
def chain(q_ptr, k_ptr, v_ptr, o_ptr, iterations, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    """Attention without its softmax: the result of the first dot, clamped to 0..3, is an operand of the second."""
    i = tl.arange(0, BM)
    j = tl.arange(0, BN)
    depth = tl.arange(0, D)
    q = tl.load(q_ptr + i[:, None] * D + depth[None, :])
    acc = tl.zeros((BM, D), tl.float32)
    total = tl.zeros((BM,), tl.float32)
    for iteration in range(iterations):
        k = tl.load(k_ptr + (iteration * BN + j)[:, None] * D + depth[None, :])
        v = tl.load(v_ptr + (iteration * BN + j)[:, None] * D + depth[None, :])
        p = tl.minimum(tl.maximum(tl.dot(q, tl.trans(k), input_precision="tf32"), 0.0), 3.0)
        total += tl.sum(p, 1)
        acc = tl.dot(p.to(v_ptr.dtype.element_ty), v, acc * 2, input_precision="tf32")
    tl.store(o_ptr + i[:, None] * D + depth[None, :], acc + total[:, None])


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float8e4nv", "float8e5"])
@pytest.mark.parametrize("block", [(64, 32, 64), (128, 64, 64), (64, 64, 128)])
@pytest.mark.parametrize("warps", [4, 8])
def test_a_dot_of_a_dot(dtype, block, warps, device):
    m, n, depth = block
    (q, exact_q), (k, exact_k), (v, exact_v) = (
        integers(dtype, rows, depth, seed=seed) for rows, seed in ((m, 3), (3 * n, 4), (3 * n, 5))
    )
    o = np.full((m, depth), np.nan, np.float32)
    if launch(chain, (1,), q, k, v, o, 3, *block, device=device, num_warps=warps):
        expected, total = np.zeros((m, depth)), np.zeros(m)
        for iteration in range(3):
            rows = slice(iteration * n, (iteration + 1) * n)
            p = np.clip(exact_q @ exact_k[rows].T, 0, 3)
            expected, total = expected * 2 + p @ exact_v[rows], total + p.sum(1)
        assert (o == expected + total[:, None]).all()


@triton.jit
def moved_accumulators(a_ptr, b_ptr, d_ptr, iterations, SIZE: tl.constexpr, FORM: tl.constexpr):
    at = tl.arange(0, SIZE)[:, None] * SIZE + tl.arange(0, SIZE)[None, :]
    a = tl.load(a_ptr + at)
    b = tl.load(b_ptr + at)
    d = tl.full((SIZE, SIZE), 1, tl.float32)
    e = tl.full((SIZE, SIZE), 2, tl.float32)
    for iteration in range(iterations):
        if FORM == "swap":
            d, e = tl.dot(a, b, e), d
        elif FORM == "late":  # the old accumulator is read after the new one is computed
            f = tl.dot(a, b, d)
            e += d + f
            d = f
        elif FORM == "branch":
            if iteration % 2 == 0:
                d = tl.dot(a, b, d)
            else:
                d += 1
        elif FORM == "two":
            d = tl.dot(a, b, d)
            e = tl.dot(b, a, e)
        else:  # the buffer of an operand is written again
            d = tl.dot(a, tl.dot(a, b).to(tl.float16), d)
            a = b
    tl.store(d_ptr + at, d + 2 * e)


def expected_accumulators(form, a, b, iterations):
    d, e = np.full_like(a, 1), np.full_like(a, 2)
    for iteration in range(iterations):
        if form == "swap":
            d, e = a @ b + e, d
        elif form == "late":
            f = a @ b + d
            d, e = f, e + d + f
        elif form == "branch":
            d = d + 1 if iteration % 2 else a @ b + d
        elif form == "two":
            d, e = a @ b + d, b @ a + e
        else:
            a, d = b, a @ (a @ b) + d
    return d + 2 * e


@pytest.mark.parametrize("form", ["swap", "late", "branch", "two", "again"])
@pytest.mark.parametrize("iterations", [0, 1, 4])
def test_moved_accumulators(form, iterations, device):
    a, exact_a = integers("float16", 64, 64, seed=6)
    b, exact_b = integers("float16", 64, 64, seed=7)
    d = np.full((64, 64), np.nan, np.float32)
    if launch(moved_accumulators, (1,), a, b, d, iterations, 64, form, device=device):
        assert (d == expected_accumulators(form, exact_a, exact_b, iterations)).all()


@triton.jit
def matmul(
    a_ptr, b_ptr, c_ptr, m, n, k,
    BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, TRANSPOSED: tl.constexpr, STAGES: tl.constexpr,
):  # fmt: skip
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    j = tl.program_id(1) * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    a = a_ptr + i[:, None] * k + depth[None, :]
    b = b_ptr + (depth[:, None] + j[None, :] * k if TRANSPOSED else depth[:, None] * n + j[None, :])
    acc = tl.zeros((BM, BN), tl.float32)
    for start in tl.range(0, k, BK, num_stages=STAGES):
        left = k - start
        x = tl.load(a, mask=(i[:, None] < m) & (depth[None, :] < left), other=0.0)
        y = tl.load(b, mask=(depth[:, None] < left) & (j[None, :] < n), other=0.0)
        acc = tl.dot(x, y, acc)
        a += BK
        b += BK if TRANSPOSED else BK * n
    c = c_ptr + i[:, None] * n + j[None, :]
    tl.store(c, acc, mask=(i[:, None] < m) & (j[None, :] < n))


@pytest.mark.parametrize("shape", [(1, 1, 1), (64, 64, 64), (200, 136, 328), (130, 70, 1000)])
@pytest.mark.parametrize("block", [(64, 64, 32), (128, 64, 64)])
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("stages, warps", [(1, 4), (2, 8), (3, 4), (4, 8)])
def test_matmuls_of_any_extent(shape, block, transposed, stages, warps, device):
    """Pipelined loads: asynchronous copies if rows are multiples of 8, otherwise in registers."""
    m, n, k = shape
    a, exact_a = integers("float16", m, k, seed=8)
    b, exact_b = integers("float16", *((n, k) if transposed else (k, n)), seed=9)
    c = np.full((m, n), np.nan, np.float32)
    grid = (triton.cdiv(m, block[0]), triton.cdiv(n, block[1]))
    if launch(matmul, grid, a, b, c, m, n, k, *block, transposed, stages, device=device, num_warps=warps):
        assert (c == exact_a @ (exact_b.T if transposed else exact_b)).all()


@triton.jit
def attention(
    q_ptr, k_ptr, v_ptr, o_ptr, count, scale,
    BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr, CAUSAL: tl.constexpr,
):  # fmt: skip
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    j = tl.arange(0, BN)
    depth = tl.arange(0, D)
    q = tl.load(q_ptr + i[:, None] * D + depth[None, :], mask=i[:, None] < count, other=0.0)
    top = tl.full([BM], float("-inf"), tl.float32)
    total = tl.zeros([BM], tl.float32)
    acc = tl.zeros([BM, D], tl.float32)
    end = tl.minimum(count, (tl.program_id(0) + 1) * BM) if CAUSAL else count
    for start in range(0, end, BN):
        at = start + j
        k = tl.load(k_ptr + at[:, None] * D + depth[None, :], mask=at[:, None] < count, other=0.0)
        s = tl.dot(q, tl.trans(k)) * scale
        counts = (at[None, :] < count) & (i[:, None] >= at[None, :]) if CAUSAL else at[None, :] < count
        s = tl.where(counts, s, float("-inf"))
        new_top = tl.maximum(top, tl.max(s, 1))
        p = tl.exp(s - new_top[:, None])
        shrink = tl.exp(top - new_top)
        total = total * shrink + tl.sum(p, 1)
        v = tl.load(v_ptr + at[:, None] * D + depth[None, :], mask=at[:, None] < count, other=0.0)
        acc = tl.dot(p.to(v.dtype), v, acc * shrink[:, None])
        top = new_top
    tl.store(o_ptr + i[:, None] * D + depth[None, :], acc / total[:, None], mask=i[:, None] < count)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("block, warps", [((64, 32, 64), 4), ((128, 64, 64), 4), ((128, 64, 128), 8)])
@pytest.mark.parametrize("causal", [False, True])
def test_attention(dtype, block, warps, causal, device):
    count, size = 200, block[2]
    q, exact_q = integers(dtype, count, size, seed=10)
    k, exact_k = integers(dtype, count, size, seed=11)
    v, exact_v = integers(dtype, count, size, seed=12)
    o = np.full((count, size), np.nan, np.float32)
    grid = (triton.cdiv(count, block[0]),)
    if launch(attention, grid, q, k, v, o, count, 0.05, *block, causal, device=device, num_warps=warps):
        s = exact_q @ exact_k.T * 0.05
        if causal:
            s = np.where(np.tri(count, dtype=bool), s, -np.inf)
        p = np.exp(s - s.max(1, keepdims=True))
        expected = p / p.sum(1, keepdims=True) @ exact_v
        # P is rounded to the operands' type: half a unit of error for each of the averaged values.
        bound = 3 * 2.0 ** (-8 if dtype == "bfloat16" else -11)
        assert np.abs(o - expected).max() < 2 * bound
