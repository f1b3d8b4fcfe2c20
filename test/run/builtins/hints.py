"""Hints and compile-time checks change no value."""
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
    even = 2 * random.SystemRandom().randrange(2**29)  # a kernel that is in no cache yet
    arguments = dict(out_ptr=np.zeros(1, np.int32), N=even)
    check(checked, (1,), arguments, dict(out_ptr=np.int32([even])), device=device)
    output = capfd.readouterr()
    assert f"N is={even}!\n" in output.out + output.err
    with pytest.raises(triton.CompilationError) as failure:
        launch(checked, (1,), np.zeros(1, np.int32), N=37, device=device)
    assert "N must be even" in str(failure.value)


@triton.jit
def shown(out_ptr, n, N: tl.constexpr):
    tl.static_print(n, n + tl.arange(0, 8), out_ptr, out_ptr + tl.zeros((2, 4), tl.int32), N)
    tl.store(out_ptr, n)


def test_static_print_of_tensors(device, capfd):
    constant = random.SystemRandom().randrange(2**29)  # a kernel that is in no cache yet
    check(shown, (1,), dict(out_ptr=np.zeros(1, np.int32), n=3, N=constant), dict(out_ptr=np.int32([3])), device=device)
    output = capfd.readouterr()
    tensors = "int32[] int32[constexpr[8]] pointer<int32>[] pointer<int32>[constexpr[2], constexpr[4]]"
    assert f"{tensors} {constant}\n" in output.out + output.err


@triton.jit
def hinted_in_loops(x_ptr, out_ptr, size_ptr, ROWS: tl.constexpr, BLOCK: tl.constexpr):
    size = tl.load(size_ptr)
    at = tl.arange(0, ROWS)[:, None] * size + tl.arange(0, BLOCK)[None, :]
    p = x_ptr + at
    offset = size - size
    acc = tl.zeros((ROWS, BLOCK), tl.float32)
    for k in range(0, size, BLOCK):
        tl.multiple_of(p, [16, 16])
        tl.multiple_of(k, BLOCK)
        tl.assume(k % BLOCK == 0)
        hinted = tl.multiple_of(offset, 16)
        acc += tl.load(p) + tl.load(x_ptr + hinted + at) + tl.load(x_ptr + k + at)
        p += BLOCK
        offset += BLOCK
    rest = size
    while rest > 0:
        rest = tl.multiple_of(rest, BLOCK)
        acc += tl.load(x_ptr + (rest - BLOCK) + at)
        rest -= BLOCK
    tl.store(out_ptr + tl.arange(0, ROWS)[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :], acc)


def test_hints_on_what_loops_carry(device):
    x = values("float32", 4, 96)
    expected = 4 * x.reshape(4, 3, 32).astype(np.float64).sum(1)
    arguments = dict(
        x_ptr=x, out_ptr=np.zeros((4, 32), np.float32), size_ptr=np.array([96], np.int32), ROWS=4, BLOCK=32
    )
    check(hinted_in_loops, (1,), arguments, dict(out_ptr=expected.astype(np.float32)), device=device, rtol=1e-5, atol=1e-4)
