"""Unrolled loops that are compiled as several functions: values pass from part to part, loops and branches stay right."""
# SPDX-License-Identifier: MIT

import numpy as np
import triton
import triton.language as tl
from harness import launch, values


@triton.jit
def softmaxes(x, out, n, N: tl.constexpr):
    i = tl.arange(0, 64)
    best = tl.full((64,), 0.0, tl.float32)
    for j in tl.static_range(N):
        v = tl.load(x + j * n + i, mask=i < n, other=-float("inf"))
        e = tl.exp(v - tl.max(v, 0))
        best = tl.maximum(best, e / tl.sum(e, 0))
        tl.store(out + j * n + i, e / tl.sum(e, 0), mask=i < n)
    tl.store(out + N * n + i, best, mask=i < n)


def test_reduced_rows(device):
    count, n = 40, 60
    x = values("float32", count * n, seed=1, low=-4, high=4)
    out = np.zeros((count + 1) * n, "float32")
    if launch(softmaxes, (1,), x, out, n, count, device=device):
        rows = np.exp(x.reshape(count, n) - x.reshape(count, n).max(1, keepdims=True))
        rows /= rows.sum(1, keepdims=True)
        expected = np.concatenate([rows, rows.max(0, keepdims=True)]).reshape(-1)
        np.testing.assert_allclose(out, expected, rtol=1e-5, atol=1e-7)


@triton.jit
def chain(x, out, N: tl.constexpr):
    i = tl.arange(0, 64)
    v = tl.load(x + i)
    for j in tl.static_range(N):
        v = v - tl.max(v, 0) * 0.5
    tl.store(out + i, v)


def test_chain_of_reductions(device):
    x = values("float32", 64, seed=2, low=0, high=4)
    out = np.zeros(64, "float32")
    if launch(chain, (1,), x, out, 60, device=device):
        expected = x.copy()
        for _ in range(60):
            expected = expected - expected.max() * np.float32(0.5)
        np.testing.assert_allclose(out, expected, rtol=1e-4, atol=1e-4)
