"""Block pointers: boundary checks in every combination, padding, movement, functions, tuples."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from harness import check, empty_like, launch, values

pytestmark = pytest.mark.filterwarnings("ignore:.*make_block_ptr is deprecated")


@triton.jit
def copy(
    x_ptr, out_ptr, m, n, stride, first, second, CHECK: tl.constexpr, PADDING: tl.constexpr,
    M: tl.constexpr, N: tl.constexpr,
):  # fmt: skip
    x = tl.make_block_ptr(x_ptr, (m, n), (stride, 1), (first, second), (M, N), (1, 0))
    out = tl.make_block_ptr(out_ptr, (M, N), (N, 1), (0, 0), (M, N), (1, 0))
    tl.store(out, tl.load(x, boundary_check=CHECK, padding_option=PADDING))


def window(memory, m, n, first, second, shape, check, fill):
    """The block of the m x n corner of an array whose memory continues around it."""
    out = np.empty(shape, memory.dtype)
    for r in range(shape[0]):
        for c in range(shape[1]):
            row, column = first + r, second + c
            outside = (0 in check and not 0 <= row < m) or (1 in check and not 0 <= column < n)
            out[r, c] = fill if outside else memory[40 + row, 40 + column]
    return out


@pytest.mark.parametrize("dtype", ["float16", "float32", "int8", "int64"])
@pytest.mark.parametrize("first, second", [(0, 0), (10, 3), (-5, -7), (19, 29), (-16, 30), (25, 40)])
@pytest.mark.parametrize("dims", [(0, 1), (1,), (0,), ()])
@pytest.mark.parametrize("padding", ["zero", "nan"])
def test_padding(padding, dims, first, second, dtype, device):
    if padding == "nan" and not dtype.startswith("float"):
        pytest.skip("integers have no NaN")
    m, n, shape = 20, 30, (16, 8)
    memory = values(dtype, 120, 120, low=-100, high=100)
    x = memory[40:, 40:]
    fill = np.nan if padding == "nan" else 0
    expected = window(memory, m, n, first, second, shape, dims, fill)
    out = np.zeros(shape, dtype)
    arguments = (x, out, m, n, 120, first, second)
    if launch(copy, (1,), *arguments, CHECK=dims, PADDING=padding, M=16, N=8, device=device):
        np.testing.assert_array_equal(out, expected)


@triton.jit
def matrix_sum(
    x_ptr, y_ptr, out_ptr, m, n, x_rows, x_columns, M: tl.constexpr, N: tl.constexpr
):
    """Walks along a row of blocks; the second array is read transposed."""
    pid = tl.program_id(0)
    x = tl.make_block_ptr(x_ptr, (m, n), (x_rows, x_columns), (pid * M, 0), (M, N), (1, 0))
    y = tl.make_block_ptr(y_ptr, (m, n), (1, m), (pid * M, 0), (M, N), (0, 1))
    out = tl.make_block_ptr(out_ptr, (m, n), (n, 1), (pid * M, 0), (M, N), (1, 0))
    for _ in range(0, n, N):
        total = tl.load(x, boundary_check=(0, 1)) + tl.load(y, boundary_check=(0, 1))
        tl.store(out, total, boundary_check=(0, 1))
        x = tl.advance(x, (0, N))
        y = y.advance((0, N))
        out = tl.advance(out, [0, N])


@pytest.mark.parametrize("m, n", [(1, 1), (16, 32), (33, 70), (5, 129)])
@pytest.mark.parametrize("columns", [1, 2])
def test_carried_by_a_loop(m, n, columns, device):
    x, y = values("float32", m, n * columns), values("float32", n, m, seed=1)
    arguments = dict(x_ptr=x, y_ptr=y, out_ptr=empty_like(y.T.copy()), m=m, n=n)
    arguments |= dict(x_rows=n * columns, x_columns=columns, M=16, N=32)
    expected = dict(out_ptr=x[:, ::columns] + y.T)
    check(matrix_sum, (triton.cdiv(m, 16),), arguments, expected, device=device)


@triton.jit
def pair_of(x_ptr, n, BLOCK: tl.constexpr):
    left = tl.make_block_ptr(x_ptr, (n,), (1,), (0,), (BLOCK,), (0,))
    return left, tl.advance(left, (BLOCK,))


@triton.jit
def chosen(pair, which):
    if which:
        result = pair[0]
    else:
        result = pair[1]
    return result


@triton.jit
def choose(x_ptr, out_ptr, n, which, BLOCK: tl.constexpr):
    pair = pair_of(x_ptr, n, BLOCK)
    block = chosen(pair, which > 0)
    out = tl.make_block_ptr(out_ptr, (BLOCK,), (1,), (0,), (BLOCK,), (0,))
    out.store(tl.load(block, boundary_check=(0,), padding_option="zero"))


@pytest.mark.parametrize("which", [0, 1])
def test_functions_tuples_and_branches(which, device):
    x = values("int32", 50, low=1, high=100)
    padded = np.concatenate([x, np.zeros(14, np.int32)])
    arguments = dict(x_ptr=x, out_ptr=empty_like(padded[:32]), n=50, which=which, BLOCK=32)
    expected = dict(out_ptr=padded[:32] if which else padded[32:])
    check(choose, (1,), arguments, expected, device=device)


@triton.jit
def three_dimensions(x_ptr, out_ptr, a, b, c, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    x = tl.make_block_ptr(x_ptr, (a, b, c), (b * c, c, 1), (1, -1, 2), (A, B, C), (2, 1, 0))
    block = tl.load(x, boundary_check=(0, 1, 2), padding_option="zero")
    out = tl.make_block_ptr(out_ptr, (A, B, C), (B * C, C, 1), (0, 0, 0), (A, B, C), (2, 1, 0))
    tl.store(out, block)


def test_three_dimensions(device):
    x = values("float64", 3, 5, 7)
    padded = np.zeros((4, 8, 8))
    padded[:2, 1:6, :5] = x[1:, :, 2:]
    arguments = dict(x_ptr=x, out_ptr=empty_like(padded), a=3, b=5, c=7, A=4, B=8, C=8)
    check(three_dimensions, (1,), arguments, dict(out_ptr=padded), device=device)


@triton.jit
def booleans(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    x = tl.make_block_ptr(x_ptr, (n,), (1,), (0,), (BLOCK,), (0,))
    out = tl.make_block_ptr(out_ptr, (BLOCK,), (1,), (0,), (BLOCK,), (0,))
    tl.store(out, ~tl.load(x, boundary_check=(0,), padding_option="zero"))


def test_booleans(device):
    x = values("bool", 20)
    expected = ~np.concatenate([x, np.zeros(12, bool)])
    arguments = dict(x_ptr=x, out_ptr=np.zeros(32, bool), n=20, BLOCK=32)
    check(booleans, (1,), arguments, dict(out_ptr=expected), device=device)


@triton.jit
def wide(x_ptr, out_ptr, offset, BLOCK: tl.constexpr):
    x = tl.make_block_ptr(x_ptr, (offset,), (1,), (offset - 4,), (BLOCK,), (0,))
    out = tl.make_block_ptr(out_ptr, (BLOCK,), (1,), (0,), (BLOCK,), (0,))
    tl.store(out, tl.load(x, boundary_check=(0,), padding_option="zero"))


def test_extents_beyond_32_bits(device):
    """Only the last four elements of an array of 2**33 bytes are mapped."""
    if device.startswith(("cuda", "hip")):
        pytest.skip("the address is made up")
    memory = np.arange(1, 9, dtype=np.int8)
    out = np.zeros(8, np.int8)

    class Far:
        dtype = "int8"

        def data_ptr(self):
            return memory.ctypes.data + 4 - 2**33

    launch(wide, (1,), Far(), out, 2**33, BLOCK=8, device=device)
    assert out.tolist() == [1, 2, 3, 4, 0, 0, 0, 0]
