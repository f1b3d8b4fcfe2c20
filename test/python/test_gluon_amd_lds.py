"""Gluon's copies to LDS on AMD's GPUs: padded buffers, waits, a matmul with two buffers; on simulated GPUs against NumPy."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
from _simulators import simulators
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.amd import cdna4
from triton.experimental.gluon.language.amd.cdna4 import async_copy
from triton.runtime.errors import SanitizerError

newest = simulators("sim:gfx950")
BLOCKED = gl.BlockedLayout([1, 1], [8, 8], [4, 1], [1, 0])
SHARED = gl.SwizzledSharedLayout(1, 1, 1, [1, 0])


def numbers(*shape, dtype=np.float32, seed=1):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


# --- copies to LDS -----------------------------------------------------------------------------


@gluon.jit
def through_lds(
    x, out, n, BUFFER: gl.constexpr, OTHER: gl.constexpr, layout: gl.constexpr, shared: gl.constexpr
):
    smem = gl.allocate_shared_memory(x.dtype.element_ty, [64, 32], shared)
    rows, columns = (
        gl.arange(0, 64, gl.SliceLayout(1, layout)),
        gl.arange(0, 32, gl.SliceLayout(0, layout)),
    )
    offsets = rows[:, None] * 32 + columns[None, :]
    mask = (rows < n)[:, None] & (columns < 32)[None, :]
    if BUFFER:
        async_copy.buffer_load_to_shared(smem, x, offsets, mask, OTHER)
    else:
        async_copy.global_load_to_shared(smem, x + offsets, mask, OTHER)
    async_copy.commit_group()
    async_copy.wait_group(0)
    gl.store(out + offsets, async_copy.load_shared_relaxed(smem, layout))


@pytest.mark.parametrize("buffer", [True, False])
@pytest.mark.parametrize("other", [None, 0.0, 3.0])
@pytest.mark.parametrize("rows", [64, 50])
def test_copies_to_lds(newest, buffer, other, rows):
    x, out = numbers(64, 32), np.zeros((64, 32), np.float32)
    layout = gl.BlockedLayout([1, 4], [8, 8], [4, 1], [1, 0])
    kernel = through_lds[(1,)](
        x, out, rows, buffer, other, layout, gl.SwizzledSharedLayout(1, 1, 1, [1, 0])
    )
    expected = np.where(np.arange(64)[:, None] < rows, x, other or 0)
    np.testing.assert_array_equal(out, expected)
    name = "raw.ptr.buffer.load.lds" if buffer else "global.load.lds"
    assert name in kernel.asm["llir"]


# --- errors ------------------------------------------------------------------------------------


@gluon.jit
def wrong_copy(x, CASE: gl.constexpr, blocked: gl.constexpr, shared: gl.constexpr):
    rows, columns = (
        gl.arange(0, 64, gl.SliceLayout(1, blocked)),
        gl.arange(0, 64, gl.SliceLayout(0, blocked)),
    )
    at = rows[:, None] * 64 + columns[None, :]
    if CASE == "copy-shape":
        async_copy.buffer_load_to_shared(
            gl.allocate_shared_memory(gl.float32, [64, 32], shared), x, at
        )
    else:
        async_copy.global_load_to_shared(
            gl.allocate_shared_memory(gl.float16, [64, 64], shared), x + at
        )


@pytest.mark.parametrize("case", ["copy-shape", "copy-type"])
def test_copies_that_do_not_fit(newest, case):
    with pytest.raises(triton.CompilationError) as caught:
        wrong_copy[(1,)](np.zeros((64, 64), np.float32), case, BLOCKED, SHARED)
    assert caught.value.diagnostics[0].code == case


def test_layouts_of_scales_and_padded_ones():
    layout = gl.DotOperandLayout(0, gl.amd.AMDMFMALayout(4, [16, 16, 32], True, [2, 2]), 8)
    scales = cdna4.get_mfma_scale_layout(layout, [32, 8])
    assert isinstance(scales, gl.DistributedLinearLayout) and scales.shape == [32, 8]
    padded = cdna4.compute_efficient_padded_shared_layout(layout, [128, 64], gl.float16)
    assert padded.interval_padding_pairs == [[512, 8]]
    assert cdna4.compute_efficient_padded_shared_layout(layout, [16, 16], gl.float16) is None
    with pytest.raises(ValueError, match="scale_factor must be 32 on gfx950, got 16"):
        cdna4.get_mfma_scale_layout(layout, [32, 8], 16)
    with pytest.raises(ValueError, match="expected a DotOperandLayout of an AMDMFMALayout"):
        cdna4.get_mfma_scale_layout(BLOCKED, [32, 8])


# --- a matmul of one's own ---------------------------------------------------------------------


@gluon.jit
def matmul(
    a_ptr, b_ptr, c_ptr, K, N, BM: gl.constexpr, BN: gl.constexpr, BK: gl.constexpr, acc_layout: gl.constexpr,
    load_a: gl.constexpr, load_b: gl.constexpr, shared_a: gl.constexpr, shared_b: gl.constexpr, PENDING: gl.constexpr,
):  # fmt: skip
    """Two buffers in LDS: the tiles of the next step are copied while this one is multiplied."""
    left: gl.constexpr = gl.DotOperandLayout(0, acc_layout, 8)
    right: gl.constexpr = gl.DotOperandLayout(1, acc_layout, 8)
    a_smem = gl.allocate_shared_memory(a_ptr.dtype.element_ty, [2, BM, BK], shared_a)
    b_smem = gl.allocate_shared_memory(b_ptr.dtype.element_ty, [2, BK, BN], shared_b)
    rows = gl.program_id(0) * BM + gl.arange(0, BM, gl.SliceLayout(1, load_a))
    columns = gl.program_id(1) * BN + gl.arange(0, BN, gl.SliceLayout(0, load_b))
    a_at = rows[:, None] * K + gl.arange(0, BK, gl.SliceLayout(0, load_a))[None, :]
    b_at = gl.arange(0, BK, gl.SliceLayout(1, load_b))[:, None] * N + columns[None, :]
    async_copy.buffer_load_to_shared(a_smem.index(0), a_ptr, a_at)
    async_copy.buffer_load_to_shared(b_smem.index(0), b_ptr, b_at)
    async_copy.commit_group()
    acc = gl.zeros([BM, BN], gl.float32, acc_layout)
    for step in range(K // BK - 1):
        a_at += BK
        b_at += BK * N
        async_copy.buffer_load_to_shared(a_smem.index((step + 1) % 2), a_ptr, a_at)
        async_copy.buffer_load_to_shared(b_smem.index((step + 1) % 2), b_ptr, b_at)
        async_copy.commit_group()
        async_copy.wait_group(PENDING)
        a = async_copy.load_shared_relaxed(a_smem.index(step % 2), left)
        b = async_copy.load_shared_relaxed(b_smem.index(step % 2), right)
        acc = cdna4.mfma(a, b, acc)
    async_copy.wait_group(0)
    last = (K // BK - 1) % 2
    a = async_copy.load_shared_relaxed(a_smem.index(last), left)
    b = async_copy.load_shared_relaxed(b_smem.index(last), right)
    acc = cdna4.mfma(a, b, acc)
    m = gl.program_id(0) * BM + gl.arange(0, BM, gl.SliceLayout(1, acc_layout))
    n = gl.program_id(1) * BN + gl.arange(0, BN, gl.SliceLayout(0, acc_layout))
    cdna4.buffer_store(acc, c_ptr, m[:, None] * N + n[None, :])


def order_of(shared):
    """The layout in which lanes, then waves, hold vectors of 8 elements that follow one another in a padded buffer."""
    bases = shared.offset_bases
    return gl.DistributedLinearLayout(
        bases[:3] + bases[11:], bases[3:9], bases[9:11], [], shared.shape
    )


def launch_matmul(pending, **options):
    layout = gl.amd.AMDMFMALayout(4, [16, 16, 32], True, [2, 2])
    a, b = (gl.DotOperandLayout(index, layout, 8) for index in (0, 1))
    shared_a = cdna4.compute_efficient_padded_shared_layout(a, [64, 64], gl.float16)
    shared_b = cdna4.compute_efficient_padded_shared_layout(
        b, [64, 64], gl.float16, is_k_contig=False
    )
    x, y = numbers(128, 256, dtype=np.float16), numbers(256, 64, dtype=np.float16, seed=2)
    out = np.zeros((128, 64), np.float32)
    kernel = matmul[(2, 1)](
        x, y, out, 256, 64, 64, 64, 64, layout, order_of(shared_a), order_of(shared_b), shared_a, shared_b, pending,
        **options,
    )  # fmt: skip
    np.testing.assert_allclose(
        out, x.astype(np.float64) @ y.astype(np.float64), rtol=1e-4, atol=1e-4
    )
    return kernel


def test_matmul_with_two_buffers(newest):
    kernel = launch_matmul(1, sanitize="race,uninit,sync")
    assert kernel.asm["llir"].count("raw.ptr.buffer.load.lds") > 4


def test_a_wait_that_leaves_too_many_pending_is_a_race(newest):
    with pytest.raises(SanitizerError) as caught:
        launch_matmul(2, sanitize="race")
    assert "race in shared memory" in str(caught.value)
    assert "async_copy.buffer_load_to_shared(" in str(caught.value)
