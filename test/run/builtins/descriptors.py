"""Tensor descriptors made in kernels: blocks of one to five dimensions, padding, offsets anywhere,
rows, atomic accesses, functions and loops.
"""
# SPDX-License-Identifier: MIT

import itertools

import numpy as np
import pytest
import triton
import triton.language as tl
from harness import BFloat16, check, empty_like, launch, values


@triton.jit
def copy_block(
    x_ptr, out_ptr, m, n, stride, row, column, M: tl.constexpr, N: tl.constexpr, PAD: tl.constexpr
):
    x = tl.make_tensor_descriptor(x_ptr, [m, n], [stride, 1], [M, N], padding_option=PAD)
    out = tl.make_tensor_descriptor(out_ptr, [M, N], [N, 1], [M, N])
    out.store([0, 0], x.load([row, column]))


def padded_block(x, offsets, shape, fill=0):
    """The block of an array, computed index by index."""
    out = np.full(shape, fill, x.dtype)
    for index in itertools.product(*map(range, shape)):
        at = tuple(o + i for o, i in zip(offsets, index, strict=True))
        if all(0 <= a < extent for a, extent in zip(at, x.shape, strict=True)):
            out[index] = x[at]
    return out


FAR = 2**31 - 40


@pytest.mark.parametrize(
    "row, column",
    [(0, 0), (3, 16), (-2, -5), (15, 20), (-8, 0), (0, 40), (FAR, 0), (-FAR, FAR), (2, -FAR)],
)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int8", "uint16", "int64"])
def test_blocks(dtype, row, column, device):
    x = values(dtype, 16, 64, low=0, high=100)
    expected = padded_block(x[:, :24], (row, column), (8, 32))
    arguments = dict(x_ptr=x, out_ptr=empty_like(expected), m=16, n=24, stride=64, row=row)
    arguments |= dict(column=column, M=8, N=32, PAD="zero")
    check(copy_block, (1,), arguments, dict(out_ptr=expected), device=device)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_padding_with_nan(dtype, device):
    x = values(dtype, 10, 16)
    expected = padded_block(x[:, :13], (5, -3), (8, 16), np.nan)
    arguments = dict(x_ptr=x, out_ptr=empty_like(expected), m=10, n=13, stride=16, row=5)
    arguments |= dict(column=-3, M=8, N=16, PAD="nan")
    check(copy_block, (1,), arguments, dict(out_ptr=expected), device=device)


def test_bfloat16(device):
    x = values("float32", 8, 16)
    rounded = BFloat16(x)
    expected = padded_block(rounded.values(), (2, 4), (8, 16))
    arguments = dict(x_ptr=rounded, out_ptr=BFloat16(np.ones((8, 16))), m=8, n=16, stride=16)
    arguments |= dict(row=2, column=4, M=8, N=16, PAD="zero")
    check(copy_block, (1,), arguments, dict(out_ptr=BFloat16(expected)), device=device)


@triton.jit
def write_block(out_ptr, v_ptr, m, n, stride, row, column, M: tl.constexpr, N: tl.constexpr):
    v = tl.load(v_ptr + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :])
    out = tl.make_tensor_descriptor(out_ptr, [m, n], [stride, 1], [M, N])
    tl.store_tensor_descriptor(out, [row, column], v)


@pytest.mark.parametrize("row, column", [(0, 0), (-3, 5), (14, -30), (9, 20), (FAR, 0), (0, -FAR)])
def test_writes_outside_are_dropped(row, column, device):
    m, n = 16, 21
    memory = values("int32", m, 32, high=100)
    v = values("float32", 8, 32, low=100, high=200)
    expected = memory.copy()
    for i, j in itertools.product(range(8), range(32)):
        if 0 <= row + i < m and 0 <= column + j < n:
            expected[row + i, column + j] = int(v[i, j])
    arguments = dict(out_ptr=memory, v_ptr=v, m=m, n=n, stride=32, row=row, column=column, M=8, N=32)
    check(write_block, (1,), arguments, dict(out_ptr=expected), device=device)


