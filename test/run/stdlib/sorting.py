"""Sorting along a dimension: order, indices, ties, NaN, largest elements, bitonic merges."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from _pointwise import SIGNED, UNSIGNED, anything, blank
from harness import BFloat16, check, values

SHAPES = [(1, 1), (1, 2), (4, 1), (4, 4), (2, 16), (2, 64), (1, 1024)]


@triton.jit
def apply(
    x_ptr,
    out_ptr,
    FUNCTION: tl.constexpr,
    DIM: tl.constexpr,
    DESCENDING: tl.constexpr,
    M: tl.constexpr,
    N: tl.constexpr,
    P: tl.constexpr,
    Q: tl.constexpr,
):
    x = tl.load(x_ptr + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :])
    y = FUNCTION(x, DIM, DESCENDING)
    tl.store(out_ptr + tl.arange(0, P)[:, None] * Q + tl.arange(0, Q)[None, :], y)


def check_apply(function, x, dim, descending, want, device):
    (m, n), (p, q) = x.shape, want.shape
    arguments = dict(x_ptr=x, out_ptr=blank(want), FUNCTION=function, DIM=dim)
    arguments |= dict(DESCENDING=descending, M=m, N=n, P=p, Q=q)
    check(apply, (1,), arguments, dict(out_ptr=want), device=device)


@triton.jit
def sorted_method(x, dim: tl.constexpr, descending: tl.constexpr):
    return x.sort(dim, descending=descending)


def in_order(x, dim, descending):
    y = np.sort(x, axis=dim)
    return np.flip(y, dim) if descending else y


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dim", [None, 0, 1])
@pytest.mark.parametrize("shape", SHAPES)
def test_sort(shape, dim, descending, device):
    x = values("float32", *shape)
    want = np.ascontiguousarray(in_order(x, -1 if dim is None else dim, descending))
    check_apply(tl.sort, x, dim, descending, want, device)


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dtype", ["bool", "float16", "float64", *SIGNED, *UNSIGNED])
def test_sort_of_types(dtype, descending, device):
    """Rows with many equal elements."""
    x = values("bool", 2, 64) if dtype == "bool" else anything(dtype, n=128).reshape(2, 64)
    x[0, :32] = x[0, 0]
    want = np.ascontiguousarray(in_order(x, 1, descending))
    check_apply(sorted_method, x, 1, descending, want, device)


def test_sort_of_bfloat16(device):
    x = BFloat16(values("float32", 1, 32))
    want = BFloat16(np.sort(x.values(), 1))
    arguments = dict(x_ptr=x, out_ptr=blank(want), FUNCTION=tl.sort, DIM=1, DESCENDING=False)
    check(apply, (1,), arguments | dict(M=1, N=32, P=1, Q=32), dict(out_ptr=want), device=device)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_sort_of_nan(dtype, device):
    """NaN of both signs sorts after all numbers, or before them in reverse."""
    x = values("float32", 1, 16).astype(dtype)
    x[0, [3, 5, 9, 11]] = np.nan, -np.inf, np.inf, -np.float32(np.nan)
    check_apply(tl.sort, x, 1, False, np.sort(x, 1), device)
    check_apply(tl.sort, x, 1, True, np.ascontiguousarray(np.sort(x, 1)[:, ::-1]), device)


@triton.jit
def fp8_codes(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i).to(tl.float8e5, bitcast=True)
    tl.store(out_ptr + i, tl.sort(x).to(tl.float16))


def test_sort_of_fp8(device):
    codes = np.random.default_rng(6).permutation(256).astype(np.uint8)
    want = np.sort((codes.astype(np.uint16) << 8).view(np.float16))
    check(fp8_codes, (1,), dict(x_ptr=codes, out_ptr=blank(want), N=256), dict(out_ptr=want), device=device)


@triton.jit
def large(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, tl.sort(tl.load(x_ptr + i)))


@pytest.mark.parametrize("n", [4096, 32768])
def test_sort_of_many(n, device):
    x = np.random.default_rng(5).integers(-(2**31), 2**31, n).astype(np.int32)
    arguments = dict(x_ptr=x, out_ptr=blank(x), N=n, num_warps=16)
    check(large, (1,), arguments, dict(out_ptr=np.sort(x)), device=device)


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dim", [0, 1])
@pytest.mark.parametrize("shape", [(1, 1), (2, 2), (16, 16), (4, 256)])
def test_argsort_is_stable(shape, dim, descending, device):
    x = values("int32", *shape, low=0, high=5)
    key = -x if descending else x
    want = np.argsort(key, axis=dim, kind="stable").astype(np.int32)
    check_apply(tl.argsort, x, dim, descending, want, device)


def test_argsort_of_nan(device):
    """NaN sorts after all numbers; NaNs keep their order."""
    x = values("float32", 1, 16)
    x[0, [3, 9, 11]] = np.nan, np.inf, np.nan
    want = np.argsort(x, axis=1, kind="stable").astype(np.int32)
    check_apply(tl.argsort, x, 1, False, want, device)


@triton.jit
def top(
    x_ptr,
    out_ptr,
    index_ptr,
    K: tl.constexpr,
    DIM: tl.constexpr,
    DESCENDING: tl.constexpr,
    M: tl.constexpr,
    N: tl.constexpr,
    P: tl.constexpr,
    Q: tl.constexpr,
):
    x = tl.load(x_ptr + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :])
    at = tl.arange(0, P)[:, None] * Q + tl.arange(0, Q)[None, :]
    found, index = tl.topk(x, K, DIM, DESCENDING, return_indices=True)
    tl.store(out_ptr + at, tl.topk(x, K, DIM, descending=DESCENDING))
    tl.store(index_ptr + at, index + tl.where(found == tl.gather(x, index, DIM), 0, 1000))


@pytest.mark.parametrize("descending", [True, False])
@pytest.mark.parametrize("dim", [0, 1])
@pytest.mark.parametrize("n, k", [(1, 1), (2, 1), (8, 8), (16, 4), (64, 2), (256, 32)])
def test_topk(n, k, dim, descending, device):
    """Among equal elements those with lower indices come first."""
    x = values("int32", *((n, 4) if dim == 0 else (4, n)), low=0, high=9)
    key = -x if descending else x
    index = np.take(np.argsort(key, axis=dim, kind="stable"), np.arange(k), axis=dim)
    want = np.take_along_axis(x, index, dim)
    arguments = dict(x_ptr=x, out_ptr=blank(want), index_ptr=blank(want), K=k, DIM=dim)
    (m, n), (p, q) = x.shape, want.shape
    arguments |= dict(DESCENDING=descending, M=m, N=n, P=p, Q=q)
    check(
        top,
        (1,),
        arguments,
        dict(out_ptr=want, index_ptr=index.astype(np.int32)),
        device=device,
    )


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("n", [1, 2, 8, 128])
def test_bitonic_merge(n, descending, device):
    """Rows that rise and then fall, or fall and then rise."""
    x = np.sort(values("float32", 2, n), 1)
    x[0, n // 2 :] = np.flip(x[0, n // 2 :])
    x[1, : n // 2] = np.flip(x[1, : n // 2])
    want = np.ascontiguousarray(in_order(x, 1, descending))
    check_apply(tl.bitonic_merge, x, None, descending, want, device)
