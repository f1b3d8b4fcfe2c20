"""Elements at computed indices: gather along every axis, sums by index, and histograms."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from _pointwise import SIGNED, UNSIGNED, blank
from harness import BFloat16, check, values

DTYPES = ["bool", "int8", "uint16", "int32", "int64", "float16", "float32", "float64"]
SHAPES = [  # source rows and columns, index rows, axis 0; the other way round for axis 1
    (1, 1, 1),
    (4, 4, 4),
    (8, 2, 32),
    (64, 16, 4),
    (2, 64, 128),
    (256, 32, 256),
]


@triton.jit
def pick(
    src_ptr,
    index_ptr,
    out_ptr,
    AXIS: tl.constexpr,
    M: tl.constexpr,
    N: tl.constexpr,
    P: tl.constexpr,
    Q: tl.constexpr,
):
    src = tl.load(src_ptr + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :])
    at = tl.arange(0, P)[:, None] * Q + tl.arange(0, Q)[None, :]
    tl.store(out_ptr + at, tl.gather(src, tl.load(index_ptr + at), AXIS))


def check_pick(src, index, axis, device, expected=None):
    data = src.values() if isinstance(src, BFloat16) else src
    want = np.take_along_axis(data, index.astype(np.int64), axis)
    if isinstance(src, BFloat16):
        want = BFloat16(want)
    arguments = dict(src_ptr=src, index_ptr=index, out_ptr=blank(want), AXIS=axis)
    arguments |= dict(M=data.shape[0], N=data.shape[1], P=index.shape[0], Q=index.shape[1])
    check(pick, (1,), arguments, dict(out_ptr=want), device=device)


def indices(shape, extent, dtype="int32", seed=3):
    return np.random.default_rng(seed).integers(0, extent, shape).astype(dtype)


@pytest.mark.parametrize("sizes", SHAPES)
@pytest.mark.parametrize("axis", [0, 1, -1, -2])
def test_gather(sizes, axis, device):
    extent, other, count = sizes
    first = axis in (0, -2)
    src = values("float32", *((extent, other) if first else (other, extent)))
    index = indices((count, other) if first else (other, count), extent)
    check_pick(src, index, axis, device)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("axis", [0, 1])
def test_types_of_elements(dtype, axis, device):
    src = values(dtype, 16, 16)
    check_pick(src, indices((16, 16), 16), axis, device)


def test_bfloat16(device):
    check_pick(BFloat16(values("float32", 8, 32)), indices((8, 64), 32), 1, device)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64"])
def test_types_of_indices(dtype, device):
    """An unsigned byte of 200 is an index of 200."""
    extent = 128 if dtype == "int8" else 256
    check_pick(values("float32", 2, extent), indices((2, 512), extent, dtype), 1, device)


@triton.jit
def row_of(src_ptr, index_ptr, out_ptr, N: tl.constexpr, K: tl.constexpr):
    src = tl.load(src_ptr + tl.arange(0, N))
    at = tl.arange(0, K)
    tl.store(out_ptr + at, src.gather(tl.load(index_ptr + at), 0))


@pytest.mark.parametrize("n, k", [(1, 8), (8, 1), (64, 64), (1024, 2048)])
def test_gather_in_one_dimension(n, k, device):
    src, index = values("int32", n, low=-99, high=99), indices(k, n)
    arguments = dict(src_ptr=src, index_ptr=index, out_ptr=blank(src[index]), N=n, K=k)
    check(row_of, (1,), arguments, dict(out_ptr=src[index]), device=device)


def test_indices_outside_stay_inside(device):
    """Indices are taken modulo the extent, so -1 is the last element."""
    src = values("int32", 64, low=1, high=99)
    index = np.array([-1, -64, 64, 200, 2**31 - 1, -(2**31), 5, -2], np.int32)
    want = src[index.astype(np.int64) % 64]
    arguments = dict(src_ptr=src, index_ptr=index, out_ptr=blank(want), N=64, K=8)
    check(row_of, (1,), arguments, dict(out_ptr=want), device=device)


@triton.jit
def of_computed(x_ptr, out_ptr, trips, N: tl.constexpr):
    """A loop-carried tile gathers from itself; the other source is not a load and has other uses."""
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    for iteration in range(trips):
        y = x * 2 + iteration
        x = tl.gather(y, (x + iteration) & (N - 1), 0) - y + tl.gather(x, i ^ 1, 0)
    tl.store(out_ptr + i, x)


@pytest.mark.parametrize("n", [2, 16, 256])
def test_carried_gather(n, device):
    x = values("int32", n, low=0, high=n)
    want = x.astype(np.int64)
    for iteration in range(4):
        y = want * 2 + iteration
        want = y[(want + iteration) & (n - 1)] - y + want[np.arange(n) ^ 1]
    want = want.astype(np.int32)
    arguments = dict(x_ptr=x, out_ptr=blank(want), trips=4, N=n)
    check(of_computed, (1,), arguments, dict(out_ptr=want), device=device)


@triton.jit
def in_a_branch(x_ptr, out_ptr, flag, N: tl.constexpr):
    """The source is computed before the branch that reads it, and used after."""
    i = tl.arange(0, N)
    x = tl.exp2(tl.load(x_ptr + i))
    y = x
    if flag > 0:
        y = tl.gather(x, N - 1 - i, 0)
    tl.store(out_ptr + i, x + y)


@pytest.mark.parametrize("flag", [0, 1])
def test_gather_in_a_branch(flag, device):
    x = np.arange(16, dtype=np.float32)
    power = np.exp2(x)
    want = power + (power[::-1] if flag else power)
    arguments = dict(x_ptr=x, out_ptr=blank(want), flag=flag, N=16)
    check(in_a_branch, (1,), arguments, dict(out_ptr=want), device=device)


@triton.jit
def of_a_reduction(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + at)
    sums = tl.sum(x, 1)
    picked = tl.gather(sums, tl.arange(0, M) ^ 1, 0)
    tl.store(out_ptr + at, x + picked[:, None])


def test_gather_of_a_reduction(device):
    x = np.round(values("float32", 8, 16) * 4)
    want = x + x.sum(1)[np.arange(8) ^ 1][:, None]
    arguments = dict(x_ptr=x, out_ptr=blank(want), M=8, N=16)
    check(of_a_reduction, (1,), arguments, dict(out_ptr=want), device=device)


@triton.jit
def exchanged(
    x_ptr,
    out_ptr,
    DISTANCE: tl.constexpr,
    AXIS: tl.constexpr,
    M: tl.constexpr,
    N: tl.constexpr,
):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + at)
    index = tl.arange(0, M)[:, None] if AXIS == 0 else tl.arange(0, N)[None, :]
    tl.store(out_ptr + at, tl.gather(x, tl.broadcast_to(index ^ DISTANCE, (M, N)), AXIS))


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("distance", [0, 1, 2, 3, 7, 8, 16, 21, 63])
def test_exchange(distance, axis, device):
    """Partners whose indices differ in fixed bits: a permutation within registers."""
    x = values("float32", 64, 64)
    want = np.take(x, np.arange(64) ^ distance, axis)
    arguments = dict(x_ptr=x, out_ptr=blank(want), DISTANCE=distance, AXIS=axis, M=64, N=64)
    check(exchanged, (1,), arguments, dict(out_ptr=want), device=device)


# --- sums by index -------------------------------------------------------------------------


@triton.jit
def sums(x_ptr, index_ptr, out_ptr, n, SIZE: tl.constexpr, MASKED: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    x, index = tl.load(x_ptr + i), tl.load(index_ptr + i)
    result = tl.scatter_add(x, index, SIZE, mask=i < n) if MASKED else x.scatter_add(index, SIZE)
    tl.store(out_ptr + tl.arange(0, SIZE), result)


def sums_of(x, index, size):
    """Row by row, in the type of the sums; what has no index there is left out."""
    total = np.zeros(size, x.dtype if x.dtype.itemsize >= 4 else "float32" if x.dtype.kind == "f" else "int32")
    inside = (index >= 0) & (index < size)
    np.add.at(total, index[inside].astype(np.int64), x[inside].astype(total.dtype))
    return total.astype(x.dtype) if x.dtype.kind == "f" else total


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int32", "int64", "float16", "float32", "float64"])
@pytest.mark.parametrize("n, size", [(1, 1), (8, 2), (64, 64), (2048, 16), (32, 512)])
def test_scatter_add(n, size, dtype, device):
    random = np.random.default_rng(3)
    index = random.integers(0, size, n).astype(np.int32)
    x = random.integers(0, 5, n).astype(dtype)  # small numbers, so that the order of additions does not matter
    want = sums_of(x, index, size)
    arguments = dict(x_ptr=x, index_ptr=index, out_ptr=blank(want), n=0, SIZE=size, MASKED=False, N=n)
    check(sums, (1,), arguments, dict(out_ptr=want), device=device)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "uint32", "int64"])
@pytest.mark.parametrize("n", [0, 1, 100, 256])
def test_masked_scatter_add(n, dtype, device):
    random = np.random.default_rng(4)
    index = random.integers(0, 12, 256).astype(dtype)  # some have no sum
    x = random.integers(-9, 9, 256).astype(np.float32)
    want = sums_of(x[:n], index[:n].astype(np.int64), 8)
    arguments = dict(x_ptr=x, index_ptr=index, out_ptr=blank(want), n=n, SIZE=8, MASKED=True, N=256)
    check(sums, (1,), arguments, dict(out_ptr=want), device=device)


def test_what_has_no_index_is_not_added(device):
    index = np.array([0, 1, 3, 4, -1, 2**31 - 1, -(2**31), 3], np.int32)
    x = np.array([1, 2, 4, np.inf, np.nan, np.nan, np.inf, 8], np.float32)
    want = np.array([1, 2, 0, 12], np.float32)
    arguments = dict(x_ptr=x, index_ptr=index, out_ptr=blank(want), n=0, SIZE=4, MASKED=False, N=8)
    check(sums, (1,), arguments, dict(out_ptr=want), device=device)


@triton.jit
def sums_of_rows(x_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr):
    """One index for each row; extents that are no powers of two; a scalar is added everywhere."""
    row, column = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + row * N + column)
    at = tl.arange(0, M)
    tl.store(out_ptr + at, tl.scatter_add(x, row, M))
    tl.store(out_ptr + M + at, tl.scatter_add(1.0, (row * N + column) % M, M))


@pytest.mark.parametrize("m, n", [(4, 8), (3, 5), (1, 7), (6, 1)])
def test_scatter_add_of_rows(m, n, device):
    x = np.random.default_rng(5).integers(0, 9, (m, n)).astype(np.float32)
    want = np.concatenate([x.sum(1), np.bincount(np.arange(m * n) % m, minlength=m).astype(np.float32)])
    arguments = dict(x_ptr=x, out_ptr=blank(want), M=m, N=n)
    check(sums_of_rows, (1,), arguments, dict(out_ptr=want), device=device)


# --- histogram -----------------------------------------------------------------------------


@triton.jit
def counts(x_ptr, out_ptr, n, BINS: tl.constexpr, MASKED: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    if MASKED:
        result = tl.histogram(x, BINS, mask=i < n)
    else:
        result = x.histogram(BINS)
    tl.store(out_ptr + tl.arange(0, BINS), result)


@pytest.mark.parametrize("dtype", SIGNED + UNSIGNED)
@pytest.mark.parametrize("n, bins", [(1, 1), (8, 2), (64, 64), (2048, 16), (32, 512)])
def test_histogram(n, bins, dtype, device):
    limit = min(bins, int(np.iinfo(dtype).max))
    x = np.random.default_rng(7).integers(0, limit, n).astype(dtype)
    want = np.bincount(x.astype(np.int64), minlength=bins).astype(np.int32)
    arguments = dict(x_ptr=x, out_ptr=blank(want), n=0, BINS=bins, MASKED=False, N=n)
    check(counts, (1,), arguments, dict(out_ptr=want), device=device)


@pytest.mark.parametrize("n", [0, 1, 100, 256])
def test_masked_histogram(n, device):
    x = np.random.default_rng(1).integers(0, 8, 256).astype(np.int32)
    want = np.bincount(x[:n], minlength=8).astype(np.int32)
    arguments = dict(x_ptr=x, out_ptr=blank(want), n=n, BINS=8, MASKED=True, N=256)
    check(counts, (1,), arguments, dict(out_ptr=want), device=device)


def test_what_is_no_bin_does_not_count(device):
    x = np.array([0, 1, 3, 4, -1, 2**31 - 1, -(2**31), 3], np.int32)
    want = np.array([1, 1, 0, 2], np.int32)
    arguments = dict(x_ptr=x, out_ptr=blank(want), n=0, BINS=4, MASKED=False, N=8)
    check(counts, (1,), arguments, dict(out_ptr=want), device=device)


@triton.jit
def counts_of_blocks(x_ptr, out_ptr, n, N: tl.constexpr):
    """Each iteration starts with empty bins."""
    total = tl.zeros((16,), tl.int32)
    for start in range(0, n, N):
        i = start + tl.arange(0, N)
        x = tl.load(x_ptr + i, mask=i < n, other=0)
        total += tl.histogram(x // 4, 16, mask=i < n)
    tl.store(out_ptr + tl.arange(0, 16), total)


@pytest.mark.parametrize("n", [0, 1, 63, 1000])
def test_histograms_in_a_loop(n, device):
    x = np.random.default_rng(2).integers(0, 64, n).astype(np.int32)
    want = np.bincount(x // 4, minlength=16).astype(np.int32)
    arguments = dict(x_ptr=x if n else np.zeros(1, np.int32), out_ptr=blank(want), n=n, N=64)
    check(counts_of_blocks, (1,), arguments, dict(out_ptr=want), device=device)
