"""A constant that decides `and` or `or` leaves the branches that it excludes untraced, wherever it stands."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from harness import check


@triton.jit
def never(x_ptr, n):
    tl.static_assert(False, "traced")
    return n


@triton.jit
def folded(out_ptr, n, OFF: tl.constexpr, ON: tl.constexpr):
    r = 0
    if n > 0 and OFF:
        r += never(out_ptr, n)
    if OFF and n > 0:
        r += never(out_ptr, n)
    if n > 0 and n < 9 and OFF and n > 3:
        r += never(out_ptr, n)
    if n and n - 9 and OFF:  # nothing is combined, so that no operand has to be a flag
        r += never(out_ptr, n)
    r += 0 if ON and (n or n - 9 or ON) else never(out_ptr, n)
    if not (n > 0 or ON):
        r += never(out_ptr, n)
    if (n > 0 and OFF) or OFF:
        r += never(out_ptr, n)
    if not ((n > 0 and not OFF) or ON):
        r += never(out_ptr, n)
    r += never(out_ptr, n) if n > 0 and OFF else 1
    r += 10 if n > 0 or ON else never(out_ptr, n)
    while n > 0 and OFF:
        r += never(out_ptr, n)
    if n > 0 or ON:
        r += 100
    else:
        r += never(out_ptr, n)
    if 0 < n < 9 < OFF:
        r += never(out_ptr, n)
    if n and ON:  # the other constants change nothing: the condition is n
        r += 1000
    if ON and n:
        r += 10000
    if OFF or n or OFF:
        r += 100000
    tl.store(out_ptr, r)


@pytest.mark.parametrize("off, on", [(False, True), (0, 1)])
@pytest.mark.parametrize("n", [5, 0, -1])
def test_folded(n, off, on, device):
    arguments = dict(out_ptr=np.zeros(1, np.int32), n=n, OFF=off, ON=on)
    out = np.array([111 + (111000 if n else 0)], np.int32)
    check(folded, (1,), arguments, dict(out_ptr=out), device=device)


@triton.jit
def kinds(out_ptr, n, NOTHING: tl.constexpr, SOME: tl.constexpr):
    """Constants of all kinds decide by their truth."""
    r = 0
    if not (n > 0 and NOTHING):
        r += 1
    else:
        r += never(out_ptr, n)
    if not (n > 0 or SOME):
        r += never(out_ptr, n)
    if n > 0 and SOME:
        r += 10
    if n > 0 or NOTHING:
        r += 100
    tl.store(out_ptr, r)


@pytest.mark.parametrize("nothing, some", [(None, 1), (0, -2), ("", "x"), ((), (0,)), (0.0, 0.5)])
@pytest.mark.parametrize("n", [5, 0])
def test_kinds(n, nothing, some, device):
    arguments = dict(out_ptr=np.zeros(1, np.int32), n=n, NOTHING=nothing, SOME=some)
    check(kinds, (1,), arguments, dict(out_ptr=np.array([111 if n else 1], np.int32)), device=device)


@triton.jit
def keywords(out_ptr, n, STAGES: tl.constexpr):
    """Hints of `tl.range` on Python's range, which Triton ignores there."""
    r = 0
    for i in range(0, n, flatten=True, num_stages=STAGES, loop_unroll_factor=n):
        r += i
    for i in range(n, warp_specialize=True, disallow_acc_multi_buffer=True, disable_licm=None):
        r += i
    for i in tl.range(0, n, 1, STAGES, None, flatten=None, warp_specialize=False, disallow_acc_multi_buffer=0):
        r += i
    tl.store(out_ptr, r)


def test_keywords_of_range(device):
    arguments = dict(out_ptr=np.zeros(1, np.int32), n=5, STAGES=2)
    check(keywords, (1,), arguments, dict(out_ptr=np.array([30], np.int32)), device=device)


@triton.jit
def starred(out_ptr, n):
    a, *b = (n, n + 1, n + 2)
    *c, d = b
    (e, *f), *g = ((n, 1), n)
    [*h] = (1, 2)
    r = a + b[1] + c[0] + d + e + f[0] + g[0] + len(h)
    tail = [i * rest[0] for i, *rest in ((n, 1), (3, 2))]
    tl.store(out_ptr, r + tail[0] + tail[1])


def test_starred_targets(device):
    n = 5
    out = n + (n + 2) + (n + 1) + (n + 2) + n + 1 + n + 2 + (n * 1 + 3 * 2)
    check(starred, (1,), dict(out_ptr=np.zeros(1, np.int32), n=n), dict(out_ptr=np.array([out], np.int32)), device=device)
