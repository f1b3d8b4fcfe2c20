"""Dots that may read rows of their left operand from memory: where a copy is still needed, and stores in between."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from harness import launch

ROWS, COLUMNS, DEPTH = 16, 64, 32


@triton.jit
def wrapped(
    a_ptr, b_ptr, c_ptr, m, k, a_row, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr, ALL: tl.constexpr
):  # fmt: skip
    """Rows taken modulo the height, the last iteration masked, and an additional elementwise mask."""
    rows = (tl.program_id(0) * M + tl.arange(0, M)) % m
    depth = tl.arange(0, K)
    j = tl.arange(0, N)
    acc = tl.zeros((M, N), tl.float32)
    for start in range(0, k, K):
        inside = depth + start < k
        mask = inside[None, :] if ALL else inside[None, :] & (rows[:, None] != 2)
        a = tl.load(a_ptr + rows[:, None] * a_row + (start + depth)[None, :], mask=mask, other=1.0)
        b = tl.load(b_ptr + (start + depth)[:, None] * N + j[None, :], mask=inside[:, None], other=0.0)
        acc = tl.dot(a, b, acc)
    i = tl.program_id(0) * M + tl.arange(0, M)
    tl.store(c_ptr + i[:, None] * N + j[None, :], acc)


@pytest.mark.parametrize("seen_whole", [True, False])
@pytest.mark.parametrize("height", [1, 15, 16, 33, 48])
@pytest.mark.parametrize("depth", [1, 31, 32, 64, 95])
@pytest.mark.parametrize("pitch", [0, 5, -101])
def test_rows_that_wrap_and_turns_that_are_cut_off(height, depth, pitch, seen_whole, device):
    numbers = np.random.default_rng(height * depth)
    programs = 3
    stride = pitch if pitch < 0 else depth + pitch
    memory = numbers.integers(-8, 8, 8192).astype(np.float32)
    first = 6000 if stride < 0 else 1
    b = numbers.integers(-8, 8, (depth, COLUMNS)).astype(np.float32)
    c = np.zeros((programs * ROWS, COLUMNS), np.float32)
    arguments = (memory[first:], b, c, height, depth, stride)
    extents = dict(M=ROWS, N=COLUMNS, K=DEPTH, ALL=seen_whole)
    if not launch(wrapped, (programs,), *arguments, **extents, device=device):
        return
    rows = np.arange(programs * ROWS) % height
    a = memory[first + rows[:, None] * stride + np.arange(depth)[None, :]]
    if not seen_whole:
        a[rows == 2] = 1
    np.testing.assert_array_equal(c, a @ b)


@triton.jit
def overwritten(a_ptr, b_ptr, c_ptr, out_ptr, K: tl.constexpr, M: tl.constexpr, N: tl.constexpr, HAS_ATOMIC: tl.constexpr):
    """The left operand's memory changes between its load and the dot, and again after the dot."""
    i = tl.arange(0, M)
    k = tl.arange(0, K)
    j = tl.arange(0, N)
    for iteration in range(3):
        pointers = a_ptr + i[:, None] * K + k[None, :]
        a = tl.load(pointers)
        b = tl.load(b_ptr + k[:, None] * N + j[None, :])
        tl.debug_barrier()
        if HAS_ATOMIC:
            tl.atomic_add(pointers, 1.0)
        else:
            tl.store(out_ptr + i[:, None] * K + k[None, :], a + 1)
        tl.debug_barrier()
        c = tl.dot(a, b)
        tl.debug_barrier()
        tl.store(c_ptr + iteration * M * N + i[:, None] * N + j[None, :], c)
        tl.debug_barrier()


@pytest.mark.parametrize("distance, has_atomic", [(0, False), (1, False), (16, False), (0, True)])
def test_stores_between_the_load_and_the_dot(distance, has_atomic, device):
    numbers = np.random.default_rng(distance)
    memory = numbers.integers(-8, 8, 1024).astype(np.float32)
    b = numbers.integers(-8, 8, (DEPTH, COLUMNS)).astype(np.float32)
    c = np.zeros((3, ROWS, COLUMNS), np.float32)
    ours = memory.copy()
    arguments = (ours, b, c, ours[distance:], DEPTH, ROWS, COLUMNS, has_atomic)
    if not launch(overwritten, (1,), *arguments, device=device):
        return
    size = ROWS * DEPTH
    for iteration in range(3):
        a = memory[:size].reshape(ROWS, DEPTH).copy()
        np.testing.assert_array_equal(c[iteration], a @ b)
        memory[distance : distance + size] = (a + 1).reshape(-1)
    np.testing.assert_array_equal(ours, memory)


@triton.jit
def by_type(a_ptr, b_ptr, c_ptr, a_row, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    i = tl.arange(0, M)
    j = tl.arange(0, N)
    k = tl.arange(0, K)
    a = tl.load(a_ptr + i[:, None] * a_row + k[None, :])
    b = tl.load(b_ptr + k[:, None] * N + j[None, :])
    tl.store(c_ptr + i[:, None] * N + j[None, :], tl.dot(a, b))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(1, 32, 1), (4, 64, 8), (64, 256, 4), (128, 32, 64), (5, 48, 12)])
def test_shapes_and_types(dtype, shape, device):
    m, n, k = shape
    numbers = np.random.default_rng(m)
    a = numbers.integers(-8, 8, (m, k + 3)).astype(dtype)
    b = numbers.integers(-8, 8, (k, n)).astype(dtype)
    c = np.zeros((m, n), dtype)
    if not launch(by_type, (1,), a, b, c, k + 3, m, n, k, device=device):
        return
    np.testing.assert_array_equal(c, a[:, :k] @ b)
