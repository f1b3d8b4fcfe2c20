"""Joining, splitting and reordering tiles: join, split, cat; flip, roll, squeeze, swizzle2d."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from _pointwise import blank
from harness import BFloat16, check, values

DTYPES = ["bool", "int8", "uint8", "int16", "int32", "uint64", "float16", "float32", "float64"]


@triton.jit
def binary(
    x_ptr,
    y_ptr,
    out_ptr,
    FUNCTION: tl.constexpr,
    SHAPE: tl.constexpr,
    N: tl.constexpr,
    M: tl.constexpr,
):
    i = tl.arange(0, N)
    x = tl.reshape(tl.load(x_ptr + i), SHAPE)
    y = tl.reshape(tl.load(y_ptr + i), SHAPE)
    tl.store(out_ptr + tl.arange(0, M), tl.reshape(FUNCTION(x, y), (M,)))


def check_binary(function, shape, reference, device, dtype="float32"):
    x, y = values(dtype, *shape), values(dtype, *shape, seed=1)
    expected = np.ascontiguousarray(reference(x, y)).reshape(-1)
    arguments = dict(x_ptr=x.reshape(-1), y_ptr=y.reshape(-1), out_ptr=blank(expected))
    arguments |= dict(FUNCTION=function, SHAPE=shape, N=x.size, M=expected.size)
    check(binary, (1,), arguments, dict(out_ptr=expected), device=device)


@triton.jit
def joined(x, y):
    return tl.join(x, y)


@triton.jit
def joined_with_row(x, y):
    return tl.join(x + y, tl.sum(y, 0)[None, :])


@triton.jit
def split_of_join(x, y):
    a, b = tl.split(tl.join(x * 2, y))
    return a - b


@triton.jit
def halves_of_pairs(x, y):
    """Splits tiles that are not results of joins."""
    a, b = tl.split(tl.reshape(x, (x.shape[0] * x.shape[1] // 2, 2)))
    c, d = y.reshape(y.shape[0] * y.shape[1] // 2, 2).split()
    return (a + d) * (b - c)


@triton.jit
def interleaved(x, y):
    return tl.interleave(x, y)


@triton.jit
def rows_after_rows(x, y):
    return tl.cat(x, y)


@triton.jit
def columns_after_columns(x, y):
    return tl.cat(x, y, dim=-1)


@triton.jit
def transposed_join(x, y):
    """The new dimension in front, in the middle, and split again."""
    a = tl.permute(tl.join(x, y), (2, 0, 1))
    b = tl.permute(tl.join(y, x), (0, 2, 1))
    c, d = tl.split(tl.permute(a, (1, 2, 0)) + tl.permute(b, (0, 2, 1)))
    return tl.join(c, d - c)


def stacked(x, y):
    return np.stack([x, y], -1)


BINARY = [
    (joined, stacked),
    (joined_with_row, lambda x, y: stacked(x + y, np.broadcast_to(exact_sum(y), x.shape))),
    (split_of_join, lambda x, y: x * 2 - y),
    (
        halves_of_pairs,
        lambda x, y: (x.reshape(-1, 2)[:, 0] + y.reshape(-1, 2)[:, 1])
        * (x.reshape(-1, 2)[:, 1] - y.reshape(-1, 2)[:, 0]),
    ),
    (interleaved, lambda x, y: stacked(x, y).reshape(x.shape[0], -1)),
    (rows_after_rows, lambda x, y: np.concatenate([x, y], 0)),
    (columns_after_columns, lambda x, y: np.concatenate([x, y], 1)),
    (transposed_join, lambda x, y: stacked(x + y, (y + x) - (x + y))),
]


def exact_sum(y):
    """A sum of whole numbers, which is the same in any order."""
    return y.astype(np.float64).sum(0).astype(y.dtype)


def name_of(function):
    return getattr(function, "__name__", "").replace("<lambda>", "numpy")


@pytest.mark.parametrize("shape", [(1, 2), (2, 1), (2, 2), (4, 8), (2, 64), (64, 2), (16, 128)])
@pytest.mark.parametrize("function, reference", BINARY, ids=name_of)
def test_two_tiles(function, reference, shape, device):
    x, y = (np.round(values("float32", *shape, seed=s) * 8) for s in (0, 1))
    expected = np.ascontiguousarray(reference(x, y)).reshape(-1)
    arguments = dict(x_ptr=x.reshape(-1), y_ptr=y.reshape(-1), out_ptr=blank(expected))
    arguments |= dict(FUNCTION=function, SHAPE=shape, N=x.size, M=expected.size)
    check(binary, (1,), arguments, dict(out_ptr=expected), device=device)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("function, reference", [BINARY[0], *BINARY[4:7]], ids=name_of)
def test_types(function, reference, dtype, device):
    check_binary(function, (4, 32), reference, device, dtype)


def test_bfloat16(device):
    x, y = BFloat16(values("float32", 64)), BFloat16(values("float32", 64, seed=1))
    expected = BFloat16(stacked(x.values(), y.values()).reshape(-1))
    arguments = dict(x_ptr=x, y_ptr=y, out_ptr=blank(expected), FUNCTION=interleaved)
    check(
        binary,
        (1,),
        arguments | dict(SHAPE=(64,), N=64, M=128),
        dict(out_ptr=expected),
        device=device,
    )


@triton.jit
def scalars(x_ptr, out_ptr):
    pair = tl.join(tl.load(x_ptr), tl.load(x_ptr + 1))
    first, second = tl.split(pair)
    tl.store(out_ptr + tl.arange(0, 2), tl.interleave(second, first))
    tl.store(out_ptr + 2, first * 10 + second)


def test_scalars(device):
    x = np.array([3, 5], np.int32)
    expected = np.array([5, 3, 35], np.int32)
    arguments = dict(x_ptr=x, out_ptr=blank(expected))
    check(scalars, (1,), arguments, dict(out_ptr=expected), device=device)


@triton.jit
def any_order(x_ptr, y_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    both = tl.cat(tl.load(x_ptr + i), tl.load(y_ptr + i) + 1, can_reorder=True)
    tl.store(out_ptr + tl.arange(0, 2 * N), both)


@pytest.mark.parametrize("n", [1, 2, 16, 1024])
def test_cat_in_any_order(n, device):
    """The order depends on the target; the CPU keeps it. No element is lost or duplicated."""
    x, y = np.arange(n, dtype=np.int32), np.arange(n, dtype=np.int32) + 5000
    expected = np.concatenate([x, y + 1])
    arguments = dict(x_ptr=x, y_ptr=y, out_ptr=blank(expected), N=n)
    check(any_order, (1,), arguments, dict(out_ptr=expected), device=device)


@triton.jit
def masked_pairs(x_ptr, out_ptr, n, N: tl.constexpr):
    """Loads with a masked tail before the join, and a masked store after it."""
    i = tl.arange(0, N)
    low = tl.load(x_ptr + 2 * i, mask=2 * i < n, other=-1)
    high = tl.load(x_ptr + 2 * i + 1, mask=2 * i + 1 < n, other=-2)
    j = tl.arange(0, 2 * N)
    tl.store(out_ptr + j, tl.interleave(high, low), mask=j < n)


@pytest.mark.parametrize("n", [1, 5, 64, 127])
def test_masked_pairs(n, device):
    x = values("int32", 128, low=-99, high=99)
    inside = np.arange(128) < n
    pairs = np.where(inside, x, np.tile([-1, -2], 64)).reshape(-1, 2)
    out = np.full(128, 7, np.int32)
    expected = np.where(inside, pairs[:, ::-1].reshape(-1), 7)
    check(
        masked_pairs,
        (1,),
        dict(x_ptr=x, out_ptr=out, n=n, N=64),
        dict(out_ptr=expected),
        device=device,
    )


@triton.jit
def butterflies(x_ptr, out_ptr, iterations, N: tl.constexpr):
    """A loop-carried tile of which each iteration reads other elements."""
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    for iteration in range(iterations):
        a, b = tl.split(tl.reshape(x, (N // 2, 2)))
        x = tl.interleave(a + b, a - b * (iteration + 1))
    tl.store(out_ptr + i, x)


@pytest.mark.parametrize("n", [2, 8, 256])
def test_carried_butterflies(n, device):
    x = values("int32", n, low=-9, high=9)
    want = x.copy()
    for iteration in range(3):
        a, b = want[::2].copy(), want[1::2].copy()
        want = stacked(a + b, a - b * (iteration + 1)).reshape(-1).astype(np.int32)
    check(
        butterflies,
        (1,),
        dict(x_ptr=x, out_ptr=blank(want), iterations=3, N=n),
        dict(out_ptr=want),
        device=device,
    )


# --- elements of one tile ------------------------------------------------------------------


@triton.jit
def unary(
    x_ptr,
    out_ptr,
    FUNCTION: tl.constexpr,
    ARG: tl.constexpr,
    SHAPE: tl.constexpr,
    N: tl.constexpr,
):
    i = tl.arange(0, N)
    x = tl.reshape(tl.load(x_ptr + i), SHAPE)
    tl.store(out_ptr + i, tl.reshape(FUNCTION(x, ARG), (N,)))


@triton.jit
def flipped(x, dim):
    return tl.flip(x, dim)


@triton.jit
def flipped_last(x, dim):
    return x.flip()


@triton.jit
def squeezed(x, dim):
    return tl.squeeze(tl.unsqueeze(x, dim), dim)


@triton.jit
def rolled(x, dim):
    return tl.roll(tl.roll(x, 3, dim), -1, dim)


UNARY = [
    (flipped, lambda x, dim: np.flip(x, dim)),
    (flipped_last, lambda x, dim: np.flip(x, -1)),
    (squeezed, lambda x, dim: x),
    (rolled, lambda x, dim: np.roll(x, 2, dim)),
]


@pytest.mark.parametrize("shape", [(1, 1), (1, 4), (2, 2), (4, 64), (64, 4), (2, 4, 8)])
@pytest.mark.parametrize("dim", [0, 1, -1])
@pytest.mark.parametrize("function, reference", UNARY, ids=name_of)
def test_one_tile(function, reference, dim, shape, device):
    x = values("float32", *shape)
    expected = np.ascontiguousarray(reference(x, dim)).reshape(-1)
    arguments = dict(x_ptr=x.reshape(-1), out_ptr=blank(expected), FUNCTION=function, ARG=dim)
    check(
        unary, (1,), arguments | dict(SHAPE=shape, N=x.size), dict(out_ptr=expected), device=device
    )


@pytest.mark.parametrize("dtype", DTYPES)
def test_flip_of_types(dtype, device):
    x = values(dtype, 4, 32)
    expected = x[:, ::-1].reshape(-1)
    arguments = dict(x_ptr=x.reshape(-1), out_ptr=blank(expected), FUNCTION=flipped, ARG=1)
    check(
        unary, (1,), arguments | dict(SHAPE=(4, 32), N=128), dict(out_ptr=expected), device=device
    )


@triton.jit
def swizzled(out_ptr, size_i, size_j, size_g, N: tl.constexpr):
    k = tl.arange(0, N)
    i, j = tl.swizzle2d(k // size_j, k % size_j, size_i, size_j, size_g)
    tl.store(out_ptr + k, i * size_j + j, mask=k < size_i * size_j)


@pytest.mark.parametrize("sizes", [(4, 4, 2), (5, 3, 2), (7, 5, 3), (3, 4, 8), (1, 9, 1)])
def test_swizzle2d(sizes, device):
    rows, columns, group = sizes
    order = [
        i * columns + j
        for first in range(0, rows, group)
        for j in range(columns)
        for i in range(first, min(first + group, rows))
    ]
    out = np.full(64, -1, np.int32)
    expected = out.copy()
    expected[: len(order)] = order
    arguments = dict(out_ptr=out, size_i=rows, size_j=columns, size_g=group, N=64)
    check(swizzled, (1,), arguments, dict(out_ptr=expected), device=device)


@triton.jit
def chosen_parts(x, y, first):
    return tl.where(first, tl.join(x, y), 0.0)


@triton.jit
def chosen_negated(x, y, first):
    return tl.where(first, -tl.join(x, y), 5.0)


@triton.jit
def chosen_of_two(x, y, first):
    return tl.where(first, tl.join(x, y), tl.join(y, x))


@triton.jit
def chosen_sum(x, y, first):
    return tl.where(first, 1.0, 0.0) + tl.join(x, x + y)


@triton.jit
def chosen_moved(x, y, first):
    return tl.where(first, tl.trans(tl.trans(tl.join(x, y))), 1.0)


@triton.jit
def sum_of_parts(x_ptr, y_ptr, out_ptr, first, FUNCTION: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    is_first = (tl.arange(0, 2) < first)[None, :]
    parts = FUNCTION(tl.load(x_ptr + i), tl.load(y_ptr + i), is_first)
    tl.store(out_ptr + i, tl.sum(parts, axis=1))


CHOSEN = [
    (chosen_parts, lambda x, y, m: np.where(m, np.stack([x, y], 1), 0)),
    (chosen_negated, lambda x, y, m: np.where(m, -np.stack([x, y], 1), 5)),
    (chosen_of_two, lambda x, y, m: np.where(m, np.stack([x, y], 1), np.stack([y, x], 1))),
    (chosen_sum, lambda x, y, m: m * np.float32(1) + np.stack([x, x + y], 1)),
    (chosen_moved, lambda x, y, m: np.where(m, np.stack([x, y], 1), 1)),
]


@pytest.mark.parametrize("n", [1, 2, 16])
@pytest.mark.parametrize("first", [0, 1, 2])
@pytest.mark.parametrize("function, reference", CHOSEN, ids=name_of)
def test_sum_of_joined_parts(function, reference, first, n, device):
    x, y = values("float32", n), values("float32", n, seed=1)
    expected = reference(x, y, np.arange(2)[None, :] < first).sum(1, dtype=np.float32)
    arguments = dict(x_ptr=x, y_ptr=y, out_ptr=blank(expected), first=first, FUNCTION=function, N=n)
    check(sum_of_parts, (1,), arguments, dict(out_ptr=expected), device=device)
