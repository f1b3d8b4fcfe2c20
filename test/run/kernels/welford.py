"""Mean and variance of rows by Welford's algorithm, whose first iteration sets what the others update."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from harness import check, values


@triton.jit
def combine(mean, m2, weight, other_mean, other_m2, other_weight):
    delta = other_mean - mean
    total = weight + other_weight
    part = tl.where(total == 0.0, 0.0, other_weight / total)
    return mean + delta * part, m2 + other_m2 + delta * delta * weight * part, total


@triton.jit
def moments(x_ptr, mean_ptr, variance_ptr, n, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    mean = tl.zeros([BLOCK], tl.float32)
    m2 = tl.zeros([BLOCK], tl.float32)
    weight = tl.zeros([BLOCK], tl.float32)
    for start in range(0, n, BLOCK):
        i = start + tl.arange(0, BLOCK)
        x = tl.load(x_ptr + row * n + i, mask=i < n, other=0).to(tl.float32)
        if start == 0:
            next_mean = x
            next_m2 = tl.zeros([BLOCK], tl.float32)
            next_weight = tl.full([BLOCK], 1, tl.float32)
        else:
            delta = x - mean
            next_weight = weight + 1
            next_mean = mean + delta / next_weight
            next_m2 = m2 + delta * (x - next_mean)
        mean = tl.where(i < n, next_mean, mean)
        m2 = tl.where(i < n, next_m2, m2)
        weight = tl.where(i < n, next_weight, weight)
    mean, m2, weight = tl.reduce((mean, m2, weight), 0, combine)
    tl.store(mean_ptr + row, mean)
    tl.store(variance_ptr + row, m2 / n)


@pytest.mark.parametrize("n, block", [(1, 16), (16, 16), (61, 16), (64, 16), (1000, 128)])
@pytest.mark.parametrize("dtype", ["float32", "float16"])
def test_moments(n, block, dtype, device):
    rows = 3
    x = values(dtype, rows, n)
    exact = x.astype(np.float64)
    found = np.zeros(rows, np.float32)
    arguments = dict(x_ptr=x, mean_ptr=found, variance_ptr=found.copy(), n=n, BLOCK=block)
    expected = dict(
        mean_ptr=exact.mean(1).astype(np.float32), variance_ptr=exact.var(1).astype(np.float32)
    )
    check(moments, (rows,), arguments, expected, device=device, rtol=1e-5, atol=1e-5)
