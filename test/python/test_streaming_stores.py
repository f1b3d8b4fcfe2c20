"""Stores past the caches: of launches that write more than those hold, to pages that exist."""
# SPDX-License-Identifier: MIT

import mmap

import numpy as np
import pytest
import triton
import triton.language as tl


@triton.jit
def doubled(x, out, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i, mask=i < n) * 2, mask=i < n)


def fresh(n: int) -> np.ndarray:
    """Zeros in pages that no one has touched."""
    return np.frombuffer(mmap.mmap(-1, 4 * n), np.float32)


@pytest.mark.parametrize("offset", [0, 3])
def test_new_and_old_pages(offset):
    n = 40_000_001
    x = np.arange(n, dtype=np.float32)
    out = fresh(n + offset)[offset:]
    for _ in range(2):
        kernel = doubled[(triton.cdiv(n, 4096),)](x, out, n, BLOCK=4096)
        assert np.array_equal(out, x * 2)
        out[:] = 0
    # Without the size of the cache no store bypasses it; with it each asks whether the page exists.
    assert ("!nontemporal" in kernel.asm["llir"]) == ("@mincore" in kernel.asm["llir"])


def test_the_end_of_an_array():
    """The page after the last row's belongs to no one."""
    n = 4096 * 1024
    out = fresh(n)
    x = np.ones(n, np.float32)
    for _ in range(2):
        doubled[(n // 1024,)](x, out, n, BLOCK=1024)
        assert (out == 2).all()
