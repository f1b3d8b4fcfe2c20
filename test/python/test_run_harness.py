"""The harness of the run-tests: `check` finds wrong results, and a GPU gets memory with views and alignment."""
# SPDX-License-Identifier: MIT

import os
import sys

import numpy as np
import pytest
import triton
import triton.language as tl

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(__file__)), "run"))

from harness import BFloat16, check, launch  # noqa: E402


@triton.jit
def fill(out_ptr, start, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + start + i, 1, mask=i < n)


def check_fill(start, n, expected):
    arguments = dict(out_ptr=np.zeros(8, np.int32), start=start, n=n, BLOCK=16)
    check(fill, (1,), arguments, expected)


def test_right_results_pass():
    check_fill(0, 8, dict(out_ptr=np.ones(8, np.int32)))


def test_wrong_elements_are_named():
    with pytest.raises(AssertionError, match=r"`out_ptr` differs at 2 of 8 places, first at \(6,\)"):
        check_fill(0, 6, dict(out_ptr=np.ones(8, np.int32)))


@pytest.mark.parametrize("start, n", [(-1, 9), (0, 9), (40, 1)])
def test_writes_outside_are_seen(start, n):
    with pytest.raises(AssertionError, match="the kernel wrote outside of `out_ptr`"):
        check_fill(start, n, dict(out_ptr=np.ones(8, np.int32)))


def test_arrays_that_nobody_expects_to_change_may_not():
    with pytest.raises(AssertionError, match="`out_ptr` differs"):
        check_fill(0, 1, {})


def test_a_misspelt_expectation_is_an_error():
    with pytest.raises(AssertionError, match="no such argument: out"):
        check_fill(0, 8, dict(out=np.ones(8, np.int32)))


# --- Copies on a device, here torch's memory on the CPU -------------------------------------------


@pytest.fixture
def copies():
    pytest.importorskip("torch")
    from _gpu import DeviceCopies

    return DeviceCopies("cpu")


def test_views_of_one_memory_stay_so(copies):
    memory = np.arange(100, dtype=np.int32)
    first, second = copies.argument(memory[3:]), copies.argument(memory[10:20])
    assert second.data_ptr() - first.data_ptr() == 7 * 4
    assert first.data_ptr() not in range(memory.ctypes.data, memory.ctypes.data + memory.nbytes)
    assert second.tolist() == list(range(10, 20))
    second += 1000
    assert first[7:17].tolist() == list(range(1010, 1020))
    assert memory[10] == 10
    copies.bring_back()
    assert memory[9:21].tolist() == [9, *range(1010, 1020), 20]


@pytest.mark.parametrize("offset", [0, 1, 3, 4, 7, 16])
def test_addresses_keep_their_alignment(copies, offset):
    array = np.zeros(64, np.float32)[offset:]
    assert copies.argument(array).data_ptr() % 64 == array.ctypes.data % 64


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "uint32", "uint64", "float16", "float64"])
def test_types_stay(copies, dtype):
    array = np.ones(5, dtype)
    assert str(copies.argument(array).dtype) == f"torch.{dtype}"
    assert copies.argument(array).nbytes == array.nbytes


def test_bfloat16(copies):
    array = BFloat16(np.array([1.5, -2.0]))
    assert str(copies.argument(array).dtype) == "torch.bfloat16"
    assert copies.argument(array).tolist() == [1.5, -2.0]


def test_what_is_no_array_is_passed_as_it_is(copies):
    for value in (5, 2.5, None, "text", tl.float32):
        assert copies.argument(value) is value
    assert copies.argument((1, 2)) == (1, 2)


def test_launches_on_the_cpu_take_the_arrays_themselves():
    out = np.zeros(20, np.int32)
    assert launch(fill, (1,), out[4:], 0, 3, BLOCK=16, device="cpu")
    assert out.tolist() == [0] * 4 + [1] * 3 + [0] * 13
