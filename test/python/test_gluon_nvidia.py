"""Gluon on NVIDIA GPUs: barriers, matrix instructions, roles of warps; on simulated GPUs."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
from _simulators import simulators
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.nvidia.ampere import mma_v2
from triton.experimental.gluon.language.nvidia.hopper import mbarrier

hopper = simulators("sim:90")
ampere = simulators("sim:80", "sim:90")

ROWS = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])


def numbers(*shape, dtype=np.float32):
    return np.random.default_rng(1).standard_normal(shape).astype(dtype)


# --- matrix instructions -----------------------------------------------------------------------


@gluon.jit
def multiply_by_warps(a, b, out, SIZE: gl.constexpr, load: gl.constexpr, mma: gl.constexpr):
    rows = gl.arange(0, SIZE, gl.SliceLayout(1, load))
    columns = gl.arange(0, SIZE, gl.SliceLayout(0, load))
    places = rows[:, None] * SIZE + columns[None, :]
    left = gl.convert_layout(gl.load(a + places), gl.DotOperandLayout(0, mma, 2))
    right = gl.convert_layout(gl.load(b + places), gl.DotOperandLayout(1, mma, 2))
    total = mma_v2(left, right, gl.zeros([SIZE, SIZE], gl.float32, mma))
    gl.store(out + places, gl.convert_layout(total, load))


def test_mma_of_warps(ampere):
    a, b = numbers(32, 32, dtype=np.float16), numbers(32, 32, dtype=np.float16)
    out = np.zeros((32, 32), np.float32)
    mma = gl.NVMMADistributedLayout(version=[2, 0], warps_per_cta=[2, 2], instr_shape=[16, 8])
    multiply_by_warps[(1,)](a, b, out, 32, ROWS, mma)
    np.testing.assert_allclose(
        out, a.astype(np.float32) @ b.astype(np.float32), rtol=1e-3, atol=1e-3
    )


# --- roles of warps ----------------------------------------------------------------------------


@gluon.jit
def write(out, first, SIZE: gl.constexpr, layout: gl.constexpr):
    places = gl.arange(0, SIZE, layout)
    gl.store(out + first + places, places)


@gluon.jit
def roles_in_a_loop(out, rounds, SIZE: gl.constexpr, four: gl.constexpr, one: gl.constexpr):
    for i in range(rounds):
        gl.warp_specialize(
            [
                (write, (out, 2 * i * SIZE, SIZE, four)),
                (write, (out, (2 * i + 1) * SIZE, SIZE, one)),
            ],
            [1],
        )


def test_roles_in_a_loop(hopper):
    out = np.zeros(6 * 64, np.int32)
    four, one = gl.BlockedLayout([1], [32], [4], [0]), gl.BlockedLayout([1], [32], [1], [0])
    roles_in_a_loop[(1,)](out, 3, 64, four, one)
    np.testing.assert_array_equal(out, np.tile(np.arange(64), 6))


# --- errors ------------------------------------------------------------------------------------


@gluon.jit
def wait_for_all(x):
    barriers = mbarrier.allocate_mbarrier(batch=2)
    mbarrier.init(barriers, count=1)
    mbarrier.wait(barriers, 0)


def message(kernel, *args):
    with pytest.raises(triton.CompilationError) as caught:
        kernel[(1,)](*args)
    return str(caught.value)


def test_wait_at_several_barriers(hopper):
    text = message(wait_for_all, np.zeros(4, np.float32))
    assert "mbarrier.wait(barriers, 0)" in text
    assert "selects one of several" in text


@gluon.jit
def count_none(x):
    barrier = mbarrier.allocate_mbarrier()
    mbarrier.init(barrier, count=0)


def test_barrier_without_arrivals(hopper):
    assert "0 arrivals" in message(count_none, np.zeros(4, np.float32))
