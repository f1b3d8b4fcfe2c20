"""Operands of dots that several programs in succession multiply: what they were made of may still differ"""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from harness import BFloat16, launch, values

EDGE = 16


def integers(shape, seed, dtype="float32"):
    """Small integers, whose products are exact in every format."""
    return values("int8", int(np.prod(shape)), seed=seed, low=-4, high=5).astype(dtype).reshape(shape)


@triton.jit
def product(
    a, b, c, M, N, K, sam, sak, sbk, sbn, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, ORDER: tl.constexpr
):
    """Programs in an order of rows or columns of tiles, or in groups of three rows."""
    pid, rows, columns = tl.program_id(0), tl.cdiv(M, BM), tl.cdiv(N, BN)
    if ORDER == "rows":
        row, column = pid // columns, pid % columns
    elif ORDER == "columns":
        row, column = pid % rows, pid // rows
    else:
        first = pid // (3 * columns) * 3
        height = tl.minimum(rows - first, 3)
        row, column = first + pid % (3 * columns) % height, pid % (3 * columns) // height
    i, j, k = row * BM + tl.arange(0, BM), column * BN + tl.arange(0, BN), tl.arange(0, BK)
    left = a + (i % M)[:, None] * sam + k[None, :] * sak
    right = b + k[:, None] * sbk + (j % N)[None, :] * sbn
    total = tl.zeros((BM, BN), c.dtype.element_ty)
    for begin in range(0, K, BK):
        x = tl.load(left, mask=k[None, :] < K - begin, other=0)
        y = tl.load(right, mask=k[:, None] < K - begin, other=0)
        total = tl.dot(x, y, total, out_dtype=c.dtype.element_ty)
        left += BK * sak
        right += BK * sbk
    tl.store(c + i[:, None] * N + j[None, :], total, (i[:, None] < M) & (j[None, :] < N))


def laid_out(matrix, is_transposed):
    """The memory of a matrix and its strides."""
    rows, columns = matrix.shape
    return (np.ascontiguousarray(matrix.T), 1, max(rows, 1)) if is_transposed else (matrix, columns, 1)


