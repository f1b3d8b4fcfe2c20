"""Accesses outside of the tensors of a launch: reported before the access, with line, program, element, argument."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from _faults import expect, fault, ramp
from harness import check


@triton.jit
def double(x_ptr, out_ptr, n, BLOCK: tl.constexpr, MASKED: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = offsets < n
    x = tl.load(x_ptr + offsets, mask=inside if MASKED else None)
    tl.store(out_ptr + offsets, x + x, mask=inside)


def test_read_behind_the_end(device):
    x, out = ramp(1000), ramp(1000)
    report = fault(double, (4,), x, out, 1000, 256, False, sanitize="bounds", device=device)
    expect(report, double, "x = tl.load(", "element 1000 of `x_ptr`, at byte 4000, is read", "1000 elements, 4000 bytes",
           program=(3, 0, 0), tile=((232,), (256,)), code="sanitize-bounds")  # fmt: skip


def test_a_neighbour_is_not_the_tensor(device):
    """Both tensors lie in one array: a checker of allocations would miss the fault."""
    memory = ramp(64)
    report = fault(double, (1,), memory[:24], memory[32:], 24, 32, False, sanitize="bounds", device=device)
    expect(report, double, "x = tl.load(", "element 24 of `x_ptr`, at byte 96,", "`x_ptr` has 24 elements",
           program=(0, 0, 0), tile=((24,), (32,)), code="sanitize-bounds")  # fmt: skip
    assert (memory == ramp(64)).all()


@triton.jit
def one_row(x_ptr, row, STRIDE: tl.constexpr, WIDTH: tl.constexpr, HEIGHT: tl.constexpr):
    rows = row + tl.arange(0, HEIGHT)
    columns = tl.arange(0, WIDTH)
    tl.store(x_ptr + rows[:, None] * STRIDE + columns[None, :], tl.zeros((HEIGHT, WIDTH), tl.int16))


def test_write_out_of_a_view(device):
    whole = ramp(16, 8, dtype=np.int16)
    report = fault(one_row, (1,), whole[4:8], 2, 8, 8, 4, sanitize="bounds", device=device)
    expect(report, one_row, "tl.store(", "element 32 of `x_ptr`, at byte 64, is written", "32 elements, 64 bytes",
           program=(0, 0, 0), tile=((2, 0), (4, 8)), code="sanitize-bounds")  # fmt: skip
    assert (whole == ramp(16, 8, dtype=np.int16)).all()


@triton.jit
def count(counts_ptr, keys_ptr, BLOCK: tl.constexpr):
    keys = tl.load(keys_ptr + tl.program_id(1) * BLOCK + tl.arange(0, BLOCK))
    tl.atomic_add(counts_ptr + keys, 1)


def test_atomic_before_the_begin(device):
    keys = np.array([0, 1, 2, 3, 2, -3, 1, 9], np.int32)
    counts = np.zeros(8, np.int32)
    report = fault(count, (1, 2), counts, keys, 4, sanitize="bounds", device=device)
    expect(report, count, "tl.atomic_add(", "element -3 of `counts_ptr`, at byte -12, is updated", "8 elements",
           program=(0, 1, 0), tile=((1,), (4,)), code="sanitize-bounds")  # fmt: skip


@triton.jit
def fetch(pointer, index):
    return tl.load(pointer + index)


@triton.jit
def walk(x_ptr, out_ptr, steps):
    total = 0.0
    for step in range(steps):
        total += fetch(x_ptr, step * 2)
    tl.store(out_ptr, total)


def test_a_loop_calls_a_function(device):
    report = fault(walk, (1,), ramp(9), ramp(1), 6, sanitize="bounds", device=device)
    expect(report, fetch, "tl.load(pointer", "element 10 of `x_ptr`, at byte 40", program=(0, 0, 0), code="sanitize-bounds")
    caller = walk.fn.__code__.co_firstlineno + 4
    assert f":{caller}:18: note: called from here" in report


@triton.jit
def block(x_ptr, out_ptr, n, CHECKED: tl.constexpr):
    source = tl.make_block_ptr(x_ptr, (n,), (1,), (tl.program_id(0) * 16,), (16,), (0,))
    x = tl.load(source, boundary_check=(0,) if CHECKED else ())
    tl.store(out_ptr + tl.arange(0, 16), x)


def test_block_pointer_without_a_check(device):
    report = fault(block, (2,), ramp(20), ramp(16), 20, False, sanitize="bounds", device=device)
    expect(report, block, "x = tl.load(", "element 20 of `x_ptr`", program=(1, 0, 0), tile=((4,), (16,)), code="sanitize-bounds")


@triton.jit
def describe(x_ptr, out_ptr, rows):
    x = tl.make_tensor_descriptor(x_ptr, (rows, 8), (8, 1), (4, 8))
    offsets = tl.arange(0, 4)[:, None] * 8 + tl.arange(0, 8)[None, :]
    tl.store(out_ptr + offsets, x.load((4, 0)))


def test_a_descriptor_larger_than_its_tensor(device):
    report = fault(describe, (1,), ramp(6, 8), ramp(4, 8), 7, sanitize="bounds", device=device)
    expect(report, describe, "x.load(", "element 48 of `x_ptr`", program=(0, 0, 0), tile=((2, 0), (4, 8)), code="sanitize-bounds")


@triton.jit
def either(x_ptr, y_ptr, out_ptr, takes_x):
    pointer = x_ptr if takes_x else y_ptr
    tl.store(out_ptr, tl.load(pointer + 5))


def test_one_of_two_tensors(device):
    report = fault(either, (1,), ramp(8), ramp(2), ramp(1), False, sanitize="bounds", device=device)
    expect(report, either, "tl.load(pointer", "is read", program=(0, 0, 0), code="sanitize-bounds")
    check(either, (1,), dict(x_ptr=ramp(8), y_ptr=ramp(2), out_ptr=ramp(1), takes_x=True),
          dict(out_ptr=ramp(8)[5:6]), device=device)  # fmt: skip


@pytest.mark.parametrize("step", [1, -1, 3])
def test_views_of_any_stride_are_fine(step, device):
    if device != "cpu":
        pytest.skip("the sanitizer runs on the CPU")
    x, out = ramp(300)[::step], np.zeros(100, np.float32)
    strided[(2,)](x, out, step, 100 if abs(step) == 3 else 99, 64, sanitize="bounds,uninit,overflow,nan")
    want = x[:100].copy()
    want[100 if abs(step) == 3 else 99 :] = 0
    assert (out == want).all()


@triton.jit
def strided(x_ptr, out_ptr, step, n, BLOCK: tl.constexpr):
    offsets = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + offsets, tl.load(x_ptr + offsets * step, offsets < n), offsets < n)