@triton.jit
def copy_1d(x_ptr, out_ptr, a, A: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, [a], [1], [A])
    tl.make_tensor_descriptor(out_ptr, [A], [1], [A]).store([0], x.load([2]))


@triton.jit
def copy_3d(x_ptr, out_ptr, a, b, c, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, [a, b, c], [b * c, c, 1], [A, B, C])
    out = tl.make_tensor_descriptor(out_ptr, [A, B, C], [B * C, C, 1], [A, B, C])
    out.store([0, 0, 0], x.load([1, -1, 4]))


@triton.jit
def copy_4d(x_ptr, out_ptr, a, b, c, d, B: tl.constexpr, D: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, [a, b, c, d], [b * c * d, c * d, d, 1], [1, B, 2, D])
    out = tl.make_tensor_descriptor(out_ptr, [1, B, 2, D], [B * 2 * D, 2 * D, D, 1], [1, B, 2, D])
    out.store([0, 0, 0, 0], x.load([1, 0, 1, -4]))


@triton.jit
def copy_5d(x_ptr, out_ptr, a, b, c, d, e, E: tl.constexpr):
    x = tl.make_tensor_descriptor(
        x_ptr, [a, b, c, d, e], [b * c * d * e, c * d * e, d * e, e, 1], [2, 1, 4, 2, E]
    )
    out = tl.make_tensor_descriptor(
        out_ptr, [2, 1, 4, 2, E], [8 * E, 8 * E, 2 * E, E, 1], [2, 1, 4, 2, E]
    )
    out.store([0, 0, 0, 0, 0], x.load([0, 2, 1, -1, 8]))


@pytest.mark.parametrize(
    "kernel, shape, offsets, block",
    [
        (copy_1d, (30,), (2,), (32,)),
        (copy_3d, (3, 5, 12), (1, -1, 4), (4, 8, 16)),
        (copy_4d, (2, 3, 3, 12), (1, 0, 1, -4), (1, 4, 2, 16)),
        (copy_5d, (2, 3, 3, 2, 12), (0, 2, 1, -1, 8), (2, 1, 4, 2, 16)),
    ],
)
def test_every_rank(kernel, shape, offsets, block, device):
    x = values("float32", *shape)
    expected = padded_block(x, offsets, block)
    sizes = dict(zip("abcde", shape, strict=False))
    blocks = {"A": block[0], "B": block[-3] if len(block) > 2 else 1, "C": block[-1]}
    blocks |= {"D": block[-1], "E": block[-1]}
    if kernel is copy_3d:
        blocks["B"] = block[1]
    taken = {name: size for name, size in blocks.items() if name in kernel.arg_names}
    arguments = dict(x_ptr=x, out_ptr=empty_like(expected), **sizes, **taken)
    check(kernel, (1,), arguments, dict(out_ptr=expected), device=device)


# --- Rows --------------------------------------------------------------------------------------


@triton.jit
def gather_rows(x_ptr, rows_ptr, out_ptr, m, n, column, R: tl.constexpr, N: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, [m, n], [n, 1], [1, N])
    out = tl.make_tensor_descriptor(out_ptr, [R, N], [N, 1], [R, N])
    out.store([0, 0], x.gather(tl.load(rows_ptr + tl.arange(0, R)), column))


@pytest.mark.parametrize("index", ["int16", "int32"])
@pytest.mark.parametrize("column", [0, 8, 40, -4])
@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_gather(dtype, column, index, device):
    x = values(dtype, 20, 48, low=0, high=100)
    rows = np.array([3, 0, 19, 3, -1, 20, 7, 12, 1000, 5, 6, 7, 8, 9, 10, 11], index)
    expected = np.concatenate([padded_block(x, (int(row), column), (1, 32)) for row in rows])
    arguments = dict(x_ptr=x, rows_ptr=rows, out_ptr=empty_like(expected), m=20, n=48)
    arguments |= dict(column=column, R=16, N=32)
    check(gather_rows, (1,), arguments, dict(out_ptr=expected), device=device)


