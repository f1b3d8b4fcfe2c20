"""Loads and stores whose addresses have quotients, remainders and asserted indices, of arrays that overlap: all is read
before anything is stored."""
# SPDX-License-Identifier: MIT

import ctypes
import mmap

import numpy as np
import pytest
import triton
import triton.language as tl
from harness import launch, values


@triton.jit
def by_kind(i, KIND: tl.constexpr):
    if KIND == "remainder":
        at = i % 48
    elif KIND == "wide remainder":
        at = i % 4096
    elif KIND == "rows":
        at = i // 32 * 64 + i % 32
    elif KIND == "odd rows":
        at = i // 7 * 9 + i % 7
    elif KIND == "pairs":
        at = 2 * (i % 128) + i // 128
    elif KIND == "below zero":
        at = (i - 100) % 96 + (i - 100) // 3 + 200
    elif KIND == "clamped":
        at = tl.minimum(tl.maximum(i - 20, 0), 150)
    elif KIND == "chosen":
        at = tl.where(i < 100, i + 7, 300 - i)
    elif KIND == "backwards":
        at = i // 32 * 32 - i % 32 * 8
    else:
        at = i
    return at


@triton.jit
def moved(x, y, begin, n, FROM: tl.constexpr, TO: tl.constexpr, BLOCK: tl.constexpr):
    i = begin + tl.arange(0, BLOCK)
    tl.store(y + by_kind(i, TO), tl.load(x + by_kind(i, FROM), i < n) + 1, i < n)


