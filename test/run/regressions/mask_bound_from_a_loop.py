"""The bound of a mask is a scalar computed in a loop with loop-carried tiles."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from harness import check, values


@triton.jit
def swap_and_count(x_ptr, out_ptr, n, flag, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    a = tl.load(x_ptr + i)
    b = a * 3
    bound = 10
    if flag > 0:
        for k in range(n - 1, -1, -1):
            a, b = b, a
            bound += k
        tl.store(out_ptr + i, a, mask=i < bound)
    else:
        b = a - b
    tl.store(out_ptr + BLOCK + i, b)


@pytest.mark.parametrize("n", [0, 2, 5])
@pytest.mark.parametrize("flag", [0, 3])
def test_store_after_the_loop(n, flag, device):
    x = values("int32", 64)
    out = np.full((2, 64), 99, np.int32)
    after = out.copy()
    a, b = x, x * 3
    if flag:
        a, b = (b, a) if n % 2 else (a, b)
        bound = 10 + sum(range(n))
        after[0, :bound] = a[:bound]
    else:
        b = a - b
    after[1] = b
    arguments = dict(x_ptr=x, out_ptr=out, n=n, flag=flag, BLOCK=64)
    check(swap_and_count, (1,), arguments, dict(out_ptr=after), device=device)


@triton.jit
def bound_that_grows(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    a = tl.load(x_ptr + i)
    bound = 3
    for k in range(n):
        a = a * a
        tl.store(x_ptr + BLOCK - 1 - i, a, mask=i < bound)
        bound += k
    b = tl.load(x_ptr + i, mask=i < bound, other=7)
    tl.store(out_ptr + i, a * b)


@pytest.mark.parametrize("n", [0, 1, 4])
def test_load_after_the_loop(n, device):
    x = values("int32", 64, low=-1, high=2)
    after, a, bound = x.copy(), x, 3
    for k in range(n):
        a = a * a
        after[63 - np.arange(bound)] = a[:bound]
        bound += k
    expected = a * np.where(np.arange(64) < bound, after, 7)
    arguments = dict(x_ptr=x, out_ptr=np.zeros_like(x), n=n, BLOCK=64)
    results = dict(x_ptr=after, out_ptr=expected.astype(np.int32))
    check(bound_that_grows, (1,), arguments, results, device=device)


@triton.jit
def load_before_the_loop(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    """What is loaded before the loop may have to be kept from the store after it, whose mask is not known yet."""
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i)
    total = x ^ i
    bound = 10
    for k in range(n - 1, -1, -1):
        tl.store(x_ptr + (BLOCK - 1 - i), x + 1, mask=i % 3 != 1)
        total = total * x
        bound += k
    if bound % 2 == 0:
        tl.store(x_ptr + i, total, mask=i < bound)
        x = total + total
    tl.store(out_ptr + i, x)


@pytest.mark.parametrize("n", [0, 1, 2, 4])
def test_load_before_the_loop(n, device):
    if n and device != "cpu":
        pytest.skip("two threads of a GPU store to an element, in no order")
    block = 64
    x = values("int32", block)
    i = np.arange(block, dtype=np.int32)
    after, total, out = x.copy(), x ^ i, x
    with np.errstate(over="ignore"):
        for _ in range(n):
            after[(block - 1 - i)[i % 3 != 1]] = (x + 1)[i % 3 != 1]
            total = total * x
        bound = 10 + sum(range(n))
        if bound % 2 == 0:
            after[:bound] = total[:bound]
            out = total + total
    arguments = dict(x_ptr=x, out_ptr=np.zeros(block, np.int32), n=n, BLOCK=block)
    check(load_before_the_loop, (1,), arguments, dict(x_ptr=after, out_ptr=out), device=device)
