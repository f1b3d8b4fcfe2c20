"""A masked load that is buffered, since a later store may overlap it, and also reduced.

Lanes beyond the mask must count once.
"""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from harness import check, empty_like, values


@triton.jit
def reverse_and_sum(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, i < n, other=1)
    total = tl.sum(x, 0)
    tl.store(x_ptr + BLOCK - 1 - i, x)
    tl.store(out_ptr + i, total, mask=i < n)


@pytest.mark.parametrize("n", [0, 1, 8, 16, 20, 64, 127, 128])
def test_sum_before_reversed_store(n, device):
    x = values("int32", 128, low=-50, high=50)
    loaded = np.where(np.arange(128) < n, x, 1)
    out = np.zeros(128, np.int32)
    check(
        reverse_and_sum,
        (1,),
        dict(x_ptr=x, out_ptr=out, n=n, BLOCK=128),
        dict(x_ptr=loaded[::-1], out_ptr=np.where(np.arange(128) < n, loaded.sum(), 0)),
        device=device,
    )


@triton.jit
def shifted_store_and_max(x_ptr, y_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + BLOCK - 1 - i, mask=i < n, other=1)
    tl.store(y_ptr + i, x, mask=i % 3 != 1)
    tl.store(x_ptr + i * 3, tl.max(x, axis=0), mask=i < n)


@pytest.mark.parametrize("n", [0, 22, 40])
def test_max_beside_partial_store(n, device):
    x = values("float32", 400, low=-9, high=-1)
    lanes = np.arange(128)
    loaded = np.where(lanes < n, x[127 - lanes], 1).astype(np.float32)
    y = empty_like(x)
    stored = y.copy()
    stored[:128][lanes % 3 != 1] = loaded[lanes % 3 != 1]
    after = x.copy()
    after[lanes[:n] * 3] = loaded.max()
    arguments = dict(x_ptr=x, y_ptr=y, n=n, BLOCK=128)
    check(shifted_store_and_max, (1,), arguments, dict(x_ptr=after, y_ptr=stored), device=device)


@triton.jit
def sum_rows_then_overwrite(x_ptr, n, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    i = tl.arange(0, ROWS)[:, None]
    j = tl.arange(0, COLUMNS)[None, :]
    x = tl.load(x_ptr + i * COLUMNS + j, mask=j < n, other=1)
    total = tl.sum(x, axis=1)[:, None]
    tl.store(x_ptr + i + j * (ROWS + 1), x, mask=(i * 5 + j) % 3 != 1)
    tl.store(x_ptr + i + j * (ROWS + 1), total, mask=j < n)


@pytest.mark.parametrize("n", [0, 1, 63, 64])
def test_sum_of_rows_before_transposed_stores(n, device):
    x = values("int32", 400, low=0, high=100)
    i, j = np.indices((4, 64))
    loaded = np.where(j < n, x[i * 64 + j], 1)
    after = x.copy()
    first, second = (i * 5 + j) % 3 != 1, j < n
    after[(i + j * 5)[first]] = loaded[first]
    after[(i + j * 5)[second]] = np.broadcast_to(loaded.sum(axis=1, keepdims=True), (4, 64))[second]
    arguments = dict(x_ptr=x, n=n, ROWS=4, COLUMNS=64)
    check(sum_rows_then_overwrite, (1,), arguments, dict(x_ptr=after), device=device)