@triton.jit
def scatter_rows(out_ptr, rows_ptr, v_ptr, m, n, column, R: tl.constexpr, N: tl.constexpr):
    out = tl.make_tensor_descriptor(out_ptr, [m, n], [n, 1], [1, N])
    v = tl.make_tensor_descriptor(v_ptr, [R, N], [N, 1], [R, N])
    out.scatter(v.load([0, 0]), tl.load(rows_ptr + tl.arange(0, R)), column)


def test_scatter(device):
    memory = values("float16", 20, 48)
    v = values("float16", 8, 16, low=10, high=20)
    rows = np.array([3, 0, 19, -1, 20, 7, 12, 5], np.int32)
    expected = memory.copy()
    for row, line in zip(rows, v, strict=True):
        if 0 <= row < 20:
            expected[row, 40:48] = line[:8]
    arguments = dict(out_ptr=memory, rows_ptr=rows, v_ptr=v, m=20, n=48, column=40, R=8, N=16)
    check(scatter_rows, (1,), arguments, dict(out_ptr=expected), device=device)


# --- Atomic accesses -----------------------------------------------------------------------------


@triton.jit
def reduce_blocks(out_ptr, v_ptr, m, n, KIND: tl.constexpr, M: tl.constexpr, N: tl.constexpr):
    """Every program combines its block with the same block of memory."""
    v = tl.make_tensor_descriptor(v_ptr, [64, N], [N, 1], [M, N])
    block = v.load([tl.program_id(0) * M, 0])
    out = tl.make_tensor_descriptor(out_ptr, [m, n], [n, 1], [M, N])
    if KIND == "add":
        out.atomic_add([2, -3], block)
    elif KIND == "max":
        out.atomic_max([2, -3], block)
    elif KIND == "min":
        out.atomic_min([2, -3], block)
    elif KIND == "and":
        out.atomic_and([2, -3], block)
    elif KIND == "or":
        out.atomic_or([2, -3], block)
    else:
        out.atomic_xor([2, -3], block)


COMBINE = {
    "add": np.add,
    "max": np.maximum,
    "min": np.minimum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}


INTEGERS = ("int32", "uint32", "int64", "uint64")


@pytest.mark.parametrize(
    "kind, dtype",
    [("add", dtype) for dtype in ("int32", "uint32", "uint64", "float32", "float16")]
    + [(kind, dtype) for kind in ("max", "min") for dtype in (*INTEGERS, "float16", "bfloat16")]
    + [(kind, dtype) for kind in ("and", "or", "xor") for dtype in ("int32", "uint64")],
)
def test_atomic_accesses(kind, dtype, device):
    m, n = 6, 12
    is_float, in_numpy = "float" in dtype, "float32" if dtype == "bfloat16" else dtype
    low = 0 if dtype.startswith("u") or (is_float and kind == "add") else -64
    memory, v = (values(in_numpy, *shape, seed=seed, low=low, high=64) for shape, seed in (((m, n), 1), ((64, 16), 2)))
    if is_float:
        memory, v = np.round(memory), np.round(v)
    if dtype.startswith("uint"):
        v[::5] += np.iinfo(dtype).max // 2 + 1 if kind != "add" else 0
    expected = memory.copy()
    for block in v.reshape(8, 8, 16):
        expected[2:] = COMBINE[kind](expected[2:], block[:4, 3:15])
    kept = BFloat16 if dtype == "bfloat16" else np.asarray
    arguments = dict(out_ptr=kept(memory), v_ptr=kept(v), m=m, n=n, KIND=kind, M=8, N=16)
    check(reduce_blocks, (8,), arguments, dict(out_ptr=kept(expected)), device=device)


# --- Values of the language ----------------------------------------------------------------------


@triton.jit
def describe(ptr, n, BLOCK: tl.constexpr):
    return tl.make_tensor_descriptor(ptr, [n], [1], [BLOCK])


@triton.jit
def add_one(desc, offset):
    desc.store([offset], desc.load([offset]) + 1)


