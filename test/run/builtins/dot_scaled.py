"""tl.dot_scaled: every code of every microscaling format, both scales, both ways of packing."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from _microscaling import scale, tile
from harness import launch


@triton.jit
def kernel(
    a_ptr, s_ptr, b_ptr, t_ptr, c_ptr, M: tl.constexpr, N: tl.constexpr,
    A0: tl.constexpr, A1: tl.constexpr, B0: tl.constexpr, B1: tl.constexpr, GROUPS: tl.constexpr,
    A: tl.constexpr, B: tl.constexpr, S: tl.constexpr, T: tl.constexpr,
    A_PACK: tl.constexpr, B_PACK: tl.constexpr,
):  # fmt: skip
    a = tl.load(a_ptr + tl.arange(0, A0)[:, None] * A1 + tl.arange(0, A1)[None, :])
    b = tl.load(b_ptr + tl.arange(0, B0)[:, None] * B1 + tl.arange(0, B1)[None, :])
    group = tl.arange(0, GROUPS)[None, :]
    s = None
    t = None
    if S is not None:
        s = tl.load(s_ptr + tl.arange(0, M)[:, None] * GROUPS + group)
        if S == "e4m3":
            s = s.to(tl.float8e4nv, bitcast=True)
    if T is not None:
        t = tl.load(t_ptr + tl.arange(0, N)[:, None] * GROUPS + group)
        if T == "e4m3":
            t = t.to(tl.float8e4nv, bitcast=True)
    c = tl.dot_scaled(a, s, A, b, t, B, lhs_k_pack=A_PACK, rhs_k_pack=B_PACK)
    tl.store(c_ptr + tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :], c)


def check_scaled(form_a, form_b, kind_a, kind_b, device, shape=(16, 8, 64), factor=32, packs=(True, True)):
    m, n, k = shape
    groups = k // factor
    a, x = tile(form_a, m, k, 1, packs[0])
    b, y = tile(form_b, n, k, 2, packs[1])
    b = np.ascontiguousarray(b.T)
    # GPUs multiply in f16 where a side has it, as Triton does: scaled values must stay within its range.
    forms, codes = (form_a, form_b), (110, 140)
    if "fp16" in forms and device != "cpu":
        codes = (124, 128) if "e5m2" in forms else (124, 132)
    s, x_scale = scale(kind_a, m, groups, 3, codes)
    t, y_scale = scale(kind_b, n, groups, 4, codes)
    c = np.full((m, n), np.nan, np.float32)
    names = (form_a, form_b, kind_a, kind_b, *packs)
    if not launch(kernel, (1,), a, s, b, t, c, m, n, *a.shape, *b.shape, groups, *names, device=device):
        return
    x, y = x * np.repeat(x_scale, factor, 1), y * np.repeat(y_scale, factor, 1)
    bound = 2 * k * np.finfo(np.float32).eps * (np.abs(x) @ np.abs(y).T)
    assert (np.abs(c - x @ y.T) <= bound).all()


FORMATS = ["e2m1", "e4m3", "e5m2", "bf16", "fp16"]


@pytest.mark.parametrize("form_a", FORMATS)
@pytest.mark.parametrize("form_b", FORMATS)
def test_formats(form_a, form_b, device):
    check_scaled(form_a, form_b, "e8m0", "e8m0", device)


@pytest.mark.parametrize("shape", [(64, 64, 128), (128, 32, 256), (32, 128, 64), (4, 64, 512), (64, 32, 32)])
@pytest.mark.parametrize("forms", [("e4m3", "e5m2"), ("e2m1", "e2m1"), ("e5m2", "e2m1"), ("e2m1", "e4m3")])
@pytest.mark.parametrize("kinds", [("e8m0", "e8m0"), (None, "e8m0")])
def test_tiles(shape, forms, kinds, device):
    check_scaled(*forms, *kinds, device, shape=shape)


@pytest.mark.parametrize("kinds", [(None, None), ("e8m0", None), (None, "e8m0"), ("e4m3", "e4m3"), ("e4m3", None)])
@pytest.mark.parametrize("factor", [16, 32])
@pytest.mark.parametrize("form", ["e2m1", "e4m3"])
def test_scales(kinds, factor, form, device):
    check_scaled(form, form, *kinds, device, factor=factor)


@pytest.mark.parametrize("packs", [(True, False), (False, True), (False, False)])
@pytest.mark.parametrize("shape", [(16, 16, 32), (2, 4, 64), (32, 8, 128)])
def test_packed_along_other_dimensions(packs, shape, device):
    check_scaled("e2m1", "e2m1", "e8m0", "e8m0", device, shape=shape, packs=packs)


@triton.jit
def one_value(a_ptr, s_ptr, c_ptr, FAST: tl.constexpr):
    i = tl.arange(0, 32)
    a = tl.load(a_ptr + tl.zeros((8, 1), tl.int32) + i[None, :])
    s = tl.load(s_ptr + tl.arange(0, 8)[:, None])
    b = (i[:, None] == 0).to(tl.bfloat16) + tl.zeros((1, 1), tl.bfloat16)
    c = tl.dot_scaled(a, s, "e4m3", b, None, "bf16", fast_math=FAST)
    tl.store(c_ptr + tl.arange(0, 8)[:, None], c)


def test_ends_of_the_scale(device):
    a = np.full(32, 0x38, np.uint8)  # one
    s = np.array([0, 1, 2, 126, 127, 128, 254, 255], np.uint8)
    c = np.zeros((8, 1), np.float32)
    if launch(one_value, (1,), a, s, c, False, device=device):
        expected = np.float32(2.0) ** (s.astype(np.float64) - 127)
        expected[7] = np.nan
        np.testing.assert_array_equal(c[:, 0], expected.astype(np.float32))


@triton.jit
def batch(a_ptr, s_ptr, b_ptr, c_ptr, L: tl.constexpr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    item, m, n = tl.arange(0, L)[:, None, None], tl.arange(0, M)[None, :, None], tl.arange(0, N)[None, None, :]
    a = tl.load(a_ptr + (item * M + m) * K + tl.arange(0, K)[None, None, :])
    s = tl.load(s_ptr + (item * M + m) * (K // 32) + tl.arange(0, K // 32)[None, None, :])
    b = tl.load(b_ptr + (item * N + n) * (K // 2) + tl.arange(0, K // 2)[None, :, None])
    c = tl.dot_scaled(a, s, "e4m3", b, None, "e2m1")
    tl.store(c_ptr + (item * M + m) * N + n, c)


def test_batches(device):
    items, m, n, k = 4, 16, 32, 128
    a, x = tile("e4m3", items * m, k, 1)
    b, y = tile("e2m1", items * n, k, 2)
    s, factor = scale("e8m0", items * m, k // 32, 3, (120, 130))
    c = np.full((items, m, n), np.nan, np.float32)
    if not launch(batch, (1,), a, s, b, c, items, m, n, k, device=device):
        return
    x, y = (x * np.repeat(factor, 32, 1)).reshape(items, m, k), y.reshape(items, n, k).transpose(0, 2, 1)
    bound = 2 * k * np.finfo(np.float32).eps * (np.abs(x) @ np.abs(y))
    assert (np.abs(c - x @ y) <= bound).all()


@triton.jit
def nans(a_ptr, s_ptr, c_ptr):
    i = tl.arange(0, 64)
    a = tl.load(a_ptr + tl.arange(0, 16)[:, None] * 64 + i[None, :])
    s = tl.load(s_ptr + tl.arange(0, 16)[:, None] * 2 + tl.arange(0, 2)[None, :])
    b = tl.full((64, 16), 0x38, tl.uint8)  # ones
    c = tl.dot_scaled(a, s, "e4m3", b, None, "e4m3")
    tl.store(c_ptr + tl.arange(0, 16)[:, None] * 16 + tl.arange(0, 16)[None, :], c)


def test_scales_that_are_no_numbers(device):
    """e8m0 255 makes the 32 values that it belongs to NaN, zeros too."""
    a = np.zeros((16, 64), np.uint8)
    a[:, 40] = 0x38
    s = np.full((16, 2), 127, np.uint8)
    s[3, 0] = s[5, 1] = 255
    c = np.zeros((16, 16), np.float32)
    if launch(nans, (1,), a, s, c, device=device):
        expected = np.ones((16, 16), np.float32)
        expected[[3, 5]] = np.nan
        np.testing.assert_array_equal(c, expected)
