"""Gluon kernels on the CPU: layouts are dropped, what needs warps is an error at its line."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
from triton.experimental import gluon
from triton.experimental.gluon import language as gl

WAVE = gl.BlockedLayout([1, 2], [8, 8], [4, 1], [1, 0])


@gluon.jit
def sums(x, y, n, M: gl.constexpr, N: gl.constexpr, layout: gl.constexpr):
    rows = gl.arange(0, M, gl.SliceLayout(1, layout))
    columns = gl.arange(0, N, gl.SliceLayout(0, layout))
    total = gl.zeros([M], gl.float32, gl.SliceLayout(1, layout))
    for i in range(n):
        tile = gl.load(x + i * M * N + rows[:, None] * N + columns[None, :])
        total += gl.sum(gl.convert_layout(tile, layout), axis=1)
    gl.store(y + rows, total)


def test_layouts_are_dropped():
    x, y = np.arange(3 * 16 * 32, dtype=np.float32).reshape(3, 16, 32), np.zeros(16, np.float32)
    kernel = sums[(1,)](x, y, 3, 16, 32, WAVE)
    np.testing.assert_array_equal(y, x.sum((0, 2)))
    assert "#ttg" not in kernel.asm["ttir"] and "convert_layout" not in kernel.asm["ttir"]


@gluon.jit
def auto(y):
    at = gl.arange(0, 64)
    gl.store(y + at, at * 3 + gl.full([64], 1, gl.int32))


def test_auto_layouts_are_dropped():
    y = np.zeros(64, np.int32)
    auto[(1,)](y)
    np.testing.assert_array_equal(y, np.arange(64) * 3 + 1)


@gluon.jit
def shared(x, layout: gl.constexpr, buffers: gl.constexpr):
    buffer = gl.allocate_shared_memory(gl.float32, [64], buffers)
    at = gl.arange(0, 64, layout)
    buffer.store(gl.load(x + at))
    gl.store(x + at, buffer.load(layout))


def test_what_needs_warps_is_an_error_at_its_line():
    with pytest.raises(
        triton.CompilationError, match="works on the warps and the shared memory"
    ) as caught:
        layout, buffers = (
            gl.BlockedLayout([1], [32], [4], [0]),
            gl.SwizzledSharedLayout(1, 1, 1, [0]),
        )
        shared[(1,)](np.zeros(64, np.float32), layout, buffers)
    assert caught.value.diagnostics[0].code == "needs-warps"
    assert "local_alloc" in str(caught.value)
