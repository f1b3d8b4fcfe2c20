"""Gluon's built-ins for AMD's GPUs: kernels on simulated ones against NumPy, and their errors."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
from _simulators import simulators
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon.language.amd import cdna3, cdna4, rdna3, rdna4
from triton.experimental.gluon.language.amd.cdna4 import async_copy
from triton.runtime import driver

cdna = simulators("sim:gfx942", "sim:gfx950")
newest = simulators("sim:gfx950")
rdna = simulators("sim:gfx1100", "sim:gfx1200")


def numbers(*shape, dtype=np.float32, seed=1):
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def arch():
    return driver.active.get_current_target().arch


# --- buffers -----------------------------------------------------------------------------------


@gluon.jit
def masked_copy(x, out, n, BLOCK: gl.constexpr, layout: gl.constexpr):
    offsets = gl.program_id(0) * BLOCK + gl.arange(0, BLOCK, layout)
    value = cdna3.buffer_load(x, offsets, mask=offsets < n, other=7.0, cache=".ca")
    cdna3.buffer_store(value + 1, out, offsets, mask=offsets < n + 3)


def test_buffers_are_masked(cdna):
    x, out = numbers(500), np.zeros(512, np.float32)
    layout = gl.BlockedLayout([2], [64], [4], [0])
    kernel = masked_copy[(1,)](x, out, 497, 512, layout)
    expected = np.zeros(512, np.float32)
    expected[:497], expected[497:500] = x[:497] + 1, 8
    np.testing.assert_array_equal(out, expected)
    assert "raw.ptr.buffer.load" in kernel.asm["llir"]
    assert "raw.ptr.buffer.store" in kernel.asm["llir"]


@gluon.jit
def beyond(x, out, layout: gl.constexpr):
    offsets = gl.arange(0, 256, layout)
    cdna3.buffer_store(cdna3.buffer_load(x, offsets - 128), out, offsets)


def test_offsets_before_the_buffer_read_zero(cdna):
    x, out = numbers(256), np.ones(256, np.float32)
    beyond[(1,)](x, out, gl.BlockedLayout([1], [64], [4], [0]))
    np.testing.assert_array_equal(out, np.concatenate([np.zeros(128, np.float32), x[:128]]))


@gluon.jit
def count(total, old, KIND: gl.constexpr, layout: gl.constexpr):
    offsets = gl.arange(0, 256, layout)
    value = offsets.to(total.dtype.element_ty)
    if KIND == "add":
        before = cdna3.buffer_atomic_add(
            total, offsets % 8, value, mask=offsets < 200, sem="relaxed"
        )
    elif KIND == "max":
        before = cdna3.buffer_atomic_max(total, offsets % 8, value)
    elif KIND == "xor":
        before = cdna3.buffer_atomic_xor(total, offsets % 8, value, scope="sys")
    else:
        before = cdna3.buffer_atomic_xchg(total, offsets, value)
    cdna3.buffer_store(before, old, offsets)


@pytest.mark.parametrize("kind", ["add", "max", "xor", "xchg"])
def test_atomics(cdna, kind):
    at = np.arange(256)
    total = np.full(256, 3, np.int32)
    old = np.zeros(256, np.int32)
    count[(1,)](total, old, kind, gl.BlockedLayout([1], [64], [4], [0]))
    expected = np.full(256, 3, np.int32)
    for lane in range(8):
        mine = at[at % 8 == lane]
        if kind == "add":
            expected[lane] += mine[mine < 200].sum()
        elif kind == "max":
            expected[lane] = max(3, mine.max())
        elif kind == "xor":
            expected[lane] ^= np.bitwise_xor.reduce(mine)
    np.testing.assert_array_equal(total, at if kind == "xchg" else expected)
    if kind == "xchg":
        np.testing.assert_array_equal(old, np.full(256, 3))


def test_sums_of_floats(cdna):
    total, old = np.zeros(256, np.float32), np.zeros(256, np.float32)
    count[(1,)](total, old, "add", gl.BlockedLayout([1], [64], [4], [0]))
    at = np.arange(200)
    np.testing.assert_array_equal(total[:8], [at[at % 8 == lane].sum() for lane in range(8)])


# --- matrix instructions -----------------------------------------------------------------------


@gluon.jit
def product(
    a_ptr, b_ptr, c_ptr, M: gl.constexpr, N: gl.constexpr, K: gl.constexpr,
    layout: gl.constexpr, k_width: gl.constexpr, blocked: gl.constexpr, KIND: gl.constexpr,
):  # fmt: skip
    rows, columns = (
        gl.arange(0, M, gl.SliceLayout(1, blocked)),
        gl.arange(0, N, gl.SliceLayout(0, blocked)),
    )
    left_k, right_k = (
        gl.arange(0, K, gl.SliceLayout(0, blocked)),
        gl.arange(0, K, gl.SliceLayout(1, blocked)),
    )
    a = gl.load(a_ptr + rows[:, None] * K + left_k[None, :])
    b = gl.load(b_ptr + right_k[:, None] * N + columns[None, :])
    a = gl.convert_layout(a, gl.DotOperandLayout(0, layout, k_width))
    b = gl.convert_layout(b, gl.DotOperandLayout(1, layout, k_width))
    acc = gl.zeros([M, N], c_ptr.dtype.element_ty, layout)
    if KIND == "mfma":
        acc = cdna3.mfma(a, b, acc)
    elif KIND == "rdna3":
        acc = rdna3.wmma(a, b, acc)
    else:
        acc = rdna4.wmma(a, b, acc)
    out_rows, out_columns = (
        gl.arange(0, M, gl.SliceLayout(1, layout)),
        gl.arange(0, N, gl.SliceLayout(0, layout)),
    )
    gl.store(c_ptr + out_rows[:, None] * N + out_columns[None, :], acc)


def run_product(a, b, c, layout, k_width, kind, threads):
    blocked = gl.BlockedLayout([1, 4], [threads // 8, 8], [4, 1], [1, 0])
    return product[(1,)](a, b, c, *c.shape, a.shape[1], layout, k_width, blocked, kind)


SHAPES = {
    "gfx942": [([32, 32, 8], 4), ([16, 16, 16], 4), ([16, 16, 16], 8), ([32, 32], 8)],
    "gfx950": [([32, 32, 16], 8), ([16, 16, 32], 8), ([16, 16, 16], 4), ([32, 32, 8], 4)],
}


@pytest.mark.parametrize("case", range(4))
@pytest.mark.parametrize("transposed", [True, False])
@pytest.mark.parametrize("tiles", [None, [2, 1]])
def test_mfma_of_f16(cdna, case, transposed, tiles):
    shape, k_width = SHAPES[arch()][case]
    version = 3 if arch() == "gfx942" else 4
    layout = gl.amd.AMDMFMALayout(version, shape, transposed, [2, 2], tiles_per_warp=tiles)
    a, b, c = (
        numbers(128, 64, dtype=np.float16),
        numbers(64, 64, dtype=np.float16, seed=2),
        np.zeros((128, 64), np.float32),
    )
    kernel = run_product(a, b, c, layout, k_width, "mfma", 64)
    np.testing.assert_allclose(c, a.astype(np.float64) @ b.astype(np.float64), rtol=1e-4, atol=1e-4)
    if len(shape) == 3:
        assert f"mfma.f32.{shape[0]}x{shape[0]}x{shape[2]}" in kernel.asm["llir"]


@pytest.mark.parametrize("transposed", [True, False])
def test_mfma_of_f64(cdna, transposed):
    layout = gl.amd.AMDMFMALayout(3, [16, 16, 4], transposed, [2, 2], element_bitwidth=64)
    a, b, c = (
        numbers(64, 16, dtype=np.float64),
        numbers(16, 64, dtype=np.float64, seed=2),
        np.zeros((64, 64)),
    )
    run_product(a, b, c, layout, 1, "mfma", 64)
    np.testing.assert_allclose(c, a @ b, rtol=1e-12)


def test_mfma_of_int8(cdna):
    layout = gl.amd.AMDMFMALayout(3, [32, 32, 16], True, [4, 1])
    random = np.random.default_rng(3)
    a, b = (
        random.integers(-128, 128, (128, 64)).astype(np.int8),
        random.integers(-128, 128, (64, 64)).astype(np.int8),
    )
    c = np.zeros((128, 64), np.int32)
    run_product(a, b, c, layout, 8, "mfma", 64)
    np.testing.assert_array_equal(c, a.astype(np.int32) @ b.astype(np.int32))


@pytest.mark.parametrize("bases", [([[0, 1], [1, 0]], []), ([[2, 0], [0, 1]], [[1, 0]])])
@pytest.mark.parametrize("transposed", [True, False])
def test_wmma(rdna, bases, transposed):
    version = 1 if arch() == "gfx1100" else 2
    layout = gl.amd.AMDWMMALayout(version, transposed, *bases)
    a, b, c = (
        numbers(64, 32, dtype=np.float16),
        numbers(32, 64, dtype=np.float16, seed=2),
        np.zeros((64, 64), np.float32),
    )
    run_product(a, b, c, layout, 16 // version, f"rdna{version + 2}", 32)
    np.testing.assert_allclose(c, a.astype(np.float64) @ b.astype(np.float64), rtol=1e-4, atol=1e-4)


# --- small floats ------------------------------------------------------------------------------

E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6], np.float32)


@gluon.jit
def upcast(x, scales, out, packed: gl.constexpr, unpacked: gl.constexpr):
    rows, halves = (
        gl.arange(0, 16, gl.SliceLayout(1, packed)),
        gl.arange(0, 32, gl.SliceLayout(0, packed)),
    )
    bytes_ = gl.load(x + rows[:, None] * 32 + halves[None, :])
    rows, columns = (
        gl.arange(0, 16, gl.SliceLayout(1, unpacked)),
        gl.arange(0, 64, gl.SliceLayout(0, unpacked)),
    )
    offsets = rows[:, None] * 64 + columns[None, :]
    scale = gl.load(scales + rows[:, None] * 2 + (columns // 32)[None, :])
    gl.store(out + offsets, cdna3.scaled_upcast(bytes_, scale, gl.float16, axis=1))


def test_upcast_of_packed_values(cdna):
    random = np.random.default_rng(1)
    x, scales = (
        random.integers(0, 256, (16, 32)).astype(np.uint8),
        random.integers(120, 130, (16, 2)).astype(np.uint8),
    )
    out = np.zeros((16, 64), np.float16)
    packed, unpacked = (gl.BlockedLayout([1, n], [8, 8], [4, 1], [1, 0]) for n in (4, 8))
    upcast[(1,)](x, scales, out, packed, unpacked)
    values = E2M1[np.stack([x & 15, x >> 4], -1).reshape(16, 64)]
    np.testing.assert_array_equal(
        out, values * np.repeat(np.exp2(scales.astype(np.float32) - 127), 32, 1)
    )


@gluon.jit
def scaled_product(
    a_ptr, b_ptr, s_ptr, t_ptr, c_ptr, A: gl.constexpr, B: gl.constexpr, K: gl.constexpr, layout: gl.constexpr,
    blocked: gl.constexpr, WIDTH: gl.constexpr = 16,
):  # fmt: skip
    A_K: gl.constexpr = K // 2 if A == "e2m1" else K
    B_K: gl.constexpr = K // 2 if B == "e2m1" else K
    left: gl.constexpr = gl.DotOperandLayout(0, layout, WIDTH)
    right: gl.constexpr = gl.DotOperandLayout(1, layout, WIDTH)
    of_left: gl.constexpr = cdna4.get_mfma_scale_layout(left, [32, K // 32])
    of_right: gl.constexpr = cdna4.get_mfma_scale_layout(right, [32, K // 32])
    rows, columns = (
        gl.arange(0, 32, gl.SliceLayout(1, blocked)),
        gl.arange(0, 32, gl.SliceLayout(0, blocked)),
    )
    a_k, b_k = (
        gl.arange(0, A_K, gl.SliceLayout(0, blocked)),
        gl.arange(0, B_K, gl.SliceLayout(1, blocked)),
    )
    a = gl.convert_layout(gl.load(a_ptr + rows[:, None] * A_K + a_k[None, :]), left)
    b = gl.convert_layout(gl.load(b_ptr + columns[None, :] * B_K + b_k[:, None]), right)
    s = None
    if s_ptr is not None:
        m, k = (
            gl.arange(0, 32, gl.SliceLayout(1, of_left)),
            gl.arange(0, K // 32, gl.SliceLayout(0, of_left)),
        )
        s = cdna4.buffer_load(s_ptr, m[:, None] * (K // 32) + k[None, :])
    t = 128
    if t_ptr is not None:
        n, k = (
            gl.arange(0, 32, gl.SliceLayout(1, of_right)),
            gl.arange(0, K // 32, gl.SliceLayout(0, of_right)),
        )
        t = cdna4.buffer_load(t_ptr, n[:, None] * (K // 32) + k[None, :])
    acc = gl.zeros([32, 32], gl.float32, layout)
    acc = cdna4.mfma_scaled(a, s, A, b, t, B, acc)
    m, n = gl.arange(0, 32, gl.SliceLayout(1, layout)), gl.arange(0, 32, gl.SliceLayout(0, layout))
    cdna4.buffer_store(acc, c_ptr, m[:, None] * 32 + n[None, :])


def scaled_operand(kind, seed):
    """Bytes of 32 rows of 256 values, and the values."""
    random = np.random.default_rng(seed)
    if kind == "e2m1":
        x = random.integers(0, 256, (32, 128)).astype(np.uint8)
        return x, E2M1[np.stack([x & 15, x >> 4], -1).reshape(32, 256)]
    x = random.integers(20, 40, (32, 256)).astype(np.uint8)
    mantissa, bias = (3, 7) if kind == "e4m3" else (2, 15)
    exponent, rest = x >> mantissa, x & ((1 << mantissa) - 1)
    return x, np.exp2(exponent.astype(np.float32) - bias) * (1 + rest / np.float32(1 << mantissa))


@pytest.mark.parametrize(
    "kinds", [("e4m3", "e4m3"), ("e2m1", "e5m2"), ("e5m2", "e2m1"), ("e2m1", "e2m1")]
)
@pytest.mark.parametrize("extent", [16, 32])
@pytest.mark.parametrize("scaled", [True, False])
def test_scaled_mfma(newest, kinds, extent, scaled):
    (a, left), (b, right) = (scaled_operand(kind, seed) for seed, kind in enumerate(kinds))
    random = np.random.default_rng(5)
    s, t = (random.integers(120, 130, (32, 8)).astype(np.uint8) for _ in range(2))
    c = np.zeros((32, 32), np.float32)
    layout = gl.amd.AMDMFMALayout(
        4, [extent, extent, 2048 // extent], True, [2, 2] if extent == 16 else [1, 1]
    )
    warps = 4 if extent == 16 else 1
    blocked = gl.BlockedLayout([1, 4], [8, 8], [warps, 1], [1, 0])
    scaled_product[(1,)](
        a,
        b,
        s if scaled else None,
        t if scaled else None,
        c,
        *kinds,
        256,
        layout,
        blocked,
        num_warps=warps,
    )
    if scaled:
        left = left * np.repeat(np.exp2(s.astype(np.float32) - 127), 32, 1)
        right = right * np.repeat(np.exp2(t.astype(np.float32) - 127), 32, 1)
    expected = left.astype(np.float64) @ right.T.astype(np.float64) * (1 if scaled else 2)
    np.testing.assert_allclose(c, expected, rtol=1e-5, atol=1e-6 * np.abs(expected).max())


def test_one_scale_serves_any_order_along_k(newest):
    (a, left), (b, right) = (scaled_operand("e4m3", seed) for seed in range(2))
    c = np.zeros((32, 32), np.float32)
    layout = gl.amd.AMDMFMALayout(4, [16, 16, 128], True, [2, 2])
    blocked = gl.BlockedLayout([1, 4], [8, 8], [4, 1], [1, 0])
    scaled_product[(1,)](a, b, None, None, c, "e4m3", "e4m3", 256, layout, blocked, WIDTH=32)
    expected = left.astype(np.float64) @ right.T.astype(np.float64) * 2
    np.testing.assert_allclose(c, expected, rtol=1e-5, atol=1e-6 * np.abs(expected).max())


# --- errors ------------------------------------------------------------------------------------


@gluon.jit
def wrong_operand(out, layout: gl.constexpr, other: gl.constexpr):
    a = gl.zeros([32, 32], gl.float16, gl.DotOperandLayout(0, other, 4))
    b = gl.zeros([32, 32], gl.float16, gl.DotOperandLayout(1, layout, 4))
    cdna3.mfma(a, b, gl.zeros([32, 32], gl.float32, layout))


def test_an_operand_of_another_accumulator(cdna):
    layouts = [
        gl.amd.AMDMFMALayout(3, [32, 32, 8], isTransposed, [2, 2]) for isTransposed in (True, False)
    ]
    with pytest.raises(triton.CompilationError) as caught:
        wrong_operand[(1,)](np.zeros(1, np.float32), *layouts)
    text = str(caught.value)
    assert "cdna3.mfma(a, b" in text and "AMDMFMALayout(3, [32, 32, 8], False" in text
    assert "needs DotOperandLayout(0, AMDMFMALayout(3, [32, 32, 8], True" in text
    assert caught.value.diagnostics[0].code == "matrix-operand-layout"


@gluon.jit
def wrong_accumulator(out, layout: gl.constexpr):
    a = gl.zeros([32, 32], gl.float16, gl.DotOperandLayout(0, layout, 8))
    b = gl.zeros([32, 32], gl.float16, gl.DotOperandLayout(1, layout, 8))
    rdna4.wmma(a, b, gl.zeros([32, 32], gl.float32, layout))


def test_an_accumulator_of_another_generation():
    driver.set_active(triton.backends.sim.driver.SimDriver("sim:gfx1100"))
    try:
        with pytest.raises(triton.CompilationError, match="needs an AMDWMMALayout of version 2"):
            layout = gl.amd.AMDWMMALayout(1, True, [[0, 1], [1, 0]])
            wrong_accumulator[(1,)](np.zeros(1, np.float32), layout)
    finally:
        driver.reset_active()


BLOCKED = gl.BlockedLayout([1, 1], [8, 8], [4, 1], [1, 0])
FLAT = gl.BlockedLayout([1], [64], [4], [0])
MFMA = gl.amd.AMDMFMALayout(4, [16, 16, 128], True, [2, 2])
SHARED = gl.SwizzledSharedLayout(1, 1, 1, [1, 0])


@gluon.jit
def wrong(
    x,
    CASE: gl.constexpr,
    blocked: gl.constexpr,
    flat: gl.constexpr,
    mfma: gl.constexpr,
    shared: gl.constexpr,
):
    left: gl.constexpr = gl.DotOperandLayout(0, mfma, 16)
    right: gl.constexpr = gl.DotOperandLayout(1, mfma, 16)
    at = gl.arange(0, 256, flat)
    if CASE == "buffer-pointer":
        cdna3.buffer_load(x + at, at)
    elif CASE == "buffer-offsets":
        cdna3.buffer_load(x, at.to(gl.int64))
    elif CASE == "buffer-shape":
        rows = gl.arange(0, 64, gl.SliceLayout(1, blocked))
        cdna3.buffer_store(gl.zeros([64, 64], gl.float32, blocked), x, rows[:, None])
    elif CASE == "other-without-mask":
        cdna3.buffer_load(x, at, other=1.0)
    elif CASE == "atomic-type":
        cdna3.buffer_atomic_max(x, at, 1.0)
    elif CASE == "matrix-layout":
        tile = gl.zeros([32, 32], gl.float16, blocked)
        cdna3.mfma(tile, tile, gl.zeros([32, 32], gl.float32, blocked))
    elif CASE == "matrix-accumulator":
        cdna3.mfma(
            gl.zeros([32, 128], gl.float16, left), gl.zeros([128, 32], gl.float16, right),
            gl.zeros([32, 32], gl.float16, mfma),
        )  # fmt: skip
    elif CASE == "scale-value":
        cdna4.mfma_scaled(
            gl.zeros([32, 128], gl.uint8, left), 1.5, "e4m3", gl.zeros([128, 32], gl.uint8, right), None, "e4m3",
            gl.zeros([32, 32], gl.float32, mfma),
        )  # fmt: skip
    elif CASE == "upcast-type":
        tile = gl.zeros([32, 32], gl.uint8, blocked)
        cdna4.scaled_upcast(tile, tile, gl.float32, axis=1)
    elif CASE == "shared-expected":
        async_copy.buffer_load_to_shared(gl.zeros([256], gl.float32, flat), x, at)
    elif CASE == "stage-priority":
        with gl.amd.warp_pipeline_stage("load", priority=7):
            pass
    elif CASE == "wait-count":
        async_copy.wait_group(-1)


CASES = [
    "buffer-pointer", "buffer-offsets", "buffer-shape", "other-without-mask", "atomic-type", "matrix-layout",
    "matrix-accumulator", "scale-value", "upcast-type", "shared-expected", "stage-priority", "wait-count",
]  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_errors_have_the_users_line(newest, case):
    with pytest.raises(triton.CompilationError) as caught:
        wrong[(1,)](np.zeros(64, np.float32), case, BLOCKED, FLAT, MFMA, SHARED)
    first = caught.value.diagnostics[0]
    assert first.code == case
    assert "test_gluon_amd.py" in str(caught.value)


@gluon.jit
def wait(x):
    async_copy.wait_group(0)


def test_another_vendors_gpu():
    driver.set_active(triton.backends.sim.driver.SimDriver("sim:90"))
    try:
        with pytest.raises(triton.CompilationError) as caught:
            wait[(1,)](np.zeros(64, np.float32))
        assert caught.value.diagnostics[0].code == "other-vendor"
    finally:
        driver.reset_active()


# --- stages of a loop --------------------------------------------------------------------------


@gluon.jit
def stages(x, out, n, layout: gl.constexpr):
    at = gl.arange(0, 256, layout)
    total = gl.zeros([256], gl.float32, layout)
    for i in range(n):
        with gl.amd.warp_pipeline_stage("load", priority=1):
            value = gl.load(x + i * 256 + at)
        with gl.amd.warp_pipeline_stage("compute"):
            total += value
    gl.store(out + at, total)


def test_stages_of_a_loop(cdna):
    x, out = numbers(5, 256), np.zeros(256, np.float32)
    kernel = stages[(1,)](x, out, 5, FLAT)
    np.testing.assert_allclose(out, x.sum(0), rtol=1e-5, atol=1e-5)
    assert kernel.asm["amdgcn"].count("s_setprio") >= 2
    assert "sched.barrier(i32 0)" in kernel.asm["llir"]
