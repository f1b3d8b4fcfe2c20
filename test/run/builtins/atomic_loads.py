"""Atomic loads and stores of every number type, and waiting for stores of other programs."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from harness import BFloat16, check, empty_like, launch, values

INTEGERS = ["int32", "uint32", "int64", "uint64"]
NUMBERS = ["bool", "int8", "uint8", "int16", "float16", "bfloat16", *INTEGERS, "float32", "float64"]


@triton.jit
def move(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    mask = i < n
    tl.atomic_store(out_ptr + i, tl.atomic_load(x_ptr + i, mask=mask), mask=mask)
    last = (x_ptr + n).atomic_load(sem="relaxed", scope="sys")
    (out_ptr + n).atomic_store(last, sem="relaxed", scope="cta")


@pytest.mark.parametrize("dtype", NUMBERS)
def test_load_and_store(dtype, device):
    x = values(
        "float32" if dtype == "bfloat16" else dtype,
        16,
        low=0 if dtype.startswith("u") else -9,
        high=9,
    )
    kept = BFloat16 if dtype == "bfloat16" else np.asarray
    expected = np.where(np.arange(16) <= 7, x, np.zeros_like(x))
    arguments = dict(x_ptr=kept(x), out_ptr=kept(np.zeros_like(x)), n=7, BLOCK=16)
    check(move, (1,), arguments, dict(out_ptr=kept(expected)), device=device)


@triton.jit
def move_fp8(x_ptr, out_ptr, BLOCK: tl.constexpr, TYPE: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = (x_ptr + i).to(tl.pointer_type(TYPE), bitcast=True)
    out = (out_ptr + i).to(tl.pointer_type(TYPE), bitcast=True)
    tl.atomic_store(out, tl.atomic_load(x, sem="relaxed"))


@pytest.mark.parametrize("dtype", [tl.float8e5, tl.float8e4b15], ids=str)
def test_eight_bit_floats(dtype, device):
    x = np.arange(8, 72, dtype=np.uint8)
    arguments = dict(x_ptr=x, out_ptr=empty_like(x), BLOCK=64, TYPE=dtype)
    check(move_fp8, (1,), arguments, dict(out_ptr=x), device=device)


@triton.jit
def load_broadcast(x_ptr, out_ptr, n, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    """Each element is read once for all threads that hold a copy; a scalar for the whole program."""
    row = tl.arange(0, ROWS)
    column = tl.arange(0, COLUMNS)
    x = tl.atomic_load(x_ptr + row, mask=row < n)
    base = tl.atomic_load(x_ptr, mask=n > 0, sem="relaxed", scope="cta")
    total = tl.where(row < n, x, 0)[:, None] + column[None, :] + base
    tl.store(out_ptr + row[:, None] * COLUMNS + column[None, :], total)


def test_loads_reach_all_threads(device):
    x = np.arange(5, 21, dtype=np.int32)
    expected = (np.where(np.arange(16) < 9, x, 0)[:, None] + np.arange(32) + 5).astype(np.int32)
    arguments = dict(x_ptr=x, out_ptr=empty_like(expected), n=9, ROWS=16, COLUMNS=32)
    check(load_broadcast, (1,), arguments, dict(out_ptr=expected), device=device)


def test_load_needs_no_writable_memory(device):
    if device.startswith(("cuda", "hip")):
        pytest.skip("a GPU gets copies of arrays")
    x = np.arange(16, dtype=np.int32)
    x.flags.writeable = False
    out = np.zeros_like(x)
    move[(1,)](x, out, 7, BLOCK=16)
    assert (out[:8] == x[:8]).all() and not out[8:].any()


@triton.jit
def poll(x_ptr, found_ptr, wanted, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(found_ptr + i, tl.atomic_poll(x_ptr + i, wanted, timeout_ns=1000))
    tl.store(found_ptr + BLOCK, tl.atomic_poll(x_ptr + wanted, wanted, sem="relaxed", scope="sys"))
    tl.store(found_ptr + BLOCK + 1, (x_ptr + wanted).atomic_poll(0, timeout_ns=wanted))


@pytest.mark.parametrize("dtype", ["int16", "uint16", *INTEGERS])
def test_poll(dtype, device):
    x = np.arange(16).astype(dtype)
    found = np.append(np.arange(16) == 3, [True, False]).astype(np.int32)
    arguments = dict(x_ptr=x, found_ptr=empty_like(found), wanted=3, BLOCK=16)
    check(poll, (1,), arguments, dict(found_ptr=found), device=device)


@triton.jit
def pass_on(flag_ptr, data_ptr, out_ptr):
    """Each program waits for the one before."""
    pid = tl.program_id(0)
    if pid > 0:
        tl.atomic_poll(flag_ptr, pid)
    total = tl.load(data_ptr) + pid
    tl.store(data_ptr, total)
    tl.store(out_ptr + pid, total)
    tl.atomic_store(flag_ptr, pid + 1)


def test_poll_orders(device):
    programs = 20
    out = np.cumsum(np.arange(programs)).astype(np.int32)
    arguments = dict(flag_ptr=np.zeros(1, np.int32), data_ptr=np.zeros(1, np.int32))
    arguments["out_ptr"] = empty_like(out)
    expected = dict(flag_ptr=np.array([programs], np.int32), data_ptr=out[-1:], out_ptr=out)
    check(pass_on, (programs,), arguments, expected, device=device)


@triton.jit
def load_by(x_ptr, SEM: tl.constexpr):
    tl.atomic_load(x_ptr, sem=SEM)


@pytest.mark.parametrize("semantic", ["release", "acq_rel"])
def test_load_does_not_release(semantic, device):
    with pytest.raises(triton.CompilationError, match="only supports acquire and relaxed") as error:
        launch(load_by, (1,), device=device, x_ptr=np.zeros(1, np.int32), SEM=semantic)
    assert "[atomic-one-sided]" in str(error.value)
