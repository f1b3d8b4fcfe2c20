"""Tuples, namedtuples, aggregates and dataclasses as arguments of a launch: arrays, numbers and constants in them."""
# SPDX-License-Identifier: MIT

import dataclasses
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
import triton
import triton.language as tl
from harness import BFloat16, launch
from triton.tools.tensor_descriptor import TensorDescriptor


def same(got: np.ndarray, want: Any) -> None:
    np.testing.assert_array_equal(got, np.asarray(want, got.dtype))


@triton.jit
def scaled_sum(arrays, factors, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    mask = offsets < n
    total = tl.zeros([BLOCK], tl.float32)
    for i in tl.static_range(len(arrays)):
        total += factors[i] * tl.load(arrays[i] + offsets, mask, other=0).to(tl.float32)
    tl.store(out_ptr + offsets, total, mask)


@pytest.mark.parametrize("n", [1, 100, 131])
def test_arrays_of_several_types_and_factors(n, device):
    a = np.arange(n, dtype=np.float32)
    b = np.arange(n, dtype=np.int64) * 3
    c = BFloat16(np.full(n, 0.5, np.float32))
    for factors in [(2, 1, 4.0), (1, 16, -3), (7, 2.5, 1)]:
        out = np.zeros(n, np.float32)
        arguments = ((a[:n], b, c), factors, out, n)
        if launch(scaled_sum, (triton.cdiv(n, 64),), *arguments, BLOCK=64, device=device):
            same(out, factors[0] * a + factors[1] * b.astype(np.float32) + factors[2] * 0.5)


class Matrix(NamedTuple):
    ptr: Any
    shape: tuple
    strides: tuple
    transform: Any = None


@triton.jit
def squared(x):
    return x * x


@triton.jit
def matrix_copy(source, target, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    columns = tl.arange(0, BLOCK)
    rows, width = source.shape
    mask = columns < width
    x = tl.load(source.ptr + row * source.strides[0] + columns * source.strides[1], mask)
    if source.transform is not None:
        x = source.transform(x)
    to = target.ptr + row * target.strides[0] + columns * target.strides[1]
    tl.store(to, x + len(target) - 4 + (rows - row - 1) * 0, mask)


@pytest.mark.parametrize("transform", [None, squared])
def test_namedtuples_with_tuples_in_them(transform, device):
    x = np.arange(5 * 12, dtype=np.float32).reshape(5, 12)
    view = x[:, ::3]  # (5, 4), strides (12, 3)
    out = np.zeros((4, 5), np.float32)
    source = Matrix(view, view.shape, tuple(s // 4 for s in view.strides), transform)
    target = Matrix(out, out.T.shape, (1, 5))
    if launch(matrix_copy, (5,), source, target, BLOCK=8, device=device):
        same(out.T, view if transform is None else view * view)


@triton.aggregate
class Column:
    ptr: tl.tensor
    stride: tl.tensor
    dtype: tl.constexpr

    @triton.jit
    def load(self, rows, mask):
        return tl.load(self.ptr + rows * self.stride, mask).to(self.dtype)

    @triton.jit
    def store(self, rows, value, mask):
        tl.store(self.ptr + rows * self.stride, value, mask)


@triton.jit
def half_columns(source, target, n):
    rows = tl.arange(0, 16)
    target.store(rows, source.load(rows, rows < n) / 2, rows < n)


@pytest.mark.parametrize("stride", [1, 3])
def test_aggregates_made_by_the_host(stride, device):
    x = np.arange(30, dtype=np.int32)
    out = np.full(10, -1, np.float32)
    source = Column(x, stride, tl.float32)
    target = tl.aggregate_replace(source, ptr=out, stride=1)
    assert target.ptr is out and source.ptr is x
    if launch(half_columns, (1,), source, target, 9, device=device):
        same(out, [*(np.arange(9) * stride / 2), -1])


@dataclasses.dataclass
class Job:
    inputs: tuple
    scale: float
    out: Any
    finish: Callable[[Any], Any] | None = None

    @triton.jit
    def run(self, at):
        return (tl.load(self.inputs[0] + at) + tl.load(self.inputs[1] + at)) * self.scale


@triton.jit
def job_kernel(job, offset=0):
    at = tl.arange(0, 8) + offset
    tl.store(job.out + at, job.run(at))


def test_dataclasses_made_by_the_host(device):
    x, y = np.arange(16, dtype=np.float32), np.ones(16, np.float32)
    for scale in (0.5, 3.0):
        out = np.zeros(16, np.float32)
        if launch(job_kernel, (1,), Job((x, y), scale, out), offset=8, device=device):
            same(out, [*[0] * 8, *((x + y)[8:] * scale)])


@triton.jit
def gathered(out_ptr, *rest):
    for i in tl.static_range(len(rest)):
        tl.store(out_ptr + i, tl.load(rest[i]))


def test_the_rest_of_the_arguments_is_a_tuple(device):
    parts = [np.array([value], np.int32) for value in (5, -7, 9)]
    for count in (1, 3):
        out = np.zeros(4, np.int32)
        if launch(gathered, (1,), out, *parts[:count], device=device):
            same(out, [5, -7, 9][:count] + [0] * (4 - count))


@triton.jit
def described(pair, out_ptr):
    descriptor, row = pair
    tile = descriptor.load([row, 0])
    at = tl.arange(0, 4)[:, None] * 8 + tl.arange(0, 8)[None, :]
    tl.store(out_ptr + at, tile)


@pytest.mark.parametrize("row", [0, 1, 6])
def test_a_descriptor_in_a_tuple(row, device):
    x = np.arange(8 * 8, dtype=np.float32).reshape(8, 8)
    out = np.zeros((4, 8), np.float32)
    descriptor = TensorDescriptor(x, list(x.shape), [8, 1], [4, 8])
    if launch(described, (1,), (descriptor, row), out, device=device):
        want = np.zeros((4, 8), np.float32)
        want[: min(4, 8 - row)] = x[row : row + 4]
        same(out, want)


@triton.jit
def masked(pair, out_ptr):
    """`None`, 1 and False in a tuple: which of them are constants."""
    limit, flag = pair
    value = 10
    if limit is not None:
        value = limit + 0
    tl.store(out_ptr, value)
    tl.store(out_ptr + 1, tl.where(flag, 5, 6))


@pytest.mark.parametrize(
    ("pair", "want"), [((None, True), [10, 5]), ((1, False), [1, 6]), ((2**40, True), [2**40, 5])]
)
def test_constants_in_tuples(pair, want, device):
    out = np.zeros(2, np.int64)
    if launch(masked, (1,), pair, out, device=device):
        same(out, want)
