"""Programs launched as clusters of CTAs give the same results as programs of one CTA."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from harness import check, values


@triton.jit
def rows(x_ptr, sum_ptr, out_ptr, count_ptr, n, BLOCK: tl.constexpr):
    """Sums and sorts rows by programs of a grid along all three axes, and counts the programs."""
    program = tl.program_id(0) + tl.num_programs(0) * (tl.program_id(1) + tl.num_programs(1) * tl.program_id(2))
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + program * n + at, mask=at < n, other=1000)
    tl.store(sum_ptr + program, tl.sum(tl.where(at < n, x, 0)))
    tl.store(out_ptr + program * BLOCK + at, tl.sort(x))
    before = tl.atomic_add(count_ptr, 1)
    tl.atomic_add(count_ptr + 1, tl.num_programs(0) * 100 + tl.num_programs(1) * 10 + tl.num_programs(2) + before * 0)


@pytest.mark.parametrize("ctas", [1, 2, 4])
@pytest.mark.parametrize("grid", [(1,), (5,), (3, 2, 2)])
def test_rows(grid, ctas, device):
    n, block, programs = 201, 256, int(np.prod(grid))
    x = values("int32", programs, n, low=-99, high=99)
    out = np.full((programs, block), 1000, np.int32)
    out[:, :n] = x
    shape = (*grid, 1, 1)
    count = np.array([programs, programs * (shape[0] * 100 + shape[1] * 10 + shape[2])], np.int32)
    arguments = dict(x_ptr=x, sum_ptr=np.zeros(programs, np.int32), out_ptr=np.zeros_like(out))
    arguments |= dict(count_ptr=np.zeros(2, np.int32), n=n, BLOCK=block, num_ctas=ctas)
    expected = dict(sum_ptr=x.sum(1).astype(np.int32), out_ptr=np.sort(out, 1), count_ptr=count)
    check(rows, grid, arguments, expected, device=device)


@triton.jit
def matmul(a_ptr, b_ptr, c_ptr, K, BLOCK: tl.constexpr):
    rows = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    columns = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    k = tl.arange(0, 32)
    acc = tl.zeros((BLOCK, BLOCK), tl.float32)
    for start in range(0, K, 32):
        a = tl.load(a_ptr + rows[:, None] * K + start + k)
        b = tl.load(b_ptr + columns[None, :] * K + (start + k)[:, None])
        acc = tl.dot(a, b, acc)
    tl.store(c_ptr + rows[:, None] * BLOCK * tl.num_programs(1) + columns, acc)


@pytest.mark.parametrize("ctas", [2, 8])
def test_matmuls(ctas, device):
    a, b = (values("int8", rows, 128, seed=rows).astype(np.float16) for rows in (192, 128))
    c = a.astype(np.float32) @ b.astype(np.float32).T
    arguments = dict(a_ptr=a, b_ptr=b, c_ptr=np.zeros_like(c), K=128, BLOCK=64, num_ctas=ctas)
    check(matmul, (3, 2), arguments, dict(c_ptr=c), device=device)
