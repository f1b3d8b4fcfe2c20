"""Tiles of several times a thread's registers: on GPUs the compiler keeps most of them in local memory."""
# SPDX-License-Identifier: MIT

import numpy as np
import triton
import triton.language as tl
from harness import launch, values


def size_for(device):
    """Three tiles are 1536 registers of a thread of one warp; AMD's code generator takes minutes for so many."""
    return 8192 if "gfx1" in str(device) else 16384


@triton.jit
def mix(x, y, z, o, N: tl.constexpr):
    i = tl.arange(0, N)
    a, b, c = tl.load(x + i), tl.load(y + i), tl.load(z + i)
    tl.store(o + i, (a + tl.sum(b)) * (b + tl.sum(c)) - (c ^ tl.max(a)))


@triton.jit
def rotate(x, y, z, o, turns, N: tl.constexpr):
    i = tl.arange(0, N)
    a, b, c = tl.load(x + i), tl.load(y + i), tl.load(z + i)
    for _ in range(turns):
        a, b, c = b, c + tl.sum(a), a
    tl.store(o + i, a * 3 + b * 5 + c)


@triton.jit
def multiply(x, y, o, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n, k = tl.arange(0, M)[:, None], tl.arange(0, N)[None, :], tl.arange(0, K)
    product = tl.dot(tl.load(x + m * K + k[None, :]), tl.load(y + k[:, None] * N + n))
    tl.store(o + m * N + n, product * product)


def tiles(size):
    return [values("int8", size, seed=s, low=-3, high=4).astype("int32") for s in (1, 2, 3)]


def test_three_tiles_that_live_across_reductions(device):
    size = size_for(device)
    a, b, c = tiles(size)
    o = np.zeros_like(a)
    if launch(mix, (1,), a, b, c, o, size, num_warps=1, device=device):
        assert (o == (a + b.sum()) * (b + c.sum()) - (c ^ a.max())).all()


def test_three_tiles_that_a_loop_exchanges(device):
    size = size_for(device) // 2  # of twice as many registers
    a, b, c = (tile.astype("int64") for tile in tiles(size))
    o = np.zeros_like(a)
    if launch(rotate, (1,), a, b, c, o, 3, size, num_warps=1, device=device):
        for _ in range(3):
            a, b, c = b, c + a.sum(), a
        assert (o == a * 3 + b * 5 + c).all()


def test_a_dot_of_more_accumulators_than_registers(device):
    rows = size_for(device) // 32
    x = values("int8", rows, 16, low=-3, high=4).astype("float16")
    y = values("int8", 16, 128, seed=1, low=-3, high=4).astype("float16")
    o = np.zeros((rows, 128), "float32")
    if launch(multiply, (1,), x, y, o, rows, 128, 16, num_warps=1, device=device):
        assert (o == (x.astype("float32") @ y.astype("float32")) ** 2).all()