@triton.jit
def walk(x_ptr, y_ptr, n, first_is_x, BLOCK: tl.constexpr):
    x, y = describe(x_ptr, n, BLOCK), describe(y_ptr, n // 2, BLOCK)
    if first_is_x > 0:
        now = x
        other = y
    else:
        now = y
        other = x
    for offset in range(0, n, BLOCK):
        add_one(now, offset)
        last = now
        now = other
        other = last
    tl.store(x_ptr, now.shape[0])


@pytest.mark.parametrize("first_is_x", [0, 1])
def test_carried_by_loops_and_chosen_by_branches(first_is_x, device):
    n, block = 100, 16
    arrays = [values("int32", n, seed=1), values("int32", n, seed=2)]
    expected = [array.copy() for array in arrays]
    extents = [n, n // 2]
    chosen = 0 if first_is_x else 1
    for offset in range(0, n, block):
        expected[chosen][offset : min(offset + block, extents[chosen])] += 1
        chosen = 1 - chosen
    expected[0][0] = extents[chosen]
    arguments = dict(x_ptr=arrays[0], y_ptr=arrays[1], n=n, first_is_x=first_is_x, BLOCK=block)
    check(walk, (1,), arguments, dict(x_ptr=expected[0], y_ptr=expected[1]), device=device)


@triton.jit
def transpose(x_ptr, out_ptr, m, n, M: tl.constexpr, N: tl.constexpr):
    """A tile that is written where it is read, through two descriptors of the same memory."""
    x = tl.make_tensor_descriptor(x_ptr, [m, n], [n, 1], [M, N])
    out = tl.make_tensor_descriptor(out_ptr, [n, m], [m, 1], [N, M])
    row, column = tl.program_id(0) * M, tl.program_id(1) * N
    out.store([column, row], x.load([row, column]).T)


@pytest.mark.parametrize("m, n", [(16, 16), (20, 36), (4, 100)])
def test_transpose(m, n, device):
    x = values("float32", m, n)
    arguments = dict(x_ptr=x, out_ptr=empty_like(x.T.copy()), m=m, n=n, M=16, N=16)
    grid = (triton.cdiv(m, 16), triton.cdiv(n, 16))
    check(transpose, grid, arguments, dict(out_ptr=x.T), device=device)


def test_in_place(device):
    x = values("float32", 16, 16)
    memory = x.copy()
    if launch(transpose, (1, 1), memory, memory, 16, 16, M=16, N=16, device=device):
        np.testing.assert_array_equal(memory, x.T)


def test_memory_that_must_not_be_written(device):
    if device.startswith(("cuda", "hip")):
        pytest.skip("a GPU gets copies of arrays")
    x, out = values("float32", 16, 16), np.zeros((16, 16), np.float32)
    x.setflags(write=False)
    transpose[(1, 1)](x, out, 16, 16, M=16, N=16)
    np.testing.assert_array_equal(out, x.T)
    out.setflags(write=False)
    with pytest.raises(ValueError, match="read-only"):
        transpose[(1, 1)](x, out, 16, 16, M=16, N=16)


@triton.jit
def loaded(source, at, N: tl.constexpr):
    """Loads from a descriptor or from a pointer."""
    if isinstance(source, tl.core.tensor_descriptor_base):
        return source.load([at])
    return tl.load(source + at + tl.arange(0, N))


@triton.jit
def sum_of_both(x_ptr, out_ptr, N: tl.constexpr):
    x = tl.make_tensor_descriptor(x_ptr, [2 * N], [1], [N])
    tl.static_assert(isinstance(x, tl.tensor_descriptor) and not isinstance(x, tl.tensor))
    tl.static_assert(not isinstance(x_ptr, tl.tensor_descriptor))
    tl.store(out_ptr + tl.arange(0, N), loaded(x, N, N) + loaded(x_ptr, 0, N))


def test_isinstance_tells_descriptors(device):
    x = values("float32", 32)
    expected = x[16:] + x[:16]
    arguments = dict(x_ptr=x, out_ptr=empty_like(expected), N=16)
    check(sum_of_both, (1,), arguments, dict(out_ptr=expected), device=device)
