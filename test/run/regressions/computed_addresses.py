"""Elements narrower than 32 bits from computed addresses, and transposed loads that a store of the same array overlaps."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from harness import check, launch, values


@triton.jit
def gathered(x, at, y, n, BLOCK: tl.constexpr, MASKED: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if MASKED:
        tl.store(y + i, tl.load(x + tl.load(at + i, i < n, 0), i < n), i < n)
    else:
        tl.store(y + i, tl.load(x + tl.load(at + i)))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "float16", "float32", "int64"])
@pytest.mark.parametrize("index", ["int8", "int32", "int64"])
@pytest.mark.parametrize("block", [1, 4, 64, 256])
def test_gathers(dtype, index, block, device):
    n = 4 * block
    x = values("int8", 100, seed=1, low=-100, high=100).astype(dtype)
    at = values("int32", n, seed=2, low=0, high=100).astype(index)
    for masked, count in ((False, n), (True, n - 1)):
        y = np.zeros(n, dtype)
        if launch(gathered, (4,), x, at, y, count, block, masked, device=device):
            expected = x[at]
            expected[count:] = 0
            assert (y == expected).all()


@triton.jit
def transposed_sum(x, y, z, m, n, pitch, BM: tl.constexpr, BN: tl.constexpr):
    i = tl.arange(0, BM)[:, None]
    j = tl.arange(0, BN)[None, :]
    mask = (i < m) & (j < n)
    tile = tl.load(x + i * pitch + j, mask) + tl.load(y + j * pitch + i, mask)
    tl.store(z + i * pitch + j, tile, mask)


@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "int64"])
@pytest.mark.parametrize("m, n", [(64, 64), (64, 32), (33, 47), (1, 64), (64, 5)])
def test_transposed_loads_of_an_array_that_is_stored(dtype, m, n, device):
    """`y` begins within `z`: all of it is read before anything is stored."""
    if device != "cpu":
        pytest.skip("a GPU's threads store while others still load")
    pitch, size = 64, 128 * 64
    for shift in (0, 1, 63, 64, 1000):
        memory = values("int8", size, seed=3, low=-50, high=50).astype(dtype)
        x = values("int8", size, seed=4, low=-50, high=50).astype(dtype)
        before = memory.copy()
        y, z = memory[shift:], memory[500:]
        if launch(transposed_sum, (1,), x, y, z, m, n, pitch, 64, 64, device=device):
            rows = np.lib.stride_tricks.as_strided
            bytes_ = before.itemsize
            turned = rows(before[shift:], (m, n), (bytes_, pitch * bytes_))
            expected = before.copy()
            rows(expected[500:], (m, n), (pitch * bytes_, bytes_))[:] = turned + rows(
                x, (m, n), (pitch * bytes_, bytes_)
            )
            assert (memory == expected).all()


@triton.jit
def rows_by_a_list_of_lists(perm, at, x, out, N: tl.constexpr, M: tl.constexpr):
    """The row's numbers are needed for the gathered values alone, which are read before the store."""
    row = tl.program_id(0) * M + tl.arange(0, M)
    column = tl.arange(0, N)
    rows = tl.load(at + tl.load(perm + row))
    picked = tl.load(x + rows[:, None] * N + column[None, :])
    tl.store(out + row[:, None] * N + column[None, :], picked * 2)


@triton.jit
def numbers_used_again(perm, at, x, out, N: tl.constexpr, M: tl.constexpr):
    """The rows' numbers are stored, too, after a store that overwrites them."""
    row = tl.program_id(0) * M + tl.arange(0, M)
    column = tl.arange(0, N)
    rows = tl.load(at + tl.load(perm + row))
    picked = tl.load(x + rows[:, None] * N + column[None, :])
    tl.store(out + row[:, None] * N + column[None, :], picked * 2)
    tl.store(at + row, rows + 1)


@pytest.mark.parametrize("kernel", [rows_by_a_list_of_lists, numbers_used_again])
def test_loads_that_only_addresses_need(kernel, device):
    rows, columns = 16, 32
    perm = np.random.default_rng(1).permutation(rows).astype(np.int64)
    at = np.random.default_rng(2).integers(0, rows, rows)
    x = values("float32", rows, columns)
    expected = dict(out=2 * x[at[perm]])
    if kernel is numbers_used_again:
        expected["at"] = at[perm] + 1
    arguments = dict(perm=perm, at=at, x=x, out=np.zeros_like(x), N=columns, M=rows)
    check(kernel, (1,), arguments, expected, device=device)


@triton.jit
def gather_masked(x, at, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    where = tl.load(at + i, mask=i < n, other=0)
    tl.store(out + i, tl.load(x + where, mask=(i < n) & (where % 3 != 0), other=5), mask=i < n)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "float16", "bool"])
@pytest.mark.parametrize("n, offset", [(1, 1), (61, 0), (61, 3), (200, 1)])
def test_masked_gathers_of_narrow_elements(dtype, n, offset, device):
    """Narrow elements are gathered as the words that hold them: of any alignment, at both ends of an array."""
    x = values(dtype, 67 + offset)[offset:]
    at = np.random.default_rng(3).integers(0, 67, n).astype(np.int32)
    at[: n // 2 : 7] = 66
    expected = np.where(at % 3 != 0, x[at], np.array(5).astype(x.dtype))
    arguments = dict(x=x, at=at, out=np.zeros(n, x.dtype), n=n, BLOCK=64)
    check(gather_masked, ((n + 63) // 64,), arguments, dict(out=expected), device=device)