def quotient(a, b):
    return np.where(a < 0, -(-a // b), a // b)


def positions(kind, i):
    remainder = i - quotient(i, 48) * 48
    shifted = i - 100
    return {
        "remainder": remainder,
        "wide remainder": i % 4096,
        "rows": i // 32 * 64 + i % 32,
        "odd rows": i // 7 * 9 + i % 7,
        "pairs": 2 * (i % 128) + i // 128,
        "below zero": shifted - quotient(shifted, 96) * 96 + quotient(shifted, 3) + 200,
        "clamped": np.minimum(np.maximum(i - 20, 0), 150),
        "chosen": np.where(i < 100, i + 7, 300 - i),
        "backwards": i // 32 * 32 - i % 32 * 8,
        "plain": i,
    }[kind]


KINDS = ["remainder", "wide remainder", "rows", "odd rows", "pairs", "below zero", "clamped", "chosen", "backwards"]
PLAIN_OR_ROWS = ["plain", "rows", "odd rows"]  # those that store no place twice


@pytest.mark.parametrize("dtype", ["int8", "int16", "float32", "int64"])
@pytest.mark.parametrize("source", KINDS)
@pytest.mark.parametrize("target", PLAIN_OR_ROWS)
def test_all_is_read_before_anything_is_stored(dtype, source, target, device):
    if device != "cpu":
        pytest.skip("a GPU's threads store while others still load")
    size = 4096
    for shift in (-600, -40, -1, 0, 1, 16, 33, 250, 1000):
        for begin, n in ((0, 256), (0, 1), (0, 201), (64, 320), (32, 0)):
            memory = values("int8", size, seed=5, low=-50, high=50).astype(dtype)
            expected = memory.copy()
            x, y = memory[1000:], memory[1000 + shift :]
            if launch(moved, (1,), x, y, begin, n, source, target, 256, device=device):
                i = np.arange(begin, min(begin + 256, n))
                before = expected.copy()
                expected[1000 + shift + positions(target, i)] = before[1000 + positions(source, i)] + 1
                assert (memory == expected).all(), (shift, begin, n)


@triton.jit
def selected(x, at, y, n, N: tl.constexpr, MASKED: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    mask = i < n
    if MASKED:
        row = tl.load(at + i // 32, mask, other=-1)
        tl.device_assert(((0 <= row) & (row < N)) | ~mask, "no such row")
        tl.store(y + i, tl.load(x + 32 * row + i % 32, mask) * 2, mask)
    else:
        row = tl.load(at + i // 32)
        tl.device_assert((0 <= row) & (row < N), "no such row")
        tl.store(y + i, tl.load(x + 32 * row + i % 32) * 2)


@pytest.mark.parametrize("masked, n", [(False, 256), (True, 256), (True, 200), (True, 1)])
@pytest.mark.parametrize("index", ["int32", "int64"])
def test_rows_whose_numbers_are_asserted(masked, n, index, device):
    """The range of the rows follows from the assertion, which fails for any other row."""
    if device != "cpu":
        pytest.skip("a GPU's threads store while others still load")
    rows = 6
    at = values("int32", 8, seed=1, low=0, high=rows).astype(index)
    for shift in (-300, -256, -255, -1, 0, 32, 191, 192, 500):
        memory = values("float32", 2048, seed=2)
        expected = memory.copy()
        x, y = memory[400:], memory[400 + shift :]
        if launch(selected, (1,), x, at, y, n, rows, masked, 256, device=device, debug=True):
            i = np.arange(n)
            expected[400 + shift + i] = 2 * expected[400 + 32 * at[i // 32].astype(int) + i % 32]
            assert (memory == expected).all(), shift
    at[0] = rows
    with pytest.raises(RuntimeError, match="no such row"):
        launch(selected, (1,), x, at, y, n, rows, masked, 256, device=device, debug=True)


@triton.jit
def masked_rows(p, q, KIND: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    if KIND == 0:
        mask = i % 3 != 0
    elif KIND == 1:
        mask = i >= 3
    elif KIND == 2:
        mask = i % 16 >= 5
    else:
        mask = tl.load(q + i) > 0
    value = tl.load(p + i // 16, mask, 7.0)
    tl.store(p + i, tl.zeros((N,), tl.float32) - 1)
    tl.store(q + i, value)


@pytest.mark.parametrize("kind", range(4))
def test_masks_within_elements_that_are_one(kind, device):
    if device != "cpu":
        pytest.skip("a GPU's threads store while others still load")
    p, q = np.arange(256, dtype=np.float32), (np.arange(256) % 2).astype(np.float32)
    i = np.arange(256)
    mask = [i % 3 != 0, i >= 3, i % 16 >= 5, q > 0][kind]
    expected = np.where(mask, p[i // 16], 7)
    if launch(masked_rows, (1,), p, q, kind, 256, device=device):
        assert (q == expected).all()


@triton.jit
def hashed(p, q, KIND: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    if KIND == 0:
        at = i * 1103515245 % 1024 + 1024
    elif KIND == 1:
        at = tl.minimum(tl.maximum(i * 1103515245, -1000) + 1024, 1030)
    elif KIND == 2:
        at = (i * 1664525 + 1013904223) // 65536 % 1024 + 1024
    else:
        at = (i * 1103515245).to(tl.int64) % 1024 + 1024
    value = tl.load(p + at)
    tl.store(p + i, tl.zeros((N,), tl.float32) - 1)
    tl.store(q + i, value)


@pytest.mark.parametrize("kind", range(4))
def test_indices_that_wrap_around_before_they_are_bounded(kind, device):
    if device != "cpu":
        pytest.skip("a GPU's threads store while others still load")
    p, q = np.arange(4096, dtype=np.float32), np.zeros(1024, np.float32)
    i = np.arange(1024, dtype=np.int32)
    with np.errstate(over="ignore"):
        product = i * np.int32(1103515245)
        sum_ = i * np.int32(1664525) + np.int32(1013904223)
    remainder = np.fmod(product.astype(np.int64), 1024)
    at = [
        remainder + 1024,
        np.minimum(np.maximum(product, -1000) + 1024, 1030),
        np.fmod(quotient(sum_.astype(np.int64), 65536), 1024) + 1024,
        remainder + 1024,
    ][kind]
    expected = p[at].copy()
    if launch(hashed, (1,), p, q, kind, 1024, device=device):
        assert (q == expected).all()


MAP_32BIT = 0x40


@pytest.fixture
def low_array():
    """4096 zeros in the lowest two GiB of the address space."""
    libc = ctypes.CDLL(None)
    libc.mmap.restype = ctypes.c_void_p
    libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
    libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
    flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | MAP_32BIT
    address = libc.mmap(None, 4 * 4096, mmap.PROT_READ | mmap.PROT_WRITE, flags, -1, 0)
    if address >= 1 << 32:
        pytest.skip("no memory at low addresses")
    yield np.ctypeslib.as_array((ctypes.c_float * 4096).from_address(address))
    libc.munmap(address, 4 * 4096)


def test_ranges_that_begin_below_address_zero(low_array, device):
    if device != "cpu":
        pytest.skip("a GPU's threads store while others still load")
    low_array[:] = np.arange(4096)
    with np.errstate(over="ignore"):
        product = np.arange(1024, dtype=np.int32) * np.int32(1103515245)
    expected = low_array[np.minimum(np.maximum(product, -1000) + 1024, 1030)].copy()
    q = np.zeros(1024, np.float32)
    if launch(hashed, (1,), low_array, q, 1, 1024, device=device):
        assert (q == expected).all()


@triton.jit
def transposed_index(p, at, mask, q, N: tl.constexpr):
    i = tl.arange(0, N)[:, None] * N + tl.arange(0, N)[None, :]
    index = tl.load(at + i)
    chosen = tl.load(mask + i) != 0
    tl.device_assert((index >= 1024) & (index < 2048), "index", mask=chosen)
    value = tl.load(p + tl.trans(index), chosen, 0.0)
    tl.store(p + i, tl.zeros((N, N), tl.float32) - 1)
    tl.store(q + i, value)


def test_an_assertion_bounds_the_elements_of_its_mask(device):
    if device != "cpu":
        pytest.skip("a GPU's threads store while others still load")
    N = 32
    p, q = np.arange(4096, dtype=np.float32), np.zeros((N, N), np.float32)
    mask = (np.arange(N)[:, None] < np.arange(N)[None, :]).astype(np.int32)
    at = np.where(mask, 1500, 5 + np.arange(N)).astype(np.int32)
    expected = np.where(mask, p[at.T], 0)
    if launch(transposed_index, (1,), p, at, mask, q, N, device=device, debug=True):
        assert (q == expected).all()


@triton.jit
def two_remainders(p, q, a, b, m, n, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(q + i, tl.load(p + 2 * ((a + i) % m) - (b + i) % n))


def test_wraps_of_two_remainders_that_cancel(device):
    p, i = np.arange(512, dtype=np.float32), np.arange(64)
    for a in range(0, 32, 4):
        for b in range(0, 64, 6):
            q = np.zeros(64, np.float32)
            if launch(two_remainders, (1,), p[100:], q, a, b, 32, 64, 64, device=device):
                assert (q == p[100 + 2 * ((a + i) % 32) - (b + i) % 64]).all(), (a, b)
