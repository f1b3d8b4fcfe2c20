"""Kernels of Gluon with layouts of their own: values on simulated GPUs, stages, errors with the user's line."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from _simulators import simulators
from triton.backends.compiler import GPUTarget
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon._runtime import GluonASTSource
from triton.runtime import driver

simulator = simulators("sim:90", "sim:gfx942")


def warp_size():
    return driver.active.get_current_target().warp_size


def blocked_1d(per_thread=1, warps=4):
    return gl.BlockedLayout([per_thread], [warp_size()], [warps], [0])


def numbers(*shape):
    return np.random.default_rng(1).standard_normal(shape).astype(np.float32)


# --- values ------------------------------------------------------------------------------------


@gluon.jit
def scaled_sum(x, y):
    return x * 2 + y


@gluon.jit
def add_scaled(x, y, out, n, BLOCK: gl.constexpr, layout: gl.constexpr, other: gl.constexpr):
    start = gl.program_id(0) * BLOCK
    offsets = start + gl.arange(0, BLOCK, layout)
    left = gl.load(x + offsets, offsets < n, other=0.0)
    right = gl.load(y + offsets, offsets < n)
    total = gl.convert_layout(scaled_sum(left, right), other)
    places = start + gl.arange(0, BLOCK, other)
    gl.store(out + places, total, places < n)


def test_loads_and_stores_in_two_layouts(simulator):
    n = 1000
    x, y, out = numbers(n), numbers(n) + 1, np.zeros(n, np.float32)
    add_scaled[(4,)](x, y, out, n, 256, blocked_1d(1), blocked_1d(2))
    np.testing.assert_array_equal(out, x * 2 + y)


@gluon.jit
def sum_of_rows(x, out, M: gl.constexpr, N: gl.constexpr, layout: gl.constexpr):
    rows = gl.arange(0, M, gl.SliceLayout(1, layout))
    columns = gl.arange(0, N, gl.SliceLayout(0, layout))
    sums = gl.sum(gl.load(x + rows[:, None] * N + columns[None, :]), axis=1)
    gl.static_assert(sums.type.layout == gl.SliceLayout(1, layout))
    gl.store(out + rows, sums)


def test_a_sum_leaves_a_slice(simulator):
    x, out = numbers(32, 64), np.zeros(32, np.float32)
    layout = gl.BlockedLayout([1, 4], [warp_size() // 8, 8], [4, 1], [1, 0])
    sum_of_rows[(1,)](x, out, 32, 64, layout)
    np.testing.assert_allclose(out, x.sum(1), rtol=1e-5, atol=1e-5)


@gluon.jit
def fill_auto(out, layout: gl.constexpr):
    ones = gl.full([64], 3, gl.int32) + gl.arange(0, 64)
    places = gl.arange(0, 64, layout)
    gl.store(out + places, ones)


def test_auto_layouts_follow_their_uses(simulator):
    out = np.zeros(64, np.int32)
    fill_auto[(1,)](out, blocked_1d())
    np.testing.assert_array_equal(out, np.arange(64) + 3)


@gluon.jit
def loop_of_tiles(x, out, n, layout: gl.constexpr):
    offsets = gl.arange(0, 128, layout)
    total = gl.zeros([128], gl.float32, layout)
    for i in range(n):
        value = gl.load(x + i * 128 + offsets)
        if i % 2 == 0:
            total += value
        else:
            total -= value
    gl.store(out + offsets, total)


def test_loops_and_branches_carry_layouts(simulator):
    x, out = numbers(5, 128), np.zeros(128, np.float32)
    loop_of_tiles[(1,)](x, out, 5, blocked_1d())
    np.testing.assert_allclose(out, x[0] - x[1] + x[2] - x[3] + x[4], rtol=1e-5, atol=1e-5)


# --- stages ------------------------------------------------------------------------------------


def compiled(kernel, signature, constants, target):
    return triton.compile(GluonASTSource(kernel, signature, constants), target=target)


ROWS = {"M": 32, "N": 64, "layout": gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])}


def test_the_first_stage_is_ttgir():
    kernel = compiled(sum_of_rows, {"x": "*fp32", "out": "*fp32"}, ROWS, GPUTarget("cuda", 90, 32))
    text = kernel.asm["ttgir"]
    assert '"ttg.num-warps" = 4 : i32' in text and 'ttg.target = "cuda:90"' in text
    assert "#ttg.slice<{dim = 1, parent = #blocked}>" in text
    assert "ttir" not in kernel.asm
    assert ".target sm_90" in kernel.asm["ptx"]


def test_another_layout_is_another_kernel():
    parts = [{**ROWS}, {**ROWS, "layout": gl.BlockedLayout([1, 1], [4, 8], [4, 1], [1, 0])}]
    kernels = [
        compiled(sum_of_rows, {"x": "*fp32", "out": "*fp32"}, part, GPUTarget("cuda", 90, 32))
        for part in parts
    ]
    assert kernels[0].hash != kernels[1].hash


# --- errors ------------------------------------------------------------------------------------


@gluon.jit
def add_two_layouts(out, layout: gl.constexpr, other: gl.constexpr):
    a = gl.arange(0, 128, layout)
    b = gl.arange(0, 128, other)
    gl.store(out + a, a + b)


def error_of(kernel, signature, constants):
    with pytest.raises(triton.CompilationError) as caught:
        compiled(kernel, signature, constants, GPUTarget("cuda", 90, 32))
    return str(caught.value)


def test_tiles_in_two_layouts_name_both():
    layouts = {
        "layout": gl.BlockedLayout([1], [32], [4], [0]),
        "other": gl.BlockedLayout([2], [32], [4], [0]),
    }
    text = error_of(add_two_layouts, {"out": "*i32"}, layouts)
    assert "BlockedLayout([1], [32], [4], [0]) vs BlockedLayout([2], [32], [4], [0])" in text
    assert "a + b" in text and "convert_layout" in text


def test_a_layout_for_other_warps_is_an_error():
    layout = gl.BlockedLayout([1], [32], [8], [0])
    text = error_of(fill_auto, {"out": "*i32"}, {"layout": layout})
    assert "8 warps" in text and "gl.arange(0, 64, layout)" in text


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        (([3], [32], [4], [0]), "power of two"),
        (([1, 1], [32], [4], [0]), "differ in length"),
        (([1], [32], [4], [1]), "permutation"),
        ((1, [32], [4], [0]), "list of numbers"),
    ],
)
def test_fields_of_a_layout_are_checked(fields, reason):
    with pytest.raises(ValueError, match=reason):
        gl.BlockedLayout(*fields)


@triton.jit
def arange_of_gluon(out):
    tl.store(out + gl.arange(0, 64, gl.BlockedLayout([1], [32], [4], [0])), 1)


def test_a_kernel_of_triton_has_no_layouts():
    with pytest.raises(triton.CompilationError, match=r"gluon\.jit"):
        triton.compile(
            triton.compiler.ASTSource(arange_of_gluon, {"out": "*i32"}), GPUTarget("cuda", 90, 32)
        )


# --- layouts in Python -------------------------------------------------------------------------


def test_layouts_are_equal_by_their_fields():
    a, b = gl.BlockedLayout([1], [32], [4], [0]), gl.BlockedLayout((1,), [32], [4], [0], [])
    assert a == b and hash(a) == hash(b) and a != gl.BlockedLayout([2], [32], [4], [0])
    assert (
        a.rank == 1
        and gl.SliceLayout(0, gl.BlockedLayout([1, 1], [4, 8], [4, 1], [1, 0])).rank == 1
    )


def test_the_language_shares_what_triton_has():
    assert gl.exp is tl.exp and gl.arange is not tl.arange
    with pytest.raises(AttributeError, match="no_such_name"):
        gl.no_such_name  # noqa: B018
