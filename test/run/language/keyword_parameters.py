"""Parameters that only keywords can pass, of kernels and of functions that they call."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from harness import check


@triton.jit
def scaled(x, *, factor=2, OFFSET: tl.constexpr = 3):
    return x * factor + OFFSET


@triton.jit
def kernel(out_ptr, *, value, N: tl.constexpr = 4):
    tl.store(out_ptr + tl.arange(0, N), scaled(value, factor=5))


@triton.jit
def defaults(out_ptr, *, value=7, N: tl.constexpr):
    tl.store(out_ptr + tl.arange(0, N), scaled(value, OFFSET=1))


@pytest.mark.parametrize("n", [2, 4])
def test_of_a_kernel(n, device):
    out = np.full(4, -1, np.float32)
    expected = np.where(np.arange(4) < n, 13, -1).astype(np.float32)
    check(kernel, (1,), dict(out_ptr=out, value=2.0, N=n), dict(out_ptr=expected), device=device)


def test_defaults(device):
    out = np.zeros(4, np.int32)
    check(
        defaults,
        (1,),
        dict(out_ptr=out, N=4),
        dict(out_ptr=np.full(4, 15, np.int32)),
        device=device,
    )
