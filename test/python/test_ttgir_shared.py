"""Buffers in shared memory as TTGIR states them, on simulated GPUs: where elements lie, views, accesses by indices."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
from _simulators import simulators
from _ttgir import ELEMENTS, Body, blocked, compile_body, memdesc
from triton.runtime import driver

simulator = simulators("sim:90", "sim:gfx942")
PLAIN = "#ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [0]}>"


def target_of(simulator):
    return driver.active.get_current_target()


def numbers(shape, element):
    count = int(np.prod(shape))
    values = np.arange(count) % (100 if element == "i8" else 2000)
    return values.astype(ELEMENTS[element]).reshape(shape)


def swizzled(vec, per_phase, max_phase, order):
    return f"#ttg.swizzled_shared<{{vec = {vec}, perPhase = {per_phase}, maxPhase = {max_phase}, order = {order}}}>"


def matrix(swizzle, transposed, bits, more=""):
    return (
        f"#ttg.nvmma_shared<{{swizzlingByteWidth = {swizzle}, transposed = {str(transposed).lower()}, "
        f"elementBitWidth = {bits}{more}}}>"
    )


def bases(*lists):
    return str([list(basis) for basis in lists])


PERMUTED = bases([0, 1], [2, 2], [0, 2], [0, 4], [0, 8], [1, 0], [4, 0], [8, 1], [0, 16])
ROWS_APART = bases([0, 1], [0, 2], [0, 4], [0, 8], [0, 16], [4, 0], [8, 0], [1, 0], [2, 0])
CASES = {
    "rows": ([16, 32], "f16", swizzled(1, 1, 1, [1, 0])),
    "columns": ([16, 32], "f32", swizzled(4, 2, 4, [0, 1])),
    "phases": ([16, 64], "f16", swizzled(8, 1, 8, [1, 0])),
    "three": ([4, 8, 16], "f32", swizzled(2, 1, 4, [2, 0, 1])),
    "four": ([2, 4, 8, 16], "i8", swizzled(4, 2, 2, [3, 1, 2, 0])),
    "one": ([128], "f32", PLAIN),
    "padded": (
        [16, 32],
        "f16",
        f"#ttg.padded_shared<[32:+8] {{offset = {ROWS_APART}, block = []}}>",
    ),
    "padded_twice": (
        [16, 32],
        "f32",
        "#ttg.padded_shared<[16:+4, 128:+16] {order = [1, 0], shape = [16, 32]}>",
    ),
    "padded_odd": (
        [16, 32],
        "f16",
        "#ttg.padded_shared<[2:+1] {order = [0, 1], shape = [16, 32]}>",
    ),
    "linear": ([16, 32], "f16", f"#ttg.shared_linear<{{offset = {PERMUTED}}}, alignment = 64>"),
    "matrix_0": ([16, 32], "f16", matrix(0, False, 16)),
    "matrix_32": ([16, 64], "f16", matrix(32, False, 16)),
    "matrix_64": ([16, 64], "f32", matrix(64, False, 32)),
    "matrix_128": ([16, 128], "f16", matrix(128, False, 16)),
    "matrix_transposed": ([64, 16], "f16", matrix(128, True, 16)),
    "matrix_three": ([4, 8, 64], "f16", matrix(64, False, 16, ", rank = 3")),
    "matrix_one": ([256], "f16", matrix(0, False, 16, ", rank = 1")),
    "matrix_fp4": ([16, 64], "i8", matrix(128, False, 8, ", fp4Padded = true")),
}


@pytest.mark.parametrize("size", [1, 4])
@pytest.mark.parametrize("name", CASES)
def test_a_load_gives_what_was_stored(name, size, simulator, tmp_path):
    shape, element, encoding = CASES[name]
    target, body = target_of(simulator), Body()
    rows = blocked(shape, target.warp_size, size=size)
    columns = blocked(shape, target.warp_size, order=list(range(len(shape))), size=size)
    buffer = memdesc(shape, element, encoding)
    x = body.load("%x", shape, element, rows)
    b = body.add(f"ttg.local_alloc : () -> {buffer}")
    body.do(f"ttg.local_store {x}, {b} : {body.tile(shape, element, rows)} -> {buffer}")
    y = body.add(f"ttg.local_load {b} : {buffer} -> {body.tile(shape, element, columns)}")
    body.store("%y", shape, element, columns, y)
    kernel = compile_body(
        tmp_path, target, body, {"x": f"!tt.ptr<{element}>", "y": f"!tt.ptr<{element}>"}
    )
    x, y = numbers(shape, element), np.zeros(shape, ELEMENTS[element])
    kernel[(1,)](x, y)
    np.testing.assert_array_equal(x, y)


# --- Where elements lie: the bytes of a buffer, read as a row ------------------------------------


def swizzle_formula(vec, per_phase, max_phase):
    return lambda row, column: (
        row * 32 + ((column // vec) ^ (row // per_phase % max_phase)) * vec + column % vec
    )


def padded_formula(*pairs):
    def at(row, column):
        offset = row * 32 + column
        return offset + sum(offset // interval * padding for interval, padding in pairs)

    return at


def matrix_formula(swizzle):
    def at(row, column):
        panel, inside = column * 4 // swizzle, column * 4 % swizzle
        byte = panel * 16 * swizzle + row * swizzle + inside
        return (byte ^ (byte >> 7 & (swizzle // 16 - 1)) << 4) // 4

    return at


PLACES = {
    "swizzled": (swizzled(4, 2, 4, [1, 0]), swizzle_formula(4, 2, 4)),
    "padded": (
        "#ttg.padded_shared<[32:+4] {order = [1, 0], shape = [16, 32]}>",
        padded_formula((32, 4)),
    ),
    "padded_twice": (
        "#ttg.padded_shared<[16:+2, 64:+8] {order = [1, 0], shape = [16, 32]}>",
        padded_formula((16, 2), (64, 8)),
    ),
    "matrix_32": (matrix(32, False, 32), matrix_formula(32)),
    "matrix_128": (matrix(128, False, 32), matrix_formula(128)),
}


@pytest.mark.parametrize("name", PLACES)
def test_elements_lie_where_the_encoding_says(name, simulator, tmp_path):
    encoding, formula = PLACES[name]
    shape, target, body = [16, 32], target_of(simulator), Body()
    rows, row = blocked(shape, target.warp_size), blocked([1024], target.warp_size)
    buffer, plain = memdesc(shape, "f32", encoding), memdesc([1024], "f32", PLAIN)
    whole = memdesc([4096], "i8", PLAIN)
    zero = body.add(f"arith.constant dense<0.0> : {body.tile([1024], 'f32', row)}")
    x = body.load("%x", shape, "f32", rows)
    # Two allocations of the same bytes, one after the other.
    b = body.add(f"ttg.local_alloc : () -> {plain}")
    body.do(f"ttg.local_store {zero}, {b} : {body.tile([1024], 'f32', row)} -> {plain}")
    body.do(f"ttg.local_dealloc {b} : {plain}")
    b = body.add(f"ttg.local_alloc : () -> {buffer}")
    body.do(f"ttg.local_store {x}, {b} : {body.tile(shape, 'f32', rows)} -> {buffer}")
    body.do(f"ttg.local_dealloc {b} : {buffer}")
    b = body.add(f"ttg.local_alloc : () -> {whole}")
    view = body.add(f"ttg.memdesc_reinterpret {b} : {whole} -> {plain}")
    y = body.add(f"ttg.local_load {view} : {plain} -> {body.tile([1024], 'f32', row)}")
    body.store("%y", [1024], "f32", row, y)
    kernel = compile_body(tmp_path, target, body, {"x": "!tt.ptr<f32>", "y": "!tt.ptr<f32>"})
    assert kernel.metadata.shared == 4096
    x, y = numbers(shape, "f32") + 1, np.zeros(1024, np.float32)
    kernel[(1,)](x, y)
    expected = np.zeros(1024, np.float32)
    for at in np.ndindex(*shape):
        expected[formula(*at)] = x[at]
    np.testing.assert_array_equal(y, expected)
