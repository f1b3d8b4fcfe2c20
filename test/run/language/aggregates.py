"""Values with fields: aggregates, dataclasses, namedtuples; their methods, defaults, inheritance and copies."""
# SPDX-License-Identifier: MIT

import dataclasses
from typing import NamedTuple

import numpy as np
import pytest
import triton
import triton.language as tl
from harness import check


@triton.aggregate
class Pair:
    a: tl.tensor
    b: tl.tensor
    scale: tl.constexpr = 2

    @triton.jit
    def total(self, extra=0):
        return self.a + self.b * self.scale + extra

    @triton.constexpr_function
    def doubled(self):
        return self.scale * 2

    @staticmethod
    @triton.jit
    def of(x):
        return Pair(x, x + 1, 5)

    @triton.jit
    def __getitem__(self, index):
        return tl.where(index == 0, self.a, self.b)

    @triton.jit
    def __add__(self, other):
        return Pair(self.a + other.a, self.b + other.b, self.scale)


@triton.aggregate
class Named(Pair):
    tag: tl.constexpr
    size: tl.constexpr

    def __init__(self, a, tag, _semantic=None):
        self.a = a
        self.b = tl.add(a, 10, _semantic=_semantic)
        self.scale = 3
        self.tag = tag
        self.size = len(tag.value)

    @triton.jit
    def total(self):
        return Pair.total(self, self.size)


@triton.jit
def swap(pair):
    return tl.aggregate_replace(pair, a=pair.b, b=pair.a)


@triton.jit
def aggregates(out_ptr, n):
    pair = Pair(n, b=n + 1)
    tl.store(out_ptr, pair.total())
    tl.store(out_ptr + 1, pair.total(extra=pair.doubled()))
    tl.store(out_ptr + 2, swap(pair).total())
    tl.store(out_ptr + 3, Pair.of(n).total())
    tl.store(out_ptr + 4, pair[0] * 100 + pair[1])
    named = Named(n, "abc")
    tl.store(out_ptr + 5, named.total())
    both = pair + named
    tl.store(out_ptr + 6, both.b)
    for i in range(n):
        pair = Pair(pair.a + i, pair.b)
    if n > 3:
        pair = swap(pair)
    tl.store(out_ptr + 7, pair.a * 1000 + pair.b)
    if named.tag == "abc":
        tl.store(out_ptr + 8, named.scale)
    tl.store(out_ptr + 9, isinstance(named, Pair) + 10 * isinstance(pair, Named))


@pytest.mark.parametrize("n", [3, 6])
def test_aggregates(n, device):
    a = n + sum(range(n))
    a, b = (n + 1, a) if n > 3 else (a, n + 1)
    expected = [
        n + 2 * (n + 1), n + 2 * (n + 1) + 4, n + 1 + 2 * n, n + 5 * (n + 1), n * 100 + n + 1,
        n + 3 * (n + 10) + 3, n + 1 + n + 10, a * 1000 + b, 3, 1,
    ]  # fmt: skip
    arguments = dict(out_ptr=np.zeros(10, np.int32), n=n)
    check(aggregates, (1,), arguments, dict(out_ptr=np.array(expected, np.int32)), device=device)


@triton.constexpr_function
def vector_of(size):
    @triton.aggregate
    class Vector:
        data: tl.tensor
        size: tl.constexpr

        @triton.jit
        def norm(self):
            return tl.sum(self.data * self.data) + self.size

        def __init__(self, data):
            self.data = data
            self.size = size

    return Vector


@triton.jit
def factory(x_ptr, out_ptr, N: tl.constexpr):
    Vector: tl.constexpr = vector_of(N)
    vector = Vector(tl.load(x_ptr + tl.arange(0, N)))
    tl.store(out_ptr, vector.norm())


def test_classes_are_made_while_compiling(device):
    x = np.arange(8, dtype=np.int32)
    arguments = dict(x_ptr=x, out_ptr=np.zeros(1, np.int32), N=8)
    check(factory, (1,), arguments, dict(out_ptr=np.array([140 + 8], np.int32)), device=device)


@dataclasses.dataclass
class State:
    mean: tl.tensor
    count: int = 0

    @triton.jit
    def update(self, x):
        return State(self.mean + x, self.count + 1)


class Point(NamedTuple):
    x: tl.tensor
    y: tl.tensor = 7


@triton.jit
def moved(point, by):
    return Point(point.x + by, y=point.y - by)


@triton.jit
def plain_classes(out_ptr, n):
    state = State(0.0)
    for i in range(n):
        state = state.update(i)
    tl.store(out_ptr, state.mean)
    tl.store(out_ptr + 1, state.count)
    point = Point(n)
    point = moved(point, 2)
    x, y = point
    tl.store(out_ptr + 2, x * 100 + point[1])
    tl.store(out_ptr + 3, len(point) + point.y - y)


@pytest.mark.parametrize("n", [0, 5])
def test_dataclasses_and_namedtuples(n, device):
    expected = np.array([sum(range(n)), n, (n + 2) * 100 + 5, 2], np.float32)
    arguments = dict(out_ptr=np.zeros(4, np.float32), n=n)
    check(plain_classes, (1,), arguments, dict(out_ptr=expected), device=device)
