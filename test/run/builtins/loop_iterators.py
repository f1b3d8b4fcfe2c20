"""tl.range with all its hints, tl.static_range, and tl.condition of a while loop."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from harness import check


@triton.jit
def ranges(out_ptr, n, step):
    total = 0
    for i in tl.range(n):
        total += i
    tl.store(out_ptr, total)
    for i in tl.range(3, n, num_stages=3, loop_unroll_factor=2):
        total += i
    tl.store(out_ptr + 1, total)
    for i in tl.range(0, n, step, flatten=True, warp_specialize=False, disable_licm=True):
        total += i * 2
    tl.store(out_ptr + 2, total)
    for i in tl.range(n, 0, -2, disallow_acc_multi_buffer=True):
        total += i * 3
    tl.store(out_ptr + 3, total)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 10, 101])
@pytest.mark.parametrize("step", [1, 3, 16])
def test_range(n, step, device):
    sums = [sum(range(n)), sum(range(3, n)), 2 * sum(range(0, n, step)), 3 * sum(range(n, 0, -2))]
    expected = np.cumsum(sums).astype(np.int32)
    arguments = dict(out_ptr=np.zeros(4, np.int32), n=n, step=step)
    check(ranges, (1,), arguments, dict(out_ptr=expected), device=device)


@triton.jit
def unrolled(out_ptr, N: tl.constexpr):
    for i in tl.static_range(N):
        tl.store(out_ptr + i + tl.arange(0, 2**i), i)
    for i in tl.static_range(N - 1, -1, -1):
        tl.store(out_ptr + i, i * 10)
    for i in tl.static_range(1, N, step=2):
        tl.static_assert(f"step{i}" == "step1" or f"step{i}" == "step3")
        tl.store(out_ptr + i, -i)


@pytest.mark.parametrize("n", [0, 1, 2, 4])
def test_static_range(n, device):
    expected = np.full(16, -7, np.int32)
    for i in range(n):
        expected[i : i + 2**i] = i
    expected[:n] = np.arange(n) * 10
    expected[1:n:2] = -np.arange(1, n, 2)
    arguments = dict(out_ptr=np.full(16, -7, np.int32), N=n)
    check(unrolled, (1,), arguments, dict(out_ptr=expected), device=device)


@triton.jit
def collatz(x_ptr, out_ptr):
    at = tl.program_id(0)
    x = tl.load(x_ptr + at)
    steps = 0
    while tl.condition(x != 1, disable_licm=True):
        if x % 2 == 0:
            x = x // 2
        else:
            x = 3 * x + 1
        steps += 1
    tl.store(out_ptr + at, steps)


def test_condition(device):
    def steps(x):
        count = 0
        while x != 1:
            x = x // 2 if x % 2 == 0 else 3 * x + 1
            count += 1
        return count

    x = np.arange(1, 30, dtype=np.int32)
    expected = np.array([steps(int(v)) for v in x], np.int32)
    arguments = dict(x_ptr=x, out_ptr=np.zeros_like(x))
    check(collatz, (29,), arguments, dict(out_ptr=expected), device=device)
