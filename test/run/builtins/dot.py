"""tl.dot against float64 and exact integers: types, shapes, strides, chains, loops."""
# SPDX-License-Identifier: MIT

import platform

import numpy as np
import pytest
import triton
import triton.language as tl
from harness import BFloat16, launch, values

FLOATS = ["float16", "bfloat16", "float32", "float64"]
SHAPES = [
    (1, 1, 1),
    (1, 16, 4),
    (2, 8, 256),
    (4, 2, 2),
    (8, 64, 1),
    (16, 16, 16),
    (32, 128, 64),
    (64, 32, 8),
    (128, 1, 32),
    (256, 64, 2),
    (64, 256, 32),
    (16, 80, 64),  # of 16 but no powers of two
    (48, 32, 64),
    (80, 16, 128),
    (48, 112, 64),
]


@triton.jit
def dot_kernel(
    a_ptr, b_ptr, c_ptr, a_row, a_column, b_row, b_column,
    M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, PRECISION: tl.constexpr, OUT: tl.constexpr,
):  # fmt: skip
    i = tl.arange(0, M)
    j = tl.arange(0, N)
    k = tl.arange(0, K)
    a = tl.load(a_ptr + i[:, None] * a_row + k[None, :] * a_column)
    b = tl.load(b_ptr + k[:, None] * b_row + j[None, :] * b_column)
    c = tl.dot(a, b, input_precision=PRECISION, out_dtype=OUT)
    tl.store(c_ptr + i[:, None] * N + j[None, :], c)


def array(dtype, *shape, seed):
    if dtype == "int8":
        return values("int8", *shape, seed=seed, low=-128, high=128)
    if dtype == "bfloat16":
        return BFloat16(values("float32", *shape, seed=seed))
    return values(dtype, *shape, seed=seed)


def numbers(x):
    return (x.values() if isinstance(x, BFloat16) else x).astype(np.float64)


def machine_epsilon(dtype):
    return np.finfo("float64" if dtype == "float64" else "float32").eps


def assert_near(got, a, b, dtype, acc=None, out=None):
    """Within the error of a sum in any order; `out` is the narrower type that it is rounded to."""
    exact = a @ b + (0 if acc is None else acc)
    size = np.abs(a) @ np.abs(b) + (0 if acc is None else np.abs(acc))
    bound = 2 * (a.shape[-1] + 1) * machine_epsilon(dtype) * size
    if out is not None:
        bound += np.abs(exact) * np.finfo(out).eps + np.finfo(out).smallest_subnormal
    error = np.abs(got.astype(np.float64) - exact)
    assert (error <= bound).all(), f"off by {(error / np.maximum(bound, 1e-300)).max()} bounds"


@pytest.mark.always
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", SHAPES)
def test_floats(dtype, shape, device):
    m, n, k = shape
    a, b = array(dtype, m, k, seed=1), array(dtype, k, n, seed=2)
    c = np.full((m, n), np.nan, "float64" if dtype == "float64" else "float32")
    if launch(dot_kernel, (1,), a, b, c, k, 1, n, 1, m, n, k, "ieee", None, device=device):
        assert_near(c, numbers(a), numbers(b), dtype)


@pytest.mark.parametrize("shape", SHAPES)
def test_integers_are_exact(shape, device):
    m, n, k = shape
    a, b = array("int8", m, k, seed=3), array("int8", k, n, seed=4)
    c = np.full((m, n), -1, np.int32)
    if launch(dot_kernel, (1,), a, b, c, k, 1, n, 1, m, n, k, "ieee", None, device=device):
        assert (c == a.astype(np.int32) @ b.astype(np.int32)).all()


