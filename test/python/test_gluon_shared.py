"""Gluon's buffers in shared memory: values on simulated GPUs against NumPy, errors with the user's line."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
from _simulators import simulators
from triton.backends.compiler import GPUTarget
from triton.experimental import gluon
from triton.experimental.gluon import language as gl
from triton.experimental.gluon._runtime import GluonASTSource
from triton.runtime import driver

simulator = simulators("sim:90", "sim:gfx942")
ROWS = gl.SwizzledSharedLayout(1, 1, 1, [1, 0])
SWIZZLED = gl.SwizzledSharedLayout(4, 2, 4, [1, 0])
ROW = gl.SwizzledSharedLayout(1, 1, 1, [0])


def tiles(columns=8):
    lanes = driver.active.get_current_target().warp_size
    rows = gl.BlockedLayout([1, 2], [lanes // columns, columns], [4, 1], [1, 0])
    return rows, gl.BlockedLayout([2, 1], [lanes // columns, columns], [1, 4], [0, 1])


def row():
    return gl.BlockedLayout([1], [driver.active.get_current_target().warp_size], [4], [0])


def numbers(*shape, dtype=np.float32):
    return (np.arange(np.prod(shape)) % 1999).astype(dtype).reshape(shape)


@gluon.jit
def offsets(M: gl.constexpr, N: gl.constexpr, layout: gl.constexpr):
    rows = gl.arange(0, M, gl.SliceLayout(1, layout))
    columns = gl.arange(0, N, gl.SliceLayout(0, layout))
    return rows[:, None] * N + columns[None, :]


# --- loads, stores, views ---------------------------------------------------------------------


@gluon.jit
def turned(
    x,
    y,
    M: gl.constexpr,
    N: gl.constexpr,
    shared: gl.constexpr,
    rows: gl.constexpr,
    columns: gl.constexpr,
):
    tile = gl.load(x + offsets(M, N, rows))
    buffer = gl.allocate_shared_memory(tile.dtype, [M, N], shared, tile)
    gl.static_assert(buffer.rank == 2 and buffer.numel == M * N and buffer.layout == shared)
    gl.static_assert(buffer.nbytes_per_cta == M * N * 2)
    back = buffer.permute([1, 0])
    gl.static_assert(back.shape[0] == N and back.shape[1] == M)
    gl.store(y + offsets(N, M, columns), back.load(columns))


@pytest.mark.parametrize("shared", [ROWS, SWIZZLED, gl.SwizzledSharedLayout(8, 1, 8, [0, 1])])
def test_a_tile_is_transposed_through_a_buffer(shared, simulator):
    rows, columns = tiles()
    x, y = numbers(64, 32, dtype=np.float16), np.zeros((32, 64), np.float16)
    turned[(1,)](x, y, 64, 32, shared, rows, columns)
    np.testing.assert_array_equal(y, x.T)


@gluon.jit
def parts(x, y, shared: gl.constexpr, rows: gl.constexpr, turn):
    buffer = gl.allocate_shared_memory(gl.float32, [32, 32], shared)
    buffer.store(gl.load(x + offsets(32, 32, rows)))
    corner = buffer.slice(16, 16, dim=0).slice(16, 16, dim=1)
    gl.store(y + offsets(16, 16, rows), corner.load(rows))
    upper = buffer.slice(0, 16)
    chosen = upper
    for _ in range(turn):
        chosen = buffer.slice(16, 16)
    gl.store(y + 256 + offsets(16, 32, rows), chosen.load(rows))
    if turn > 0:
        side = buffer.permute([1, 0]).slice(8, 8)
    else:
        side = buffer.permute([1, 0]).slice(24, 8)
    gl.store(y + 768 + offsets(8, 32, rows), side.load(rows))


@pytest.mark.parametrize("turn", [0, 1])
@pytest.mark.parametrize("shared", [ROWS, SWIZZLED])
def test_parts_of_buffers_are_values(shared, turn, simulator):
    x, y = numbers(32, 32), np.zeros(1024, np.float32)
    parts[(1,)](x, y, shared, tiles()[0], turn)
    np.testing.assert_array_equal(y[:256].reshape(16, 16), x[16:, 16:])
    np.testing.assert_array_equal(y[256:768].reshape(16, 32), x[16:] if turn else x[:16])
    np.testing.assert_array_equal(y[768:].reshape(8, 32), x.T[8:16] if turn else x.T[24:])


@gluon.jit
def stage(buffers, index):
    return buffers.index(index)


@gluon.jit
def fill(buffer, value, layout: gl.constexpr):
    buffer.store(gl.full(buffer.shape, value, buffer.dtype, layout))


@gluon.jit
def stages(y, n, layout: gl.constexpr, shared: gl.constexpr):
    buffers = gl.allocate_shared_memory(gl.int32, [4, 128], shared)
    for i in range(4):
        fill(stage(buffers, i), i * 10, layout)
    total = gl.zeros([128], gl.int32, layout)
    for i in range(n):
        total += buffers.index(i % 4).load(layout)
        buffers.index(i % 4).store(total)
    gl.store(y + gl.arange(0, 128, layout), total)


def test_an_index_counts_buffers(simulator):
    y = np.zeros(128, np.int32)
    stages[(1,)](y, 6, row(), ROW)
    values, total = [0, 10, 20, 30], 0
    for i in range(6):
        total += values[i % 4]
        values[i % 4] = total
    np.testing.assert_array_equal(y, np.full(128, total))


@gluon.jit
def other_shapes(
    x, y, rows: gl.constexpr, layout: gl.constexpr, shared: gl.constexpr, flat: gl.constexpr
):
    buffer = gl.allocate_shared_memory(
        gl.float32, [16, 32], shared, gl.load(x + offsets(16, 32, rows))
    )
    whole = buffer.reshape([512])
    gl.static_assert(whole.shape[0] == 512)
    gl.store(y + gl.arange(0, 512, layout), whole.load(layout).to(gl.int32, bitcast=True))
    words = buffer.reinterpret(gl.int32, [512], flat)
    gl.static_assert(words.dtype == gl.int32)
    gl.store(y + 512 + gl.arange(0, 512, layout), words.load(layout))


def test_bytes_have_other_shapes_and_types(simulator):
    x, y = numbers(16, 32) + 0.5, np.zeros(1024, np.int32)
    other_shapes[(1,)](x, y, tiles()[0], row(), ROWS, ROW)
    expected = x.reshape(-1).view(np.int32)
    np.testing.assert_array_equal(y, np.concatenate([expected, expected]))


# --- indices ----------------------------------------------------------------------------------


@gluon.jit
def gathered(x, i, y, shared: gl.constexpr, rows: gl.constexpr, axis: gl.constexpr):
    buffer = gl.allocate_shared_memory(
        gl.float32, [32, 16], shared, gl.load(x + offsets(32, 16, rows))
    )
    indices = gl.load(i + offsets(8, 16, rows))
    gl.store(y + offsets(8, 16, rows), buffer.gather(indices, axis))


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("shared", [ROWS, SWIZZLED])
def test_a_gather_takes_elements_by_index(shared, axis, simulator):
    x, y = numbers(32, 16), np.zeros((8, 16), np.float32)
    i = np.random.default_rng(0).integers(0, (32, 16)[axis], (8, 16)).astype(np.int32)
    gathered[(1,)](x, i, y, shared, tiles()[0], axis)
    np.testing.assert_array_equal(y, np.take_along_axis(x if axis == 0 else x[:8], i, axis))


@gluon.jit
def scattered(x, i, y, shared: gl.constexpr, rows: gl.constexpr):
    buffer = gl.allocate_shared_memory(gl.float32, [32, 16], shared)
    buffer.store(gl.full([32, 16], -1.0, gl.float32, rows))
    buffer.scatter(gl.load(x + offsets(16, 16, rows)), gl.load(i + offsets(16, 16, rows)), axis=0)
    gl.store(y + offsets(32, 16, rows), buffer.load(rows))


def test_a_scatter_writes_elements_by_index(simulator):
    rng = np.random.default_rng(0)
    i = np.stack([rng.permutation(32)[:16] for _ in range(16)], 1).astype(np.int32)
    x, y = numbers(16, 16), np.zeros((32, 16), np.float32)
    scattered[(1,)](x, i, y, SWIZZLED, tiles()[0])
    expected = np.full((32, 16), -1, np.float32)
    np.put_along_axis(expected, i, x, 0)
    np.testing.assert_array_equal(y, expected)


@gluon.jit
def combined(i, x, y, old, KIND: gl.constexpr, layout: gl.constexpr, shared: gl.constexpr):
    bins = gl.allocate_shared_memory(x.dtype.element_ty, [64], shared)
    bins.store(gl.full([64], 5, x.dtype.element_ty, layout))
    at = gl.arange(0, 256, layout)
    indices, values = gl.load(i + at), gl.load(x + at)
    if KIND == "add":
        bins.atomic_scatter_add(values, indices, 0, mask=at < 200)
    elif KIND == "max":
        bins.atomic_scatter_max(values, indices, 0)
    elif KIND == "min":
        bins.atomic_scatter_min(values, indices, 0)
    elif KIND == "or":
        bins.atomic_scatter_or(values, indices, 0)
    elif KIND == "xor":
        bins.atomic_scatter_xor(values, indices, 0)
    elif KIND == "and":
        bins.atomic_scatter_and(values, indices, 0)
    else:
        gl.store(old + at % 64, bins.atomic_scatter_xchg(values, at % 64, 0, mask=at < 64), at < 64)
    bin = gl.arange(0, 64, layout)
    gl.store(y + bin, bins.load(layout))


KINDS = {
    "add": np.add,
    "max": np.maximum,
    "min": np.minimum,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
    "and": np.bitwise_and,
}


@pytest.mark.parametrize("dtype", ["int32", "uint32", "float32"])
@pytest.mark.parametrize("kind", KINDS)
def test_atomic_scatters_combine(kind, dtype, simulator):
    if dtype == "float32" and kind != "add":
        pytest.skip("integers alone")
    rng = np.random.default_rng(2)
    i, x = rng.integers(0, 64, 256).astype(np.int32), rng.integers(0, 16, 256).astype(dtype)
    y, old, expected = np.zeros(64, dtype), np.zeros(64, dtype), np.full(64, 5, dtype)
    combined[(1,)](i, x, y, old, kind, row(), ROW)
    count = 200 if kind == "add" else 256
    KINDS[kind].at(expected, i[:count], x[:count])
    np.testing.assert_array_equal(y, expected)


def test_an_exchange_gives_what_was_there(simulator):
    i, x = np.zeros(256, np.int32), numbers(256, dtype=np.int32)
    y, old = np.zeros(64, np.int32), np.zeros(64, np.int32)
    combined[(1,)](i, x, y, old, "xchg", row(), ROW)
    np.testing.assert_array_equal(y, x[:64])
    np.testing.assert_array_equal(old, np.full(64, 5))


# --- code -------------------------------------------------------------------------------------

WIDE = gl.BlockedLayout([1, 4], [4, 8], [4, 1], [1, 0])


@gluon.jit
def copied(x, y, shared: gl.constexpr, layout: gl.constexpr):
    buffer = gl.allocate_shared_memory(
        gl.float32, [16, 32], shared, gl.load(x + offsets(16, 32, layout))
    )
    gl.store(y + offsets(16, 32, layout), buffer.load(layout))


def test_accesses_are_vectors_and_barriers_stand_between_them():
    constants = {"shared": gl.SwizzledSharedLayout(4, 1, 4, [1, 0]), "layout": WIDE}
    source = GluonASTSource(copied, {"x": "*fp32", "y": "*fp32"}, constants)
    kernel = triton.compile(source, target=GPUTarget("cuda", 90, 32))
    text = kernel.asm["ptx"]
    assert "st.shared.v4" in text and "ld.shared.v4" in text
    between = text[text.index("st.shared.v4") : text.index("ld.shared.v4")]
    assert between.count("bar.sync") == 1
    assert kernel.metadata.shared == 16 * 32 * 4
    assert "ttg.local_alloc" in kernel.asm["ttgir"] and "ttg.local_load" in kernel.asm["ttgir"]


# --- errors -----------------------------------------------------------------------------------


@gluon.jit
def wrong(x, KIND: gl.constexpr, layout: gl.constexpr, shared: gl.constexpr, row: gl.constexpr):
    buffer = gl.allocate_shared_memory(gl.float32, [16, 32], shared)
    tile = gl.zeros([16, 16], gl.float32, layout)
    if KIND == "shape":
        buffer.store(tile)
    if KIND == "type":
        buffer.store(gl.zeros([16, 32], gl.float16, layout))
    if KIND == "layout":
        gl.allocate_shared_memory(gl.float32, [16, 32], layout)
    if KIND == "element":
        gl.allocate_shared_memory(x.dtype, [16, 32], shared)
    if KIND == "slice":
        buffer.slice(24, 16, dim=1)
    if KIND == "within":
        buffer.slice(8, 16, dim=1)
    if KIND == "permute":
        buffer.permute([0, 0])
    if KIND == "reshape":
        buffer.reshape([16, 16])
    if KIND == "reinterpret":
        buffer.reinterpret(gl.float32, [1024], row)
    if KIND == "index":
        buffer.index(0)
    if KIND == "axis":
        buffer.gather(gl.zeros([16, 32], gl.int32, layout), axis=2)
    if KIND == "floats":
        buffer.atomic_scatter_max(
            gl.zeros([16, 32], gl.float32, layout), gl.zeros([16, 32], gl.int32, layout), 0
        )
    if KIND == "freed":
        buffer._keep_alive()
        buffer.load(layout)
    if KIND == "load":
        buffer.load(row)
    if KIND == "extent":
        gl.allocate_shared_memory(gl.float32, [16, 24], shared)


ERRORS = {
    "shape": ("buffer-tile", r"fp32\[16, 16\].* does not fit the buffer fp32\[16, 32\]"),
    "type": ("buffer-tile", r"fp16\[16, 32\].* does not fit the buffer fp32\[16, 32\]"),
    "layout": ("shared-layout-argument", "must be a layout of shared memory"),
    "element": ("buffer-element", "holds numbers, not pointer<fp32>"),
    "slice": ("buffer-invalid", "a slice of 16 from 24 on leaves dimension 1 of 32"),
    "within": ("buffer-invalid", "offset 8 of an extent of 16 is not a multiple of it within 32"),
    "permute": ("buffer-invalid", "order is not a permutation of 2 dimensions"),
    "reshape": (
        "buffer-invalid",
        r"shape \[16, 16\] has 256 elements, the buffer \[16, 32\] has 512",
    ),
    "reinterpret": ("buffer-invalid", "takes 4096 bytes, the source has 2048"),
    "index": ("buffer-invalid", "the layout of the buffer has all its 2 dimensions"),
    "axis": ("buffer-invalid", "axis 2 is no dimension of a buffer of 2"),
    "floats": ("buffer-invalid", "max does not combine elements of type"),
    "load": ("layout-argument", "must be a layout of a tile"),
    "extent": ("buffer-invalid", "extent 24 of a buffer is not a power of two"),
}


@pytest.mark.parametrize("kind", ERRORS)
def test_errors_name_both_values_at_the_line(kind):
    code, text = ERRORS[kind]
    constants = {"KIND": kind, "layout": WIDE, "shared": ROWS, "row": ROW}
    source = GluonASTSource(wrong, {"x": "*fp32"}, constants)
    with pytest.raises(triton.CompilationError, match=text) as caught:
        triton.compile(source, target=GPUTarget("cuda", 90, 32))
    error = caught.value.diagnostics[0]
    assert error.code == code
    lines = open(__file__, encoding="utf-8").read().splitlines()
    line = (
        int(str(caught.value).split("test_gluon_shared.py:")[1].split(":")[0])
        if "test_gluon_shared.py:" in str(caught.value)
        else None
    )
    if line:
        assert kind in lines[line - 2] or kind in lines[line - 3] or kind in lines[line - 1]


def test_use_after_free_is_an_error():
    constants = {"KIND": "freed", "layout": WIDE, "shared": ROWS, "row": ROW}
    source = GluonASTSource(wrong, {"x": "*fp32"}, constants)
    with pytest.raises(triton.CompilationError, match="shared memory is used after it is freed"):
        triton.compile(source, target=GPUTarget("cuda", 90, 32))
