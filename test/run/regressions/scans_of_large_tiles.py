"""Scans along the rows of tiles larger than shared memory: only totals pass through it, several rounds of them if need
be."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from harness import launch, values


@triton.jit
def sums(x, o, ROWS: tl.constexpr, COLUMNS: tl.constexpr, AXIS: tl.constexpr, REVERSE: tl.constexpr):
    i = tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    tl.store(o + i, tl.cumsum(tl.load(x + i), AXIS, reverse=REVERSE))


@pytest.mark.parametrize("dtype", ["int32", "int64"])
@pytest.mark.parametrize("shape", [(128, 256), (256, 128), (512, 64)])
@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("num_warps", [4, 8])
def test_sums_along_rows(dtype, shape, reverse, num_warps, device):
    x = values("int8", *shape, seed=1, low=-3, high=4).astype(dtype)
    o = np.zeros_like(x)
    if launch(sums, (1,), x, o, *shape, 0, reverse, num_warps=num_warps, device=device):
        assert (o == (np.cumsum(x[::-1], 0, dtype)[::-1] if reverse else np.cumsum(x, 0, dtype))).all()


@pytest.mark.parametrize("shape", [(256, 256), (32, 1024)])
@pytest.mark.parametrize("axis", [0, 1])
def test_tiles_of_256_kib_and_long_rows(shape, axis, device):
    x = values("int8", *shape, seed=1, low=-3, high=4).astype("float32")
    o = np.zeros_like(x)
    if launch(sums, (1,), x, o, *shape, axis, False, num_warps=8, device=device):
        assert (o == np.cumsum(x, axis, "float32")).all()


@triton.jit
def compose(a0, b0, a1, b1):
    return a0 * a1, b0 * a1 + b1


@triton.jit
def recurrence(a, b, o, ROWS: tl.constexpr, COLUMNS: tl.constexpr, REVERSE: tl.constexpr):
    i = tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    _, y = tl.associative_scan((tl.load(a + i), tl.load(b + i)), 0, compose, reverse=REVERSE)
    tl.store(o + i, y)


@pytest.mark.parametrize("shape", [(128, 128), (128, 256)])
@pytest.mark.parametrize("reverse", [False, True])
def test_recurrence_of_pairs(shape, reverse, device):
    a, b = values("int32", *shape, seed=1, low=-3, high=4) | 1, values("int32", *shape, seed=2, low=-3, high=4)
    o = np.zeros_like(b)
    if not launch(recurrence, (1,), a, b, o, *shape, reverse, num_warps=8, device=device):
        return  # compiled only
    expected, state = np.zeros_like(b), np.zeros(shape[1], np.int32)
    for row in reversed(range(shape[0])) if reverse else range(shape[0]):
        state = state * a[row] + b[row]
        expected[row] = state
    assert (o == expected).all()


@triton.jit
def totals(x, o, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr, AXIS: tl.constexpr, REVERSE: tl.constexpr):
    i = tl.arange(0, A)[:, None, None] * (B * C) + tl.arange(0, B)[None, :, None] * C + tl.arange(0, C)[None, None, :]
    tl.store(o + i, tl.cumsum(tl.load(x + i), AXIS, reverse=REVERSE))


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("reverse", [False, True])
def test_three_dimensions(axis, reverse, device):
    x = values("int32", 16, 32, 64, seed=1, low=-3, high=4)
    o = np.zeros_like(x)
    if launch(totals, (1,), x, o, 16, 32, 64, axis, reverse, num_warps=8, device=device):
        turned = np.flip(x, axis) if reverse else x
        sums_of = np.cumsum(turned, axis, np.int32)
        assert (o == (np.flip(sums_of, axis) if reverse else sums_of)).all()


@triton.jit
def long_sums(x, o, N: tl.constexpr, REVERSE: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(o + i, tl.cumsum(tl.load(x + i), 0, reverse=REVERSE))


@pytest.mark.parametrize("n", [2048, 32768])
@pytest.mark.parametrize("reverse", [False, True])
def test_one_dimension(n, reverse, device):
    x = values("int32", n, seed=1, low=-3, high=4)
    o = np.zeros_like(x)
    if launch(long_sums, (1,), x, o, n, reverse, num_warps=4, device=device):
        assert (o == (np.cumsum(x[::-1])[::-1] if reverse else np.cumsum(x))).all()