@pytest.mark.parametrize("dtype", [*FLOATS, "int8"])
@pytest.mark.parametrize("shape", [(16, 16, 16), (4, 64, 32), (64, 8, 128), (1, 32, 2)])
@pytest.mark.parametrize("order", ["ta", "tb", "both", "gaps"])
def test_strides(dtype, shape, order, device):
    m, n, k = shape
    is_a, is_b = order in ("ta", "both"), order in ("tb", "both")
    gap = 3 if order == "gaps" else 1
    a = array(dtype, k if is_a else m, (m if is_a else k) * gap, seed=5)
    b = array(dtype, n if is_b else k, (k if is_b else n) * gap, seed=6)
    out = {"int8": "int32", "float64": "float64"}.get(dtype, "float32")
    c = np.full((m, n), -1, out)
    strides = (1, m) if is_a else (k * gap, gap), (1, k) if is_b else (n * gap, gap)
    if launch(dot_kernel, (1,), a, b, c, *strides[0], *strides[1], m, n, k, "ieee", None, device=device):
        a, b = numbers(a)[:, ::gap], numbers(b)[:, ::gap]
        a, b = a.T if is_a else a, b.T if is_b else b
        assert_near(c, a, b, dtype if dtype != "int8" else "float64")


@pytest.mark.parametrize("precision", ["tf32", "tf32x3", "ieee", "bf16x3", "bf16x6"])
def test_every_precision_is_at_least_that_of_tf32(precision, device):
    a, b = array("float32", 32, 64, seed=7), array("float32", 64, 32, seed=8)
    c = np.full((32, 32), np.nan, np.float32)
    if launch(dot_kernel, (1,), a, b, c, 64, 1, 32, 1, 32, 32, 64, precision, None, device=device):
        error = np.abs(c - numbers(a) @ numbers(b))
        assert (error <= 2 * 2.0**-10 * (np.abs(numbers(a)) @ np.abs(numbers(b)))).all()


@triton.jit
def both_orders(q_ptr, k_ptr, s_ptr, t_ptr, M: tl.constexpr, N: tl.constexpr, D: tl.constexpr, PRECISION: tl.constexpr):
    m, n, d = tl.arange(0, M), tl.arange(0, N), tl.arange(0, D)
    q = tl.load(q_ptr + m[:, None] * D + d[None, :])
    k = tl.load(k_ptr + n[:, None] * D + d[None, :])
    tl.store(s_ptr + m[:, None] * N + n[None, :], tl.dot(q, tl.trans(k), input_precision=PRECISION))
    tl.store(t_ptr + n[:, None] * M + m[None, :], tl.dot(k, tl.trans(q), input_precision=PRECISION))


@pytest.mark.parametrize("rows", [16, 64, 128])
@pytest.mark.parametrize("num_warps", [1, 4])
def test_scores_are_the_same_in_both_orders(num_warps, rows, device):
    # A backward pass recomputes scores, transposed and with other tile extents: a difference matters where they are
    # divisors or exponents.
    q, k = array("float32", rows, 32, seed=21), array("float32", 64, 32, seed=22)
    s, t = np.full((rows, 64), np.nan, np.float32), np.full((64, rows), np.nan, np.float32)
    one, other = np.full((16, 64), np.nan, np.float32), np.full((64, 16), np.nan, np.float32)
    if launch(both_orders, (1,), q, k, s, t, rows, 64, 32, "ieee", device=device, num_warps=num_warps):
        launch(both_orders, (1,), q[:16].copy(), k, one, other, 16, 64, 32, "ieee", device=device, num_warps=1)
        assert_near(s, numbers(q), numbers(k).T, "float32")
        order_of_sum = 2.0**-18 * (np.abs(numbers(q)) @ np.abs(numbers(k)).T)
        assert (np.abs(s - t.T) <= order_of_sum).all()
        assert (np.abs(s[:16] - one) <= order_of_sum[:16]).all()


@pytest.mark.parametrize("kpack", [0, 1, 2])
@pytest.mark.parametrize("dtype", ["float16", "float32", "int8"])
@pytest.mark.parametrize("shape", [(64, 32, 8), (32, 64, 128)])
def test_any_number_of_instructions_by_one_load(kpack, dtype, shape, device):
    """Options of AMD GPUs change how operands are loaded, not what they are."""
    m, n, k = shape
    a, b = array(dtype, m, k, seed=5), array(dtype, k, n, seed=6)
    c = np.full((m, n), -1, np.int32 if dtype == "int8" else np.float32)
    options = {"kpack": kpack, "matrix_instr_nonkdim": 16 if kpack == 1 else 0} if "gfx" in str(device) else {}
    if launch(dot_kernel, (1,), a, b, c, k, 1, n, 1, m, n, k, "ieee", None, device=device, **options):
        assert_near(c, numbers(a), numbers(b), dtype)


