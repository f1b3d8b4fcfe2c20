"""Hints and checks while compiling change no value."""
# SPDX-License-Identifier: MIT

import random

import numpy as np
import pytest
import triton
import triton.language as tl
from harness import check, launch, values


@triton.jit
def hinted(x_ptr, out_ptr, start, n, BLOCK: tl.constexpr):
    start = tl.multiple_of(start, 16)
    at = tl.max_contiguous(tl.multiple_of(start + tl.arange(0, BLOCK), BLOCK), BLOCK)
    group = tl.max_constancy(at // 4, 4)
    x = tl.load(x_ptr + at, mask=at < n) + group
    tl.store(out_ptr + at, x, mask=at < n)


@pytest.mark.parametrize("start", [0, 64])
@pytest.mark.parametrize("n", [1, 70, 128])
def test_hints_that_hold(start, n, device):
    x = values("float32", 128)
    expected = np.zeros(128, np.float32)
    at = np.arange(start, min(start + 64, n))
    expected[at] = x[at] + at // 4
    arguments = dict(x_ptr=x, out_ptr=np.zeros(128, np.float32), start=start, n=n, BLOCK=64)
    check(hinted, (1,), arguments, dict(out_ptr=expected), device=device)


@triton.jit
def checked(out_ptr, N: tl.constexpr):
    tl.static_assert(N % 2 == 0, "N must be even")
    tl.static_print("N is", N, sep="=", end="!\n")
    tl.store(out_ptr, N)


def test_static_assert_and_static_print(device, capfd):
    even = 2 * random.SystemRandom().randrange(2**29)  # a kernel that no cache holds yet
    arguments = dict(out_ptr=np.zeros(1, np.int32), N=even)
    check(checked, (1,), arguments, dict(out_ptr=np.int32([even])), device=device)
    said = capfd.readouterr()
    assert f"N is={even}!\n" in said.out + said.err
    with pytest.raises(triton.CompilationError) as failure:
        launch(checked, (1,), np.zeros(1, np.int32), N=37, device=device)
    assert "N must be even" in str(failure.value)
