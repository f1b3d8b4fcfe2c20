"""Values that were never written: elements of new memory, masked-off lanes of a load."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from _faults import expect, fault, ramp
from triton.sanitizer import mark_unwritten

MARKS = dict(code="sanitize-uninit")


@triton.jit
def add_one(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    tl.store(out_ptr + offsets, x + 1, mask=offsets < n)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int16", "int32", "uint64"])
def test_the_elements_of_new_memory(dtype, device):
    x = mark_unwritten(np.empty(100, dtype))
    x[:70] = 3
    report = fault(add_one, (4,), x, np.empty_like(x), 100, 32, sanitize="uninit", device=device)
    expect(report, add_one, "x = tl.load(", f"element 70 of `x_ptr`, at byte {70 * x.itemsize}, is read",
           "nothing has been written there", program=(2, 0, 0), tile=((6,), (32,)), **MARKS)  # fmt: skip


def test_what_a_checked_kernel_stores_is_written(device):
    """Also if the stored value equals the content of new memory."""
    if device != "cpu":
        pytest.skip("the sanitizer runs on the CPU")
    x, between, out = np.full(50, np.nan, np.float32), mark_unwritten(np.empty(50, np.float32)), ramp(50)
    add_one[(2,)](x, between, 50, 32, sanitize="uninit")
    add_one[(2,)](between, out, 50, 32, sanitize="uninit")
    assert np.isnan(out).all()
    between = mark_unwritten(between)  # the same memory, as if it were new
    between[:] = 1
    add_one[(2,)](between, out, 50, 32, sanitize="uninit")
    assert (out == 2).all()


def test_new_memory_of_torch(device):
    torch = pytest.importorskip("torch")
    if device != "cpu":
        pytest.skip("the sanitizer runs on the CPU")
    torch.use_deterministic_algorithms(True)
    try:
        x = torch.empty(4, 8)
        x[:2] = 1
        report = fault(add_one, (1,), x[1:], torch.zeros(24), 24, 32, sanitize="uninit", device=device)
    finally:
        torch.use_deterministic_algorithms(False)
    expect(report, add_one, "x = tl.load(", "element 8 of `x_ptr`", program=(0, 0, 0), tile=((8,), (32,)), **MARKS)


@triton.jit
def total(counts_ptr, keys_ptr, BLOCK: tl.constexpr):
    keys = tl.load(keys_ptr + tl.arange(0, BLOCK))
    tl.atomic_add(counts_ptr + keys, 1)


def test_an_atomic_on_new_memory(device):
    counts = mark_unwritten(np.empty(8, np.int32))
    counts[:5] = 0
    report = fault(total, (1,), counts, np.array([0, 4, 4, 6], np.int32), 4, sanitize="uninit", device=device)
    expect(report, total, "tl.atomic_add(", "element 6 of `counts_ptr`, at byte 24, is updated",
           program=(0, 0, 0), tile=((3,), (4,)), **MARKS)  # fmt: skip


@triton.jit
def mean(x_ptr, out_ptr, n, BLOCK: tl.constexpr, FILLED: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    row = tl.program_id(1)
    x = tl.load(x_ptr + row * n + offsets, mask=offsets < n, other=0.0 if FILLED else None)
    tl.store(out_ptr + row, tl.sum(x * x) / n)


def test_masked_off_lanes_in_a_sum(device):
    report = fault(mean, (1, 2), ramp(2, 20), ramp(2), 20, 32, False, sanitize="uninit", device=device)
    expect(report, mean, "tl.sum(", "an element comes from a lane that a load's mask lets out",
           program=(0, 0, 0), tile=((20,), (32,)), **MARKS)  # fmt: skip


def test_lanes_with_an_other_in_a_sum(device):
    if device != "cpu":
        pytest.skip("the sanitizer runs on the CPU")
    out = ramp(2)
    mean[(1, 2)](ramp(2, 20), out, 20, 32, True, sanitize="bounds,uninit,overflow,nan")
    np.testing.assert_allclose(out, (ramp(2, 20) ** 2).mean(1), rtol=1e-6)


@triton.jit
def wider(x_ptr, out_ptr, n, m, BLOCK: tl.constexpr, CHOOSES: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + offsets, mask=offsets < n)
    if CHOOSES:
        x = tl.where(offsets < n, x, 7.0)
    tl.store(out_ptr + offsets, x, mask=offsets < m)


def test_masked_off_lanes_in_a_store(device):
    report = fault(wider, (1,), ramp(16), ramp(16), 10, 12, 16, False, sanitize="uninit", device=device)
    expect(report, wider, "tl.store(", "the value comes from a lane", program=(0, 0, 0), tile=((10,), (16,)), **MARKS)


def test_lanes_that_where_replaces(device):
    if device != "cpu":
        pytest.skip("the sanitizer runs on the CPU")
    out = ramp(16)
    wider[(1,)](ramp(16), out, 10, 12, 16, True, sanitize="uninit")
    assert (out == [*range(10), 7, 7, 12, 13, 14, 15]).all()


@triton.jit
def chase(keys_ptr, x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    offsets = tl.arange(0, BLOCK)
    keys = tl.load(keys_ptr + offsets, mask=offsets < n)
    x = tl.load(x_ptr + keys)
    tl.store(out_ptr + offsets, x, mask=offsets < n)


def test_masked_off_lanes_in_an_address(device):
    keys = np.zeros(8, np.int32)
    report = fault(chase, (1,), keys, ramp(4), ramp(8), 5, 8, sanitize="uninit", device=device)
    expect(report, chase, "x = tl.load(", "the address comes from a lane", program=(0, 0, 0), tile=((5,), (8,)), **MARKS)