def test_half_result(device):
    a, b = array("float16", 16, 32, seed=9), array("float16", 32, 8, seed=10)
    c = np.full((16, 8), np.nan, np.float16)
    if launch(dot_kernel, (1,), a, b, c, 32, 1, 8, 1, 16, 8, 32, "ieee", tl.float16, device=device):
        assert_near(c, numbers(a), numbers(b), "float16", out="float16")


def test_special_numbers(device):
    a = np.zeros((4, 4), np.float32)
    b = np.ones((4, 16), np.float32)
    a[0, 1], a[1, 2], a[2] = np.inf, np.nan, [np.inf, -np.inf, 0, 0]
    a[3], b[3] = 1e-45, 1  # sums of the smallest number are exact
    c = np.zeros((4, 16), np.float32)
    if launch(dot_kernel, (1,), a, b, c, 4, 1, 16, 1, 4, 16, 4, "ieee", None, device=device):
        assert np.isposinf(c[0]).all() and np.isnan(c[1]).all() and np.isnan(c[2]).all()
        assert (c[3] == np.float32(4 * 1.401298464324817e-45)).all()


def test_denormals_of_bf16_without_its_instructions(device):
    if device != "cpu" or platform.machine() != "x86_64":
        pytest.skip("names a processor of x86")
    a = BFloat16(np.full((4, 4), 1e-39, np.float32))
    b = BFloat16(np.full((4, 16), 1e30, np.float32))
    c = np.zeros((4, 16), np.float32)
    arguments = (a, b, c, 4, 1, 16, 1, 4, 16, 4, "ieee", None)
    if launch(dot_kernel, (1,), *arguments, arch="x86-64-v3", device=device):
        assert_near(c, numbers(a), numbers(b), "float32")
        assert (c > 1e-9).all()


@triton.jit
def batched(a_ptr, b_ptr, c_ptr, SHAPE_A: tl.constexpr, SHAPE_B: tl.constexpr, SHAPE_C: tl.constexpr,
            SIZE_A: tl.constexpr, SIZE_B: tl.constexpr, SIZE_C: tl.constexpr, ORDER: tl.constexpr):  # fmt: skip
    a = tl.load(a_ptr + tl.arange(0, SIZE_A)).reshape(SHAPE_A)
    b = tl.load(b_ptr + tl.arange(0, SIZE_B)).reshape(SHAPE_B)
    if ORDER is not None:
        b = tl.permute(b, ORDER)
    c = tl.dot(a, b, input_precision="ieee").reshape((SIZE_C,))
    tl.store(c_ptr + tl.arange(0, SIZE_C), c)


@pytest.mark.parametrize("batch", [(1,), (4,), (2, 2), (2, 1, 4)])
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float16", "int8"])
def test_batches(batch, transposed, dtype, device):
    shape_a, shape_b, shape_c = (*batch, 8, 16), (*batch, 16, 4), (*batch, 8, 4)
    a = array(dtype, *shape_a, seed=11)
    b = array(dtype, *((*batch, 4, 16) if transposed else shape_b), seed=12)
    c = np.zeros(shape_c, np.int32 if dtype == "int8" else np.float32)
    rank = len(shape_b)
    order = (*range(rank - 2), rank - 1, rank - 2) if transposed else None
    sizes = (a.size, b.size, c.size)
    if launch(batched, (1,), a, b, c, shape_a, b.shape, shape_c, *sizes, order, device=device):
        right = np.swapaxes(numbers(b), -1, -2) if transposed else numbers(b)
        assert_near(c, numbers(a), right, "float64" if dtype == "int8" else dtype)


