"""x.logical_and(y) and x.logical_or(y), of any numbers."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from harness import check, values


@triton.jit
def kernel(x_ptr, y_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x, y = tl.load(x_ptr + i), tl.load(y_ptr + i)
    tl.store(out_ptr + i, x.logical_and(y))
    tl.store(out_ptr + N + i, x.logical_or(y))
    tl.store(out_ptr + 2 * N + i, (x > y).logical_and(x != 0))


@pytest.mark.parametrize("dtype", ["bool", "int32", "uint8", "float32"])
def test_logic(dtype, device):
    x, y = values(dtype, 64, low=0, high=3), values(dtype, 64, seed=1, low=0, high=3)
    if dtype == "float32":
        x, y = np.floor(x), np.where(y < 1, -0.0, y).astype(dtype)
    expected = np.stack([(x != 0) & (y != 0), (x != 0) | (y != 0), (x > y) & (x != 0)])
    arguments = dict(x_ptr=x, y_ptr=y, out_ptr=np.zeros((3, 64), bool), N=64)
    check(kernel, (1,), arguments, dict(out_ptr=expected), device=device)
