"""Ways to call built-ins"""
# SPDX-License-Identifier: MIT

import numpy as np
import triton
import triton.language as tl
from _accepted import accepts


@triton.jit
def shapes(x, out, n, B: tl.constexpr):
    i = tl.arange(start=0, end=B)
    v = tl.load(x + i)
    a = tl.reshape(v, 4, 4) + tl.reshape(v, (4, 4)) + v.reshape([4, 4])
    a = (
        a
        + tl.trans(a) * 0
        + a.trans((1, 0)) * 0
        + a.T * 0
        + tl.permute(a, 1, 0) * 0
        + a.permute([1, 0]) * 0
    )
    a = a + tl.broadcast_to(n, (4, 4)) * 0 + tl.broadcast_to(v[:4][None, :] if False else n, [4, 4])
    tl.store(out + i, a.view(16) if False else tl.ravel(a))


def test_shapes(device):
    """Shapes and orders as a tuple, a list or one argument each; as functions and as methods."""
    accepts(shapes, lambda x, n: 3 * x + n, device)


@triton.jit
def accesses(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = (
        tl.load(x + i, i < n, 1)
        + tl.load(x + i, mask=True)
        + tl.load(pointer=x + i, mask=n > 2, other=0)
    )
    v += (
        tl.load(
            x + i,
            mask=(i < n) & True,
            other=float("-inf"),
            cache_modifier=".cg",
            eviction_policy="evict_last",
        )
        * 0
    )
    (out + i).store(v, mask=n > 2)
    tl.store(pointer=out + i, value=1, mask=i >= 8)


def test_accesses(device):
    """`tl.load` and `tl.store`: masks that are constants or scalars, numbers as `other` and as values, by position
    and by name, as methods."""

    def expected(x, n):
        inside = np.arange(16) < n
        v = np.where(inside, x, 1) + x + x + np.where(inside, x * 0, -np.inf * 0)
        return np.where(np.arange(16) >= 8, 1, v)

    accepts(accesses, expected, device)


@triton.jit
def reductions(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    total = (
        tl.sum(v)
        + v.sum(0)
        + tl.sum(v, axis=None)
        + tl.sum(v > 0)
        + tl.max(v[None, :], axis=1, keep_dims=True)
    )
    low, at = tl.min(v, 0, return_indices=True)
    tl.store(out + i, tl.ravel(total + v) + low + at + tl.argmax(v, axis=0))


def test_reductions(device):
    """Reductions without an axis, of booleans, with kept dimensions, with indices; as methods."""
    accepts(
        reductions, lambda x, n: x + 3 * x.sum() + (x > 0).sum() + x.max() + x.min() + 15, device
    )


@triton.jit
def numbers(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    v = tl.load(x + i)
    tl.static_assert(
        (v.to(tl.float16) + 1.0).dtype == tl.float16 and (i.to(tl.int8) + 1).dtype == tl.int8
    )
    tl.static_assert((i + 1.5).dtype == tl.float32)
    tl.static_assert((v.to(tl.float16) + i).dtype == tl.float16)
    big = max(n, 3) + min(n, 3, 4) + tl.maximum(1, 2) + tl.cdiv(n, 2) + triton.cdiv(B, 3)
    tl.store(
        out + i,
        tl.maximum(v, 0) + tl.where(v > 0, 1, 0) + tl.clamp(v, 0.0, 1.0) + big + tl.exp(0.0),
    )


def test_numbers(device):
    """Numbers as operands take the tile's type if they are of the same kind; `min`, `max` and functions of numbers."""
    accepts(
        numbers,
        lambda x, n: (
            np.maximum(x, 0) + (x > 0) + np.clip(x, 0, 1) + n + 3 + 2 + (n + 1) // 2 + 6 + 1
        ),
        device,
    )


@triton.jit
def atomics(x, out, n, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.atomic_store(out + i, tl.atomic_load(x + i, mask=i < n), mask=i < n, sem="relaxed")
    tl.debug_barrier()
    (out + i).atomic_add(1)
    tl.atomic_add(out + i, 1.0, n > 2, "relaxed", "cta")
    tl.atomic_max(out + i, val=2)


def test_atomics(device):
    """Atomic accesses: numbers and scalars as values, scalar masks, order and scope by position; `tl.atomic_load` and
    `tl.atomic_store`."""
    accepts(atomics, lambda x, n: np.maximum(np.where(np.arange(16) < n, x, 0) + 2, 2), device)
