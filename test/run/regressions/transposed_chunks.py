"""Transposed copies whose addresses are contiguous in chunks only: channels last, and back."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from harness import launch, values


@triton.jit
def channels_last(x, y, ynumel, xnumel, C: tl.constexpr, Y: tl.constexpr, X: tl.constexpr):
    i = tl.program_id(1) * Y + tl.arange(0, Y)[:, None]
    j = tl.program_id(0) * X + tl.arange(0, X)[None, :]
    mask = (i < ynumel) & (j < xnumel)
    value = tl.load(x + j + xnumel * i, mask)
    tl.store(y + i % C + C * j + C * xnumel * (i // C), value, mask)


@triton.jit
def channels_first(x, scale, y, ynumel, xnumel, C: tl.constexpr, Y: tl.constexpr, X: tl.constexpr):
    i = tl.program_id(1) * Y + tl.arange(0, Y)[:, None]
    j = tl.program_id(0) * X + tl.arange(0, X)[None, :]
    mask = (i < ynumel) & (j < xnumel)
    value = tl.load(x + i % C + C * j + C * xnumel * (i // C), mask)
    factor = tl.load(scale + i % C, i < ynumel)
    tl.store(y + j + xnumel * i, value * factor, mask)


@pytest.mark.parametrize("dtype", ["int8", "float16", "float32", "int64"])
@pytest.mark.parametrize("block", [(32, 32), (16, 64), (64, 8), (8, 16)])
@pytest.mark.parametrize("channels, pixels", [(32, 49), (64, 64), (8, 100), (24, 33), (7, 40), (1, 64)])
def test_channels(dtype, block, channels, pixels, device):
    images = 3
    rows = images * channels
    x = values("int8", rows * pixels, seed=1, low=-50, high=50).astype(dtype)
    y, z = np.zeros_like(x), np.zeros_like(x)
    scale = values("int8", channels, seed=2, low=1, high=3).astype(dtype)
    grid = (-(-pixels // block[1]), -(-rows // block[0]))
    expected = x.reshape(images, channels, pixels)
    if launch(channels_last, grid, x, y, rows, pixels, channels, *block, device=device):
        assert (y == expected.transpose(0, 2, 1).reshape(-1)).all()
    else:
        y = expected.transpose(0, 2, 1).reshape(-1).copy()
    if launch(channels_first, grid, y, scale, z, rows, pixels, channels, *block, device=device):
        assert (z == (expected * scale[:, None]).astype(dtype).reshape(-1)).all()


def test_overlapping_channels(device):
    """A program reads all of its tile before it stores anything."""
    if device != "cpu":
        pytest.skip("a GPU's threads store while others still load")
    for shift in (-2000, -1024, -1, 0, 1, 500, 1023, 1024):
        memory = values("int32", 8192, seed=3, low=-50, high=50)
        expected = memory.copy()
        x, y = memory[3000:], memory[3000 + shift :]
        if launch(channels_last, (1, 1), x, y, 32, 32, 16, 32, 32, device=device):
            tile = expected[3000 : 3000 + 1024].reshape(2, 16, 32).transpose(0, 2, 1).reshape(-1)
            expected[3000 + shift : 3000 + shift + 1024] = tile.copy()
            assert (memory == expected).all(), shift


def test_overlapping_channels_that_are_transposed_in_place(device):
    if device != "cpu":
        pytest.skip("a GPU's threads store while others still load")
    scale = values("float32", 32, seed=2)
    for shift in (-1500, -1024, -33, -1, 0, 1, 31, 1000, 1024, 1500):
        memory = values("float32", 8000, seed=3)
        expected = memory.copy()
        x, y = memory[3000:], memory[3000 + shift :]
        if launch(channels_first, (1, 1), x, scale, y, 32, 32, 32, 32, 32, device=device):
            tile = expected[3000 : 3000 + 1024].reshape(32, 32).T * scale[:, None]
            expected[3000 + shift : 3000 + shift + 1024] = tile.reshape(-1)
            assert (memory == expected).all(), shift


@triton.jit
def transposed_twice(a, b, c, x, y, pitch, N: tl.constexpr, K: tl.constexpr, G: tl.constexpr):
    r, k, g = tl.arange(0, N), tl.arange(0, K), tl.arange(0, G)
    tl.store(y + g[None, :] * N + r[:, None], tl.load(x + r[:, None] * pitch + g[None, :]))
    left = tl.load(a + r[:, None] * K + k[None, :])
    right = tl.load(b + r[None, :] * K + k[:, None])
    tl.store(c + r[:, None] * N + r[None, :], tl.dot(left, right))


def test_a_dot_and_a_copy_transpose_tiles_of_one_shape(device):
    """One from a buffer, one from memory with a stride that is known at run time."""
    N, K, G = 64, 64, 16
    a, b = (values("int8", N * K, seed=s, low=-4, high=4).reshape(N, K) for s in (1, 2))
    x, y = values("float32", N * 40, seed=3).reshape(N, 40), np.zeros((G, N), np.float32)
    c = np.zeros((N, N), np.int32)
    if launch(transposed_twice, (1,), a, b, c, x, y, 40, N, K, G, device=device):
        assert (y == x[:, :G].T).all()
        assert (c == a.astype(np.int32) @ b.astype(np.int32).T).all()