@pytest.mark.parametrize("dtype", ["float32", "float16", "int8"])
@pytest.mark.parametrize("order", ["rows", "columns", "groups"])
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("m, n, k", [(96, 64, 64), (80, 77, 50), (16, 130, 1), (400, 16, 33), (33, 16, 0)])
def test_orders_of_programs(dtype, order, transposed, m, n, k, device):
    a, b = integers((m, k), 1, dtype), integers((k, n), 2, dtype)
    c = np.full((m, n), -1, np.int32 if dtype == "int8" else np.float32)
    memory, *strides = laid_out(b, transposed)
    grid = (-(-m // EDGE) * -(-n // EDGE),)
    extents = {"BM": EDGE, "BN": EDGE, "BK": EDGE, "ORDER": order}
    if not launch(product, grid, a, memory, c, m, n, k, k, 1, *strides, **extents, device=device):
        return  # compiled only
    np.testing.assert_array_equal(c, a.astype(c.dtype) @ b.astype(c.dtype))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int8"])
@pytest.mark.parametrize("order", ["rows", "groups"])
@pytest.mark.parametrize("m, n, k", [(400, 64, 64), (80, 177, 50), (600, 130, 330)])
def test_transposed_left_operand(dtype, order, m, n, k, device):
    edge = 32
    a, b = (integers(shape, seed, "int8" if dtype == "int8" else "float32") for seed, shape in ((1, (m, k)), (2, (k, n))))
    c = np.full((m, n), -1, np.int32 if dtype == "int8" else np.float32)
    (left, *left_strides), (right, *right_strides) = laid_out(a, True), laid_out(b, False)
    if dtype == "bfloat16":
        left, right = BFloat16(left), BFloat16(right)
    grid = (-(-m // edge) * -(-n // edge),)
    extents = {"BM": edge, "BN": edge, "BK": edge, "ORDER": order}
    if not launch(product, grid, left, right, c, m, n, k, *left_strides, *right_strides, **extents, device=device):
        return  # compiled only
    np.testing.assert_array_equal(c, a.astype(c.dtype) @ b.astype(c.dtype))


def test_more_iterations_than_tiles_are_kept(device):
    m, n, k = EDGE * 40, EDGE, EDGE * 150
    a, b = integers((m, k), 1), integers((k, n), 2)
    c = np.full((m, n), np.nan, np.float32)
    extents = {"BM": EDGE, "BN": EDGE, "BK": EDGE, "ORDER": "columns"}
    if not launch(product, (40,), a, b, c, m, n, k, k, 1, n, 1, **extents, device=device):
        return  # compiled only
    np.testing.assert_array_equal(c, a @ b)


@triton.jit
def own_depth(a, b, c, group, programs, STEPS: tl.constexpr, EDGE: tl.constexpr, DEPTH: tl.constexpr):
    """Programs come back to the tiles of b after `group` of them, each with its own number of iterations."""
    pid = tl.program_id(0)
    if DEPTH == "growing":
        steps = pid * STEPS // programs + 1
    elif DEPTH == "shrinking":
        steps = STEPS - pid * STEPS // programs
    else:
        steps = pid * 7 % (STEPS + 1)
    i = tl.arange(0, EDGE)
    at = i[:, None] * EDGE + i[None, :]
    total = tl.zeros((EDGE, EDGE), tl.float32)
    for step in range(steps):
        y = tl.load(b + (pid % group * STEPS + step) * EDGE * EDGE + at)
        total = tl.dot(tl.load(a + at), y, total)
    tl.store(c + pid * EDGE * EDGE + at, total)


@pytest.mark.parametrize("depth", ["growing", "shrinking", "mixed"])
@pytest.mark.parametrize("group, steps", [(1, 9), (3, 9), (30, 9), (4, 100), (5, 1)])
def test_own_numbers_of_iterations(depth, group, steps, device):
    programs = 120
    a, b = integers((EDGE, EDGE), 1), integers((group, steps, EDGE, EDGE), 2)
    c = np.full((programs, EDGE, EDGE), np.nan, np.float32)
    extents = {"STEPS": steps, "EDGE": EDGE, "DEPTH": depth}
    if not launch(own_depth, (programs,), a, b, c, group, programs, **extents, device=device):
        return  # compiled only
    products = np.concatenate([np.zeros((group, 1, EDGE, EDGE)), np.cumsum(a @ b, axis=1)], axis=1)
    for program in range(programs):
        ends = {
            "growing": program * steps // programs + 1,
            "shrinking": steps - program * steps // programs,
            "mixed": program * 7 % (steps + 1),
        }
        np.testing.assert_array_equal(c[program], products[program % group, ends[depth]], f"program {program}")


@triton.jit
def own_part(a, b, c, EDGE: tl.constexpr, WIDTH: tl.constexpr, KIND: tl.constexpr):
    """Every program multiplies the same memory of b, of which it has another part, mask or scale."""
    pid = tl.program_id(0)
    i, j = tl.arange(0, EDGE), tl.arange(0, WIDTH)
    at = i[:, None] * WIDTH + j[None, :]
    total = tl.zeros((EDGE, WIDTH), tl.float32)
    for step in range(2):
        x = tl.load(a + i[:, None] * EDGE + i[None, :])
        tile = b + step * EDGE * WIDTH + at
        if KIND == "mask":
            y = tl.load(tile, i[:, None] < pid % (EDGE + 1), 0.0)
        elif KIND == "other":
            y = tl.load(tile, j[None, :] >= 3, pid.to(tl.float32))
        elif KIND == "half":
            y = tl.load(tile) + (pid % 3).to(tl.float16)
        elif KIND == "flag":
            y = tl.where(pid % 3 == 0, tl.load(tile), 1.0)
        elif KIND == "scale":
            y = tl.load(tile) * (pid % 7).to(tl.float32)
        elif KIND == "parity":
            y = tl.where((j[None, :] + pid) % 2 == 0, tl.load(tile), 1.0)
        elif KIND == "scalar in memory":
            y = tl.load(tile) + tl.load(a + pid % 5)
        else:
            y = tl.load(tile)
        total = tl.dot(x, y, total)
    if KIND == "columns":
        tl.store(c + pid * EDGE * WIDTH + at, total, j[None, :] < pid * 5 % (WIDTH + 1))
    elif KIND == "rows":
        tl.store(c + pid * EDGE * WIDTH + at, total, i[:, None] < pid % (EDGE + 1))
    else:
        tl.store(c + pid * EDGE * WIDTH + at, total)


def expected_of_own_part(kind, a, b, program):
    i, j = np.arange(EDGE)[:, None], np.arange(b.shape[2])[None, :]
    total = np.zeros(b.shape[1:], np.float32)
    for tile in b:
        y = {
            "mask": lambda: np.where(i < program % (EDGE + 1), tile, 0),
            "other": lambda: np.where(j >= 3, tile, program),
            "half": lambda: tile + program % 3,
            "flag": lambda: tile if program % 3 == 0 else np.ones_like(tile),
            "scale": lambda: tile * (program % 7),
            "parity": lambda: np.where((j + program) % 2 == 0, tile, 1),
            "scalar in memory": lambda: tile + a[0, program % 5],
        }.get(kind, lambda: tile)()
        total = total + a @ y
    if kind == "columns":
        return np.where(j < program * 5 % (b.shape[2] + 1), total, -1)
    if kind == "rows":
        return np.where(i < program % (EDGE + 1), total, -1)
    return total


KINDS = ["mask", "other", "half", "flag", "scale", "parity", "scalar in memory", "columns", "rows"]


@pytest.mark.parametrize("width", [16, 256])
@pytest.mark.parametrize("kind", KINDS)
def test_tiles_that_differ(kind, width, device):
    programs = 60
    a, b = integers((EDGE, EDGE), 1), integers((2, EDGE, width), 2)
    c = np.full((programs, EDGE, width), -1, np.float32)
    if not launch(own_part, (programs,), a, b, c, EDGE=EDGE, WIDTH=width, KIND=kind, device=device):
        return  # compiled only
    for program in range(programs):
        np.testing.assert_array_equal(c[program], expected_of_own_part(kind, a, b, program), f"program {program}")


@triton.jit
def powers(a, c, EDGE: tl.constexpr, COUNT: tl.constexpr):
    """c becomes the power COUNT of a, times c, through memory of the program's own."""
    pid = tl.program_id(0)
    i = tl.arange(0, EDGE)
    at = i[:, None] * EDGE + i[None, :]
    own = c + pid * EDGE * EDGE + at
    for _ in range(COUNT):
        total = tl.zeros((EDGE, EDGE), tl.float32)
        for step in range(1):
            total = tl.dot(tl.load(a + at), tl.load(own + step), total)
        tl.store(own, total)


def test_stores_of_an_outer_loop(device):
    programs, count = 24, 5
    a, c = integers((EDGE, EDGE), 1), integers((programs, EDGE, EDGE), 2)
    a = np.where(np.abs(a) > 1, 0, a)
    expected = c.copy()
    for _ in range(count):
        expected = a @ expected
    if not launch(powers, (programs,), a, c, EDGE=EDGE, COUNT=count, device=device):
        return  # compiled only
    np.testing.assert_array_equal(c, expected)


@triton.jit
def several_dots(a, b, d, c, flags, EDGE: tl.constexpr, KIND: tl.constexpr):
    """Dots that use one tile of b, or prefetch its memory, beside the one that it is kept for."""
    pid = tl.program_id(0)
    i = tl.arange(0, EDGE)
    at, across = i[:, None] * EDGE + i[None, :], i[None, :] * EDGE + i[:, None]
    total = tl.zeros((EDGE, EDGE), tl.float32)
    second, sums = total, tl.zeros((EDGE,), tl.float32)
    if KIND == "outer":
        for step in range(3):
            y = tl.load(b + step * EDGE * EDGE + at)
            second = tl.dot(tl.load(a + at), tl.load(d + step * EDGE * EDGE + at), second)
            for inner in range(2):
                total = tl.dot(tl.load(a + at), y * (inner + 1), total)
            sums += tl.sum(y, 0)
            second = tl.dot(tl.load(a + at), tl.load(d + step * EDGE * EDGE + at), second)
    else:
        for step in range(3):
            x, y = tl.load(a + at), tl.load(b + step * EDGE * EDGE + across)
            if KIND == "used twice":
                total = tl.dot(x, y, total)
                total = tl.dot(x + 1, y, total)
            elif KIND == "branch":
                total = tl.dot(x, y, total)
                if tl.load(flags) != 0:
                    second = tl.dot(x, y, second)
            elif KIND == "only in a branch":
                if (pid + step) % 2 == 0:
                    total = tl.dot(x, y, total)
            elif KIND == "only in a loop":
                for _ in range((pid + step) % 3):
                    total = tl.dot(x, y, total)
            elif KIND == "inner loop":
                total = tl.dot(x, y, total)
                for _ in range(tl.load(flags)):
                    second = tl.dot(x, y, second)
            else:
                v = tl.load(b + step * EDGE * EDGE + at)
                v = tl.exp2(v)
                sums += tl.sum(v, 0)
                second = tl.dot(x, tl.load(d + step * EDGE * EDGE + at), second)
                total = tl.dot(x, v, total)
    tl.store(c + pid * EDGE * EDGE + at, total + second * 1000 + sums[None, :])


@pytest.mark.parametrize(
    "kind", ["used twice", "branch", "only in a branch", "inner loop", "only in a loop", "expensive", "outer"]
)
def test_several_dots(kind, device):
    programs = 40
    a, b, d = integers((EDGE, EDGE), 1), integers((3, EDGE, EDGE), 2), integers((3, EDGE, EDGE), 3)
    flags = np.int32([1])
    c = np.zeros((programs, EDGE, EDGE), np.float32)
    if not launch(several_dots, (programs,), a, b, d, c, flags, EDGE=EDGE, KIND=kind, device=device):
        return  # compiled only
    expected = np.zeros((programs, EDGE, EDGE), np.float64)
    pid = np.arange(programs)[:, None, None]
    for step, (y, z) in enumerate(zip(b.astype(np.float64), d.astype(np.float64), strict=True)):
        expected += {
            "used twice": lambda: (2 * a + 1) @ y.T,
            "branch": lambda: 1001 * (a @ y.T),
            "only in a branch": lambda: ((pid + step) % 2 == 0) * (a @ y.T),
            "inner loop": lambda: 1001 * (a @ y.T),
            "only in a loop": lambda: (pid + step) % 3 * (a @ y.T),
            "expensive": lambda: a @ np.exp2(y) + np.exp2(y).sum(0) + 1000 * (a @ z),
            "outer": lambda: 3 * (a @ y) + y.sum(0) + 2000 * (a @ z),
        }[kind]()
    np.testing.assert_array_equal(c, expected.astype(np.float32))


@triton.jit
def indirect(a, b, c, which, EDGE: tl.constexpr):
    """Tiles of b by numbers in memory, which repeat."""
    pid = tl.program_id(0)
    i = tl.arange(0, EDGE)
    at = i[:, None] * EDGE + i[None, :]
    total = tl.zeros((EDGE, EDGE), tl.float32)
    for step in range(3):
        tile = tl.load(which + pid * 3 + step)
        total = tl.dot(tl.load(a + at), tl.load(b + tile * EDGE * EDGE + at), total)
    tl.store(c + pid * EDGE * EDGE + at, total)


def test_tiles_by_number(device):
    programs = 50
    a, b = integers((EDGE, EDGE), 1), integers((4, EDGE, EDGE), 2)
    which = values("int32", programs * 3, seed=3, low=0, high=2).reshape(programs, 3) * [1, 2, 3]
    which = which.astype(np.int32)
    c = np.zeros((programs, EDGE, EDGE), np.float32)
    if not launch(indirect, (programs,), a, b, c, which, EDGE=EDGE, device=device):
        return  # compiled only
    np.testing.assert_array_equal(c, np.stack([sum(a @ b[tile] for tile in row) for row in which]))


def test_a_launch_sees_memory_changed_after_the_last(device):
    a, b = integers((EDGE, EDGE), 1), integers((4, EDGE, EDGE), 2)
    which = np.zeros((30, 3), np.int32)
    for change in range(3):
        c = np.zeros((30, EDGE, EDGE), np.float32)
        b += change
        if not launch(indirect, (30,), a, b, c, which, EDGE=EDGE, device=device):
            return  # compiled only
        np.testing.assert_array_equal(c, np.broadcast_to(3 * (a @ b[0]), c.shape))
