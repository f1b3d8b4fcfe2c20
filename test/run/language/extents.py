"""Tiles whose extents are not powers of two."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from harness import check, launch, values


@triton.jit
def row_sums(x_ptr, out_ptr, mean_ptr, M: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, M)[:, None]
    j = tl.arange(0, N)[None, :]
    x = tl.load(x_ptr + i * N + j)
    tl.store(out_ptr + tl.arange(0, M), tl.sum(x, 1) + tl.max(x, axis=1))
    tl.store(mean_ptr + tl.arange(0, N), tl.sum(x, 0) / M)


@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (1, 100), (100, 1), (7, 33), (12, 17)])
def test_reductions_of_odd_shapes(shape, device):
    x = values("int32", *shape, low=-50, high=50).astype(np.float32)
    expected = dict(out_ptr=x.sum(1) + x.max(1), mean_ptr=(x.sum(0) / np.float32(shape[0])))
    arguments = dict(
        x_ptr=x,
        out_ptr=np.zeros(shape[0], np.float32),
        mean_ptr=np.zeros(shape[1], np.float32),
        M=shape[0],
        N=shape[1],
    )
    check(row_sums, (1,), arguments, expected, device=device, rtol=1e-6)


@triton.jit
def masked_add(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = at < n
    x = tl.load(x_ptr + at, mask=mask)
    y = tl.load(y_ptr + at, mask=mask, other=1.0)
    tl.store(out_ptr + at, x + y, mask=mask)


@pytest.mark.parametrize("block", [1, 3, 100, 1000, 4099])
@pytest.mark.parametrize("dtype", ["float32", "int8", "float64"])
def test_masked_blocks_of_any_size(block, dtype, device):
    n = 5000
    x, y = values(dtype, n), values(dtype, n, seed=1)
    arguments = dict(x_ptr=x, y_ptr=y, out_ptr=np.zeros(n, dtype), n=n, BLOCK=block)
    grid = (-(-n // block),)
    check(masked_add, grid, arguments, dict(out_ptr=x + y), device=device)


@triton.jit
def reshaped(x_ptr, out_ptr):
    x = tl.load(x_ptr + tl.arange(0, 30))
    y = tl.reshape(x, (5, 6)) + tl.full((3, 5, 6), 2, tl.int32)
    z = tl.permute(y, (2, 0, 1))
    tl.store(out_ptr + tl.arange(0, 90), tl.ravel(z))


def test_shapes_change(device):
    x = values("int32", 30, low=-100, high=100)
    expected = (x.reshape(5, 6) + np.full((3, 5, 6), 2)).transpose(2, 0, 1).ravel().astype(np.int32)
    arguments = dict(x_ptr=x, out_ptr=np.zeros(90, np.int32))
    check(reshaped, (1,), arguments, dict(out_ptr=expected), device=device)


@triton.jit
def carried(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    acc = tl.zeros((BLOCK,), tl.float32)
    for step in range(n):
        acc = acc * 0.5 + tl.load(x_ptr + step * BLOCK + i)
    tl.store(out_ptr + i, acc)


@pytest.mark.parametrize("block", [3, 13, 77])
def test_odd_tiles_are_carried(block, device):
    x = values("float32", 4, block)
    acc = np.zeros(block, np.float32)
    for row in x:
        acc = acc * np.float32(0.5) + row
    arguments = dict(x_ptr=x, out_ptr=np.zeros(block, np.float32), n=4, BLOCK=block)
    check(carried, (1,), arguments, dict(out_ptr=acc), device=device, rtol=1e-6)


@triton.jit
def what_came_first(a, b):
    return a


@triton.jit
def mixed(x_ptr, last_ptr, top_ptr, at_ptr, back_ptr, gram_ptr, counts_ptr, M: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, M)
    j = tl.arange(0, N)
    x = tl.load(x_ptr + i[:, None] * N + j[None, :])
    tl.store(last_ptr + i, tl.associative_scan(x, 1, what_came_first, reverse=True)[:, 0])
    top, at = tl.max(x, 1, return_indices=True)
    tl.store(top_ptr + i, top)
    tl.store(at_ptr + i, at)
    tl.store(back_ptr + i[:, None] * N + j[None, :], tl.cumsum(x, 1, reverse=True))
    y = x.to(tl.float32)
    gram = tl.dot(y, tl.trans(y), input_precision="ieee")
    tl.store(gram_ptr + i[:, None] * M + i[None, :], gram)
    tl.store(counts_ptr + tl.arange(0, 5), tl.histogram(tl.ravel(x) & 3, 5))
    tl.atomic_add(counts_ptr + 5 + j * 0, 1)


@pytest.mark.parametrize("shape", [(17, 20), (24, 33), (16, 100)])
def test_elements_that_do_not_exist_are_never_seen(shape, device):
    m, n = shape
    x = values("int32", m, n, low=-50, high=50)
    counts = np.append(np.bincount((x & 3).ravel(), minlength=5), n).astype(np.int32)
    expected = dict(
        last_ptr=x[:, -1].copy(), top_ptr=x.max(1), at_ptr=x.argmax(1).astype(np.int32),
        back_ptr=x[:, ::-1].cumsum(1)[:, ::-1].astype(np.int32), gram_ptr=(x @ x.T).astype(np.float32),
        counts_ptr=counts,
    )  # fmt: skip
    arguments = dict(x_ptr=x, **{name: np.zeros_like(value) for name, value in expected.items()}, M=m, N=n)
    check(mixed, (1,), arguments, expected, device=device)


@triton.jit
def masked_maximum(x_ptr, out_ptr, first, m, n, M: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, M)[:, None] + first
    j = tl.arange(0, N)[None, :] + first
    mask = (i >= 0) & (i < m) & (j >= 0) & (j < n)
    x = tl.load(x_ptr + i * 64 + j, mask=mask, other=0)
    tl.store(out_ptr + tl.arange(0, M)[:, None], tl.max(x, axis=1, keep_dims=True))


@pytest.mark.parametrize("columns", [8, 9])
@pytest.mark.parametrize("n", [0, 3, 40])
def test_maximum_of_rows_that_a_mask_cuts_off_at_both_ends(n, columns, device):
    memory = -1 - np.arange(64 * 64, dtype=np.int32).reshape(64, 64)
    window = np.zeros((7, columns), np.int32)
    shown = memory[:5, : max(min(n, columns - 2), 0)]
    window[2 : 2 + shown.shape[0], 2 : 2 + shown.shape[1]] = shown
    out = np.ones((7, 1), np.int32)
    if launch(masked_maximum, (1,), memory, out, -2, 20, n, 7, columns, device=device):
        np.testing.assert_array_equal(out, window.max(axis=1, keepdims=True))