@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, m, n, k, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, FORM: tl.constexpr):
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    j = tl.program_id(1) * BN + tl.arange(0, BN)
    depth = tl.arange(0, BK)
    rows, columns = i, j
    if FORM == "wrapped":
        rows, columns = i % m, j % n
    a = a_ptr + rows[:, None] * k + depth[None, :]
    b = b_ptr + depth[:, None] * n + columns[None, :]
    acc = tl.zeros((BM, BN), tl.float32)
    for start in range(0, k, BK):
        if FORM == "wrapped":
            x = tl.load(a, mask=depth[None, :] < k - start, other=0.0)
            y = tl.load(b, mask=depth[:, None] < k - start, other=0.0)
        else:
            x = tl.load(a, mask=(i[:, None] < m) & (depth[None, :] < k - start), other=0.0)
            y = tl.load(b, mask=(depth[:, None] < k - start) & (j[None, :] < n), other=0.0)
        if FORM == "added":
            acc += tl.dot(x, y, input_precision="ieee")
        else:
            acc = tl.dot(x, y, acc, input_precision="ieee")
        a += BK
        b += BK * n
    tl.store(c_ptr + i[:, None] * n + j[None, :], acc, mask=(i[:, None] < m) & (j[None, :] < n))


@pytest.mark.parametrize("form", ["wrapped", "masked", "added"])
@pytest.mark.parametrize("shape", [(1, 1, 1), (33, 47, 65), (64, 64, 64), (100, 31, 7), (16, 130, 200)])
@pytest.mark.parametrize("blocks", [(16, 16, 16), (32, 64, 32), (64, 32, 8), (8, 128, 64)])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_matmul(form, shape, blocks, dtype, device):
    m, n, k = shape
    a, b = array(dtype, m, k, seed=13), array(dtype, k, n, seed=14)
    c = np.full((m, n), np.nan, np.float32)
    grid = (triton.cdiv(m, blocks[0]), triton.cdiv(n, blocks[1]))
    if launch(matmul, grid, a, b, c, m, n, k, *blocks, form, device=device):
        assert_near(c, numbers(a), numbers(b), dtype)


@triton.jit
def chain(a_ptr, b_ptr, c_ptr, d_ptr, SIZE: tl.constexpr, FORM: tl.constexpr, iterations):
    at = tl.arange(0, SIZE)[:, None] * SIZE + tl.arange(0, SIZE)[None, :]
    a = tl.load(a_ptr + at)
    b = tl.load(b_ptr + at)
    c = tl.load(c_ptr + at)
    if FORM == "sum":  # one accumulator through three dots
        d = tl.dot(a, b, tl.dot(b, c, tl.dot(a, c)))
    elif FORM == "matmul":
        d = tl.dot(tl.dot(a, b), c)
    elif FORM == "transposed":
        d = tl.dot(tl.trans(tl.dot(a, b)), c, c)
    elif FORM == "power":  # the accumulator is also an operand
        d = c
        for _ in range(iterations):
            d = tl.dot(d, b, d)
    elif FORM == "swap":
        d = c
        e = a
        for _ in range(iterations):
            d, e = tl.dot(a, e, d), d
        d = d + e
    elif FORM == "late":  # the old accumulator is read after the new one is computed
        d = c
        e = c
        for _ in range(iterations):
            f = tl.dot(a, b, d)
            e = e + d * f
            d = f
        d = d + e
    elif FORM == "scaled":
        d = c
        for _ in range(iterations):
            p = tl.dot(a, b)
            rows = tl.sum(p, 1)
            d = d * rows[:, None]
            d = tl.dot(tl.where(p > 0, p, 0), c, d)
    elif FORM == "branch":
        d = c
        for iteration in range(iterations):
            if iteration % 2 == 0:
                d = tl.dot(a, b, d)
            else:
                d += 1
    else:  # two loops, one in the other
        d = c
        for _ in range(iterations):
            for _ in range(2):
                d = tl.dot(a, b, d)
            d = d * 2
    tl.store(d_ptr + at, d)


