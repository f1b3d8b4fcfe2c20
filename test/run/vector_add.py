"""Vector add: lengths around the block size, every standard type, arrays that overlap."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from harness import BFloat16, check, empty_like, values


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    x = tl.load(x_ptr + offsets, mask=mask)
    y = tl.load(y_ptr + offsets, mask=mask)
    tl.store(out_ptr + offsets, x + y, mask=mask)


def run(x, y, out, n, expected, device, block=256):
    arguments = dict(x_ptr=x, y_ptr=y, out_ptr=out, n=n, BLOCK=block)
    check(add_kernel, (triton.cdiv(n, block),), arguments, dict(out_ptr=expected), device=device)


@pytest.mark.parametrize("n", [1, 2, 15, 16, 17, 255, 256, 257, 4099])
def test_lengths(n, device):
    x, y = values("float32", n), values("float32", n, seed=1)
    run(x, y, empty_like(x), n, x + y, device)


@pytest.mark.parametrize(
    "dtype",
    [
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "float16",
        "float32",
        "float64",
    ],
)
def test_types(dtype, device):
    low = 0 if dtype.startswith("u") else -50
    x, y = values(dtype, 1000, low=low, high=50), values(dtype, 1000, seed=1, low=low, high=50)
    run(x, y, empty_like(x), 1000, x + y, device)


def test_bfloat16(device):
    x, y = BFloat16(values("float32", 1000)), BFloat16(values("float32", 1000, seed=1))
    run(x, y, BFloat16(np.zeros(1000)), 1000, BFloat16(x.values() + y.values()), device)


def test_only_the_first_elements_are_written(device):
    x, y, out = (
        values("float32", 500),
        values("float32", 500, seed=1),
        values("float32", 500, seed=2),
    )
    expected = out.copy()
    expected[:300] = (x + y)[:300]
    run(x, y, out, 300, expected, device, block=128)


@pytest.mark.parametrize("block", [1, 16, 1024, 16384])
def test_block_sizes(block, device):
    x, y = values("float32", 3000), values("float32", 3000, seed=1)
    run(x, y, empty_like(x), 3000, x + y, device, block)
