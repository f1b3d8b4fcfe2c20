"""The launches of the kernels in this folder: arguments, and what numpy expects."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np


@dataclasses.dataclass
class Launch:
    grid: tuple[int, ...]
    args: list[Any]
    got: np.ndarray
    expected: np.ndarray


def _normal(*shape: int) -> np.ndarray:
    return np.random.default_rng(5).integers(-8, 8, shape).astype(np.float32)


def reduce() -> Launch:
    n = 300
    x, out = _normal(n), np.zeros(3, np.float32)
    expected = np.array([x[begin : begin + 128].sum() for begin in (0, 128, 256)])
    return Launch((3,), [x, out, n], out, expected)


def copy() -> Launch:
    x = _normal(404)
    out = np.zeros_like(x)
    return Launch((2,), [x, out, x.size], out, x)


def _tiles(count: int) -> np.ndarray:
    return _normal(count, 64, 4)


def pipeline() -> Launch:
    x, out = _tiles(5), np.zeros(64, np.float32)
    return Launch((1,), [x, out, 5], out, np.roll(x[:, :, 0].sum(0), -33))


def bulk() -> Launch:
    x, out = _tiles(5), np.zeros(64, np.float32)
    return Launch((1,), [x, out, 5], out, x[:, :, 0].sum(0))


def bulk_store() -> Launch:
    out = np.zeros((2, 256), np.uint32)
    return Launch((1,), [out], out, np.arange(256) + np.array([[0], [1000]]))


def wgmma() -> Launch:
    a, b = _normal(64, 16).astype(np.float16), _normal(8, 16).astype(np.float16)
    out = np.zeros((64, 8), np.float32)
    return Launch((1,), [a, b, out], out, a.astype(np.float32) @ b.astype(np.float32).T + 1)


def lock() -> Launch:
    total = np.zeros(1, np.uint32)
    return Launch((8,), [np.zeros(1, np.uint32), total], total, np.array([8]))


def flag() -> Launch:
    data, out = np.zeros(32, np.uint32), np.zeros((4, 32), np.uint32)
    expected = np.zeros((4, 32)) + np.arange(32) + 7
    expected[0] = 0
    return Launch((4,), [data, np.zeros(1, np.uint32), out], out, expected)


def producer() -> Launch:
    out = np.zeros((8, 32), np.uint32)
    return Launch((1,), [out], out, np.arange(8)[:, None] * 100 + np.arange(32))


def cluster() -> Launch:
    out = np.zeros((4, 32), np.uint32)
    return Launch((4,), [out], out, np.arange(128).reshape(4, 32)[[1, 0, 3, 2]])


def histogram() -> Launch:
    x = np.random.default_rng(5).integers(0, 256, 512).astype(np.uint8)
    counts = np.zeros(16, np.uint32)
    return Launch((4,), [x, counts], counts, np.bincount(x & 15, minlength=16))


def warp() -> Launch:
    x, out = np.arange(32, dtype=np.uint32) * 3, np.zeros(32, np.uint32)
    return Launch((1,), [x, out], out, x[::-1])


LAUNCHES: dict[str, Callable[[], Launch]] = {
    made.__name__: made
    for made in (
        reduce, copy, pipeline, bulk, bulk_store, wgmma, lock, flag, producer, cluster, histogram, warp
    )
}  # fmt: skip