def chained(form, a, b, c, iterations):
    if form == "sum":
        return a @ b + b @ c + a @ c
    if form == "matmul":
        return a @ b @ c
    if form == "transposed":
        return (a @ b).T @ c + c
    d, e = c, a if form == "swap" else c
    for iteration in range(iterations):
        if form == "power":
            d = d @ b + d
        elif form == "swap":
            d, e = a @ e + d, d
        elif form == "late":
            f = a @ b + d
            d, e = f, e + d * f
        elif form == "scaled":
            p = a @ b
            d = d * p.sum(1)[:, None] + np.where(p > 0, p, 0) @ c
        elif form == "branch":
            d = d + 1 if iteration % 2 else a @ b + d
        else:
            d = (d + 2 * (a @ b)) * 2
    return d + e if form in ("swap", "late") else d


FORMS = ["sum", "matmul", "transposed", "power", "swap", "late", "scaled", "branch", "nested"]


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("size", [1, 4, 16, 32])
@pytest.mark.parametrize("iterations", [0, 1, 3])
def test_chains(form, size, iterations, device):
    """Operands are small integers, so that every sum is exact in float64."""
    a, b, c = (np.round(values("float64", size, size, seed=s, low=-2, high=2)) for s in (15, 16, 17))
    d = np.full((size, size), np.nan)
    if launch(chain, (1,), a, b, c, d, size, form, iterations, device=device):
        assert (d == chained(form, a, b, c, iterations)).all()


@triton.jit
def in_place(a_ptr, b_ptr, SIZE: tl.constexpr):
    at = tl.arange(0, SIZE)[:, None] * SIZE + tl.arange(0, SIZE)[None, :]
    a = tl.load(a_ptr + at)
    b = tl.load(b_ptr + at)
    tl.store(a_ptr + at, a + 1)  # the dot uses the values from before the store
    tl.store(b_ptr + at, tl.dot(a, b))


def test_operands_are_those_that_were_loaded(device):
    a, b = (np.round(values("float32", 32, 32, seed=s)) for s in (18, 19))
    expected = a @ b
    if launch(in_place, (1,), a, b, 32, device=device):
        assert (b == expected).all()


@triton.jit
def attention(q_ptr, k_ptr, v_ptr, o_ptr, count, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    j = tl.arange(0, BN)
    depth = tl.arange(0, D)
    q = tl.load(q_ptr + i[:, None] * D + depth[None, :], mask=i[:, None] < count, other=0.0)
    top = tl.full([BM], float("-inf"), tl.float32)
    total = tl.zeros([BM], tl.float32)
    acc = tl.zeros([BM, D], tl.float32)
    for start in range(0, count, BN):
        inside = start + j < count
        k = tl.load(k_ptr + (start + j)[None, :] * D + depth[:, None], mask=inside[None, :], other=0.0)
        s = tl.dot(q, k, input_precision="ieee") * scale
        s = tl.where(inside[None, :], s, float("-inf"))
        new_top = tl.maximum(top, tl.max(s, 1))
        p = tl.exp(s - new_top[:, None])
        shrink = tl.exp(top - new_top)
        total = total * shrink + tl.sum(p, 1)
        v = tl.load(v_ptr + (start + j)[:, None] * D + depth[None, :], mask=inside[:, None], other=0.0)
        acc = tl.dot(p.to(v.dtype), v, acc * shrink[:, None], input_precision="ieee")
        top = new_top
    tl.store(o_ptr + i[:, None] * D + depth[None, :], acc / total[:, None], mask=i[:, None] < count)


@pytest.mark.parametrize("count", [1, 16, 100])
@pytest.mark.parametrize("blocks", [(16, 16, 16), (64, 32, 64), (32, 64, 8)])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_attention(count, blocks, dtype, device):
    depth = blocks[2]
    q, k, v = (array(dtype, count, depth, seed=s) for s in (20, 21, 22))
    o = np.full((count, depth), np.nan, np.float32)
    grid = (triton.cdiv(count, blocks[0]),)
    if launch(attention, grid, q, k, v, o, count, 0.25, *blocks, device=device):
        s = numbers(q) @ numbers(k).T * 0.25
        p = np.exp(s - s.max(1, keepdims=True))
        expected = p / p.sum(1, keepdims=True) @ numbers(v)
        tolerance = 2e-5 if dtype == "float32" else 4e-3
        np.testing.assert_allclose(o, expected, rtol=tolerance, atol=tolerance)
