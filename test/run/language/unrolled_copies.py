"""Many copies of a masked load and store in one kernel: their values, and the time to compile them."""
# SPDX-License-Identifier: MIT

import resource

import numpy as np
import triton
import triton.language as tl
from harness import check


@triton.jit
def copies(x, o, n, N: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    for j in tl.static_range(N):
        tl.store(o + j * B + i, tl.load(x + j * B + i, mask=i < n), mask=i < n)


@triton.jit
def sums(x, o, n, N: tl.constexpr, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.zeros((B,), tl.float32)
    for j in tl.static_range(N):
        v += tl.load(x + j * B + i, mask=i < n, other=0.0)
    tl.store(o + i, v, mask=i < n)


def seconds_to(run):
    """Processor time, of assemblers too, so that a busy machine makes no difference."""

    def now():
        usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
        return sum(usage.ru_utime + usage.ru_stime for usage in usages)

    start = now()
    run()
    return now() - start


def check_all(kernel, count, expected, device):
    x = np.arange(count * 64, dtype=np.float32) % 13
    out = np.zeros_like(x)
    arguments = dict(x=x, o=out, n=61, N=count, B=64)
    want = dict(o=expected(x.reshape(count, 64)))
    # Where basic blocks were selected as a whole the copies took half a minute.
    assert seconds_to(lambda: check(kernel, (1,), arguments, want, device=device)) < 12


def masked(rows):
    return np.where(np.arange(64) < 61, rows, 0.0).astype(np.float32)


def test_copies(device):
    check_all(copies, 120, lambda rows: masked(rows).reshape(-1), device)


def test_sums(device):
    def expected(rows):
        out = np.zeros(rows.size, dtype=np.float32)
        out[:64] = masked(rows.sum(0))
        return out

    check_all(sums, 150, expected, device)
