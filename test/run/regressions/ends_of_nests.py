"""Values that are complete only after the nest that computes them: the bound of a mask, the source of a gather."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from harness import check, values


@triton.jit
def limited_by_a_sum(x_ptr, y_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    limit = tl.sum(x)
    y = tl.load(y_ptr + (BLOCK - 1 - i), mask=i < limit, other=7)
    tl.store(out_ptr + i, x)
    tl.store(out_ptr + BLOCK + i, y)


@pytest.mark.parametrize("limit", [-5, 0, 3, 1000])
@pytest.mark.parametrize("block", [8, 256])
def test_mask_of_a_sum(limit, block, device):
    x = values("int32", block, high=100)
    x[0] += limit - x.sum()
    y = values("int32", block, seed=1, high=100)
    loaded = np.where(np.arange(block) < limit, y[::-1], 7).astype(np.int32)
    arguments = dict(x_ptr=x, y_ptr=y, out_ptr=np.zeros(2 * block, np.int32), BLOCK=block)
    check(limited_by_a_sum, (1,), arguments, dict(out_ptr=np.concatenate([x, loaded])), device=device)


@triton.jit
def turned_twice(x_ptr, out_ptr, n, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    at = tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    x = tl.load(x_ptr + at)
    if n > 3:
        x = tl.flip(x * 0 + 5, 0)
        x = tl.flip(tl.where(at < n, x, x), 0)
    tl.store(out_ptr + at, x)


@pytest.mark.parametrize("n", [2, 5])
def test_two_gathers_of_one_block(n, device):
    x = values("int32", 32, 16, high=100)
    arguments = dict(x_ptr=x, out_ptr=np.zeros_like(x), n=n, ROWS=32, COLUMNS=16)
    check(turned_twice, (1,), arguments, dict(out_ptr=x if n == 2 else np.full_like(x, 5)), device=device)
