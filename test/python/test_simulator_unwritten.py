"""`TRITON_SANITIZE=uninit` on simulated GPUs: reads of global memory that nobody has written."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from triton.backends.sim.driver import SimDriver
from triton.runtime import driver
from triton.runtime.errors import SanitizerError
from triton.sanitizer import mark_unwritten
from triton.tools.ptx import run_ptx


@pytest.fixture(params=["sim:90", "sim:80", "sim:gfx942"])
def simulator(request):
    driver.set_active(SimDriver(request.param))
    yield request.param
    driver.reset_active()


@triton.jit
def copied(x_ptr, out_ptr):
    at = tl.arange(0, 64)
    tl.store(out_ptr + at, tl.load(x_ptr + at) * 2)


@triton.jit
def accumulated(x_ptr, out_ptr):
    at = tl.arange(0, 64)
    tl.store(x_ptr + at, tl.load(x_ptr + at) + tl.load(out_ptr + at))


@triton.jit
def updated(x_ptr, out_ptr):
    tl.atomic_add(x_ptr + tl.arange(0, 64), 1)


@triton.jit
def reduced(x_ptr, out_ptr):
    tl.store(out_ptr, tl.sum(tl.load(x_ptr + tl.arange(0, 64)), 0))


@triton.jit
def in_a_loop(x_ptr, out_ptr):
    at, total = tl.arange(0, 16), tl.zeros((16,), tl.float32)
    for block in range(4):
        total += tl.load(x_ptr + block * 16 + at)
    tl.store(out_ptr + at, total)


@triton.jit
def described(x_ptr, out_ptr):
    x = tl.make_tensor_descriptor(x_ptr, [8, 8], [8, 1], [8, 8])
    at = tl.arange(0, 8)
    tl.store(out_ptr + at[:, None] * 8 + at[None, :], x.load([0, 0]) + 1)


@triton.jit
def as_an_index(x_ptr, out_ptr):
    at = tl.arange(0, 64)
    tl.store(out_ptr + at, tl.load(out_ptr + tl.load(x_ptr + at) % 64))


@triton.jit
def as_a_condition(x_ptr, out_ptr):
    if tl.load(x_ptr + 60) > 1:
        tl.store(out_ptr, 1)


@triton.jit
def multiplied(x_ptr, out_ptr):
    at = tl.arange(0, 16)
    tile = at[:, None] * 16 + at[None, :]
    x = tl.load(x_ptr + tile % 64)
    tl.store(out_ptr + tile % 64, tl.dot(x, x))


KINDS = [
    (copied, np.float32), (copied, np.float16), (copied, np.int64), (accumulated, np.float32), (updated, np.int32),
    (reduced, np.float32), (reduced, np.int32), (in_a_loop, np.float32), (described, np.float32),
    (as_an_index, np.int32), (as_a_condition, np.int32), (multiplied, np.float16),
]  # fmt: skip


@pytest.mark.parametrize("kernel, dtype", KINDS, ids=lambda item: item.__name__)
def test_new_memory_that_is_read(kernel, dtype, simulator):
    x = mark_unwritten(np.empty(64, dtype))
    x[:56] = 3
    with pytest.raises(
        SanitizerError,
        match=r"(element 5[6-9]|element 6[0-3]|global memory).*nothing has been written there",
    ):
        kernel[(1,)](
            x, np.zeros(64, np.float32 if kernel is multiplied else dtype), sanitize="uninit"
        )


def test_the_environment_asks_for_checks(simulator, monkeypatch):
    monkeypatch.setenv("TRITON_SANITIZE", "uninit")
    with pytest.raises(
        SanitizerError, match="element 0 of `x_ptr`.*nothing has been written there"
    ):
        copied[(1,)](mark_unwritten(np.empty(64, np.float32)), np.zeros(64, np.float32))


@triton.jit
def filled(x_ptr, value, N: tl.constexpr):
    at = tl.arange(0, 64)
    tl.store(x_ptr + at, at * 0 + value, mask=at < N)


@pytest.mark.parametrize("value", [5, 2**31 - 1])
def test_what_a_checked_kernel_has_stored_is_written(value, simulator):
    x, out = mark_unwritten(np.empty(64, np.int32)), np.zeros(64, np.int32)
    filled[(1,)](x, value, 64, sanitize="uninit")
    copied[(1,)](x, out, sanitize="uninit")
    assert (out == np.int64(value * 2).astype(np.int32)).all()
    x = mark_unwritten(np.empty(64, np.int32))
    filled[(1,)](x, value, 32, sanitize="uninit")
    with pytest.raises(
        SanitizerError, match=r"element \d+ of `x_ptr`.* is read; nothing has been written there"
    ):
        copied[(1,)](x, out, sanitize="uninit")


@triton.jit
def masked(x_ptr, out_ptr, n):
    at = tl.arange(0, 64)
    tl.store(out_ptr + at, tl.load(x_ptr + at, mask=at < n, other=0), mask=at < n)


def test_masked_lanes_and_overwritten_elements_are_not_read(simulator):
    x, out = mark_unwritten(np.empty(64, np.float32)), mark_unwritten(np.empty(64, np.float32))
    x[:48] = 1
    masked[(1,)](x, out, 48, sanitize="uninit")
    assert (out[:48] == 1).all()


@triton.jit
def rows(x_ptr, out_ptr, stride, COLUMNS: tl.constexpr):
    at = tl.program_id(0) * stride + tl.arange(0, COLUMNS)
    tl.store(out_ptr + at, tl.load(x_ptr + at) + tl.load(out_ptr + at))


def test_a_strided_view(simulator):
    whole = mark_unwritten(np.empty((4, 32), np.float32))
    view, x = whole[:, ::2], np.ones((4, 32), np.float32)
    view[:] = 2
    rows[(4,)](view, x, 32, 1, sanitize="uninit")
    with pytest.raises(
        SanitizerError, match=r"element \d*[13579] of `x_ptr`, at byte \d+, is read"
    ):
        rows[(4,)](view, x, 32, 16, sanitize="uninit")


@triton.jit
def swapped(lock_ptr, out_ptr, HOW: tl.constexpr):
    if HOW == "xchg":
        tl.store(out_ptr, tl.atomic_xchg(lock_ptr, 1))
    else:
        tl.store(out_ptr, tl.atomic_cas(lock_ptr, 0, 1))


def test_a_lock_that_nobody_has_set_to_zero(simulator):
    out = np.zeros(1, np.int32)
    with pytest.raises(SanitizerError, match="element 0 of `lock_ptr`, at byte 0, is updated"):
        swapped[(1,)](mark_unwritten(np.empty(1, np.int32)), out, "cas", sanitize="uninit")
    lock = mark_unwritten(np.empty(1, np.int32))
    swapped[(1,)](lock, out, "xchg", sanitize="uninit")  # whatever it was
    swapped[(1,)](lock, out, "cas", sanitize="uninit")
    assert lock == out == 1


@triton.jit
def by_descriptors(x_ptr, out_ptr, m, n, R: tl.constexpr, C: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, [m, n], [n, 1], [R, C])
    out = tl.make_tensor_descriptor(out_ptr, [m, n], [n, 1], [R, C])
    out.store([0, 0], x.load([0, 0]))


def test_boxes_read_what_is_inside(simulator):
    x, out, again = (mark_unwritten(np.empty((12, 20), np.float32)) for _ in range(3))
    x[:] = 1
    x[3, 5] = np.nan
    with pytest.raises(SanitizerError, match="element 65 of `x_ptr`, at byte 260, is read"):
        by_descriptors[(1,)](x, out, 12, 20, 16, 32, sanitize="uninit")
    x[3, 5] = 2
    by_descriptors[(1,)](x, out, 12, 20, 16, 32, sanitize="uninit")
    by_descriptors[(1,)](out, again, 12, 20, 16, 32, sanitize="uninit")
    assert (again == x).all()


def test_boxes_of_stored_patterns_are_written(simulator):
    x, out = np.full((16, 32), 2**31 - 1, np.int32), mark_unwritten(np.empty((16, 32), np.int32))
    by_descriptors[(1,)](x, out, 16, 32, 16, 32, sanitize="uninit")
    by_descriptors[(1,)](out, x, 16, 32, 16, 32, sanitize="uninit")


@triton.jit
def handed_over(between_ptr, ready_ptr, out_ptr):
    at = tl.arange(0, 32)
    if tl.program_id(0) == 0:
        tl.store(between_ptr + at, 2**31 - 1)
        tl.debug_barrier()
        tl.atomic_xchg(ready_ptr, 1)
    else:
        while tl.atomic_add(ready_ptr, 0) == 0:
            pass
        tl.store(out_ptr + at, tl.load(between_ptr + at))


def test_what_another_program_has_stored_is_written(simulator):
    out = np.zeros(32, np.int32)
    handed_over[(2,)](
        mark_unwritten(np.empty(32, np.int32)), np.zeros(1, np.int32), out, sanitize="uninit"
    )
    assert (out == 2**31 - 1).all()


@pytest.fixture
def torch():
    module = pytest.importorskip("torch")
    module.use_deterministic_algorithms(True)
    yield module
    module.use_deterministic_algorithms(False)


@triton.jit
def half_of_each(out_ptr, value, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out_ptr + at, at * 0 + value, mask=tl.arange(0, BLOCK) < BLOCK // 2)


@triton.jit
def summed(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out_ptr, tl.sum(tl.load(x_ptr + at, mask=at < n, other=0)))


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16", "int32", "int64"])
def test_outputs_that_kernels_write_in_part(dtype, torch, simulator):
    dtype = getattr(torch, dtype)
    x, out = torch.empty(128, dtype=dtype), torch.empty(1, dtype=dtype)
    half_of_each[(4,)](x, 1, 32, sanitize="uninit")
    summed[(1,)](x, out, 16, 128, sanitize="uninit")
    assert out.item() == 16
    for full in (
        x,
        torch.empty_like(x),
        x.new_empty(128),
        torch.empty_strided((128,), (1,), dtype=dtype),
    ):
        with pytest.raises(
            SanitizerError, match=r"element (0|16) of `x_ptr`.*nothing has been written there"
        ):
            summed[(1,)](full, out, 128, 128, sanitize="uninit")
    summed[(1,)](torch.zeros(128, dtype=dtype), out, 128, 128, sanitize="uninit")
    summed[(1,)](
        torch.empty(128, dtype=dtype).copy_(torch.ones(128)), out, 128, 128, sanitize="uninit"
    )
    assert out.item() == 128


def test_memory_that_is_freed_and_allocated_again(torch, simulator):
    """What a kernel has stored in it before counts no more, even if it is what new memory is filled with."""
    memory, out = bytearray(4096), torch.empty(1, dtype=torch.int32)
    x = torch.frombuffer(memory, dtype=torch.int32)
    half_of_each[(1,)](x, 2**31 - 1, 128, sanitize="uninit")
    x = x[:]  # as long as a view stands, the memory is not freed
    summed[(1,)](x, out, 64, 64, sanitize="uninit")
    assert out.item() == -64
    del x
    x = torch.frombuffer(memory, dtype=torch.int32)
    with pytest.raises(SanitizerError, match="element 0 of `x_ptr`, at byte 0, is read"):
        summed[(1,)](x, out, 64, 64, sanitize="uninit")


def test_memory_of_a_marked_array_becomes_that_of_a_tensor(torch, simulator):
    memory, out = bytearray(4096), torch.empty(1, dtype=torch.int32)
    array = mark_unwritten(np.frombuffer(memory, np.int32))
    half_of_each[(1,)](array, 2**31 - 1, 128, sanitize="uninit")
    summed[(1,)](array, out, 64, 64, sanitize="uninit")
    del array
    x = torch.frombuffer(memory, dtype=torch.int32)
    with pytest.raises(SanitizerError, match="element 0 of `x_ptr`, at byte 0, is read"):
        summed[(1,)](x, out, 64, 64, sanitize="uninit")


def test_ptx_of_any_compiler():
    ptx = (
        ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry copy(.param .u64 from, .param .u64 to)\n"
        ".reqntid 32, 1, 1\n{\n.reg .b64 %rd<3>;\n.reg .b32 %r<2>;\nld.param.u64 %rd1, [from];\n"
        "ld.param.u64 %rd2, [to];\nld.global.b32 %r1, [%rd1+4];\nst.global.b32 [%rd2], %r1;\nret;\n}\n"
    )
    x, out = mark_unwritten(np.empty(2, np.int32)), np.zeros(1, np.int32)
    x[0] = 1
    with pytest.raises(
        SanitizerError, match="element 1 of `from`, at byte 4, is read; nothing has been written"
    ):
        run_ptx(ptx, (1,), (x, out), sanitize="uninit")
    run_ptx(ptx, (1,), (x, out))
