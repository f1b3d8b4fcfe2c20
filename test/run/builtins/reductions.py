"""Reductions and softmax: axes, types, NaN, ties, functions of the user."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from _pointwise import FLOATS, SIGNED, UNSIGNED, anything, blank, widened
from harness import BFloat16, check, values

SHAPES = [(1, 1), (1, 16), (16, 1), (2, 4), (8, 32), (4, 128)]


@triton.jit
def along_axis(
    x_ptr,
    out_ptr,
    FUNCTION: tl.constexpr,
    AXIS: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    i = tl.arange(0, ROWS)[:, None]
    j = tl.arange(0, COLUMNS)[None, :]
    result = FUNCTION(tl.load(x_ptr + i * COLUMNS + j), AXIS)
    if AXIS is None:
        tl.store(out_ptr, result)
    else:
        tl.store(out_ptr + tl.arange(0, COLUMNS if AXIS == 0 else ROWS), result)


def check_axis(function, x, axis, expected, device, **tolerance):
    arguments = dict(x_ptr=x, out_ptr=blank(expected), FUNCTION=function, AXIS=axis)
    arguments |= dict(ROWS=x.shape[0], COLUMNS=x.shape[1])
    check(along_axis, (1,), arguments, dict(out_ptr=expected), device=device, **tolerance)


@pytest.mark.parametrize("axis", [0, 1, None])
@pytest.mark.parametrize("dtype", ["bool", *SIGNED, *UNSIGNED])
def test_sum_of_integers(dtype, axis, device):
    x = values("bool", 8, 32) if dtype == "bool" else anything(dtype, n=256).reshape(8, 32)
    expected = np.asarray(x.astype(widened(dtype)).sum(axis, dtype=widened(dtype))).reshape(-1)
    check_axis(tl.sum, x, axis, expected, device)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("axis", [0, 1, None])
@pytest.mark.parametrize("dtype", FLOATS)
def test_sum_of_floats(dtype, axis, shape, device):
    """The order of the sum is free: the bound is the worst case."""
    x = values(dtype, *shape)
    exact = np.asarray(x.astype(np.float64).sum(axis)).reshape(-1)
    bound = float(np.abs(x).astype(np.float64).sum() * np.finfo(dtype).eps * 4)
    check_axis(tl.sum, x, axis, exact.astype(dtype), device, atol=bound, rtol=1e-12)


def test_sum_of_bfloat16(device):
    x = BFloat16(np.arange(64).reshape(4, 16) % 3)
    for axis in (0, 1, None):
        expected = BFloat16(np.asarray(x.values().sum(axis)).reshape(-1))
        check_axis(tl.sum, x, axis, expected, device)


@triton.jit
def sum_in_float64(x, axis: tl.constexpr):
    return tl.sum(x, axis, dtype=tl.float64)


@triton.jit
def sum_in_int64(x, axis: tl.constexpr):
    return x.sum(axis, dtype=tl.int64)


@pytest.mark.parametrize("axis", [0, 1, None])
def test_sum_in_another_type(axis, device):
    x = values("float32", 8, 32)
    exact = np.asarray(x.astype(np.float64).sum(axis)).reshape(-1)
    check_axis(sum_in_float64, x, axis, exact, device, rtol=1e-13, atol=1e-13)
    x = anything("int32", n=256).reshape(8, 32)
    check_axis(sum_in_int64, x, axis, np.asarray(x.sum(axis, dtype="int64")).reshape(-1), device)


EXTREMES = [(tl.max, np.fmax), (tl.min, np.fmin)]


@pytest.mark.parametrize("function, reference", EXTREMES)
@pytest.mark.parametrize("axis", [0, 1, None])
@pytest.mark.parametrize("dtype", ["bool", *SIGNED, *UNSIGNED, *FLOATS])
def test_extremes(dtype, axis, function, reference, device):
    """NaNs are dropped; narrow types become 32 bits wide."""
    x = values("bool", 8, 32) if dtype == "bool" else anything(dtype, n=256).reshape(8, 32)
    narrow = {"bool": "int32", "uint8": "int32", "uint16": "int32", "float16": "float32"}
    wide = x.astype(narrow.get(dtype, widened(dtype)))
    expected = np.asarray(reference.reduce(wide, axis=axis)).reshape(-1)
    check_axis(function, x, axis, expected, device)


@triton.jit
def greater_of(a, b):
    return tl.maximum(a, b, propagate_nan=tl.PropagateNan.ALL)


@triton.jit
def greatest(x, axis: tl.constexpr):
    return tl.reduce(x, axis, greater_of)


def test_combine_promotes_bfloat16(device):
    """`tl.maximum` of bf16 is fp32; the reduction stays bf16."""
    x = BFloat16(np.arange(-40, 24).reshape(4, 16) * 0.5)
    for axis in (0, 1, None):
        expected = BFloat16(np.asarray(x.values().max(axis)).reshape(-1))
        check_axis(greatest, x, axis, expected, device)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("axis", [0, 1, None])
def test_extremes_of_shapes(axis, shape, device):
    x = values("float32", *shape)
    check_axis(tl.max, x, axis, np.asarray(x.max(axis)).reshape(-1), device)
    check_axis(tl.min, x, axis, np.asarray(x.min(axis)).reshape(-1), device)


def test_extremes_of_bfloat16(device):
    x = BFloat16(values("float32", 8, 32))
    check_axis(tl.max, x, 1, x.values().max(1), device)
    check_axis(tl.min, x, 0, x.values().min(0), device)


def test_extremes_of_nothing_but_nan(device):
    x = np.full((4, 16), np.nan, np.float32)
    x[1, 3] = -np.inf
    expected = np.array([np.nan, -np.inf, np.nan, np.nan], np.float32)
    check_axis(tl.max, x, 1, expected, device)


@triton.jit
def with_indices(
    x_ptr,
    value_ptr,
    index_ptr,
    LARGEST: tl.constexpr,
    AXIS: tl.constexpr,
    ROWS: tl.constexpr,
    COLUMNS: tl.constexpr,
):
    x = tl.load(x_ptr + tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :])
    if LARGEST:
        value, index = tl.max(x, AXIS, return_indices=True)
        same = tl.argmax(x, AXIS)
    else:
        value, index = tl.min(x, AXIS, return_indices=True)
        same = x.argmin(AXIS)
    out = tl.arange(0, COLUMNS if AXIS == 0 else ROWS)
    tl.store(value_ptr + out, value)
    tl.store(index_ptr + out, tl.where(index == same, index, -1))


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64", "uint32", *FLOATS])
def test_extremes_with_their_indices(dtype, axis, largest, device):
    """Few distinct values, so that many are equal: the first one wins."""
    x = values(dtype, 16, 32, low=0, high=5)
    if dtype in FLOATS:
        x = np.floor(x)
    index = (np.argmax if largest else np.argmin)(x, axis).astype(np.int32)
    value = np.take_along_axis(x, np.expand_dims(index, axis), axis).reshape(-1)
    arguments = dict(x_ptr=x, value_ptr=blank(value), index_ptr=blank(index), LARGEST=largest)
    arguments |= dict(AXIS=axis, ROWS=16, COLUMNS=32)
    expected = dict(value_ptr=value, index_ptr=index)
    check(with_indices, (1,), arguments, expected, device=device)


@triton.jit
def argmax_any(x, axis: tl.constexpr):
    return tl.argmax(x, axis, tie_break_left=False)


@triton.jit
def argmin_any(x, axis: tl.constexpr):
    return tl.argmin(x, axis, tie_break_left=False)


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("shape", SHAPES)
def test_indices_without_ties(shape, axis, device):
    x = np.random.default_rng(1).permutation(shape[0] * shape[1]).reshape(shape).astype(np.float32)
    check_axis(argmax_any, x, axis, x.argmax(axis).astype(np.int32), device)
    check_axis(argmin_any, x, axis, x.argmin(axis).astype(np.int32), device)
    check_axis(tl.argmax, x, axis, x.argmax(axis).astype(np.int32), device)
    check_axis(tl.argmin, x, axis, x.argmin(axis).astype(np.int32), device)


def _first_best(row):
    """Index of the first of the smallest numbers; of the first NaN where there are only NaNs."""
    numbers = [number for number in row if number == number]
    return row.index(min(numbers)) if numbers else 0


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("dtype", FLOATS)
def test_indices_beside_nans(dtype, axis, device):
    """Every number, infinities too, is preferred to NaN; if all are NaN, the first one is taken."""
    x = values(dtype, 16, 32, low=-3, high=3)
    random = np.random.default_rng(3)
    x[random.random(x.shape) < 0.4] = np.nan
    x[3, :], x[:, 5] = np.nan, np.nan
    x[3, 7], x[8, 5], x[11, 5] = np.inf, -np.inf, np.inf
    x[0, 1:] = x[1:, 0] = np.nan
    x[0, 0] = -np.inf
    rows = x.T if axis == 0 else x
    for function, sign in ((tl.argmax, -1.0), (tl.argmin, 1.0)):
        best = [_first_best([sign * float(number) for number in row]) for row in rows]
        check_axis(function, x, axis, np.array(best, np.int32), device)


@pytest.mark.parametrize("axis", [0, 1, None])
@pytest.mark.parametrize("dtype", ["bool", *SIGNED, *UNSIGNED])
def test_bits(dtype, axis, device):
    x = values("bool", 8, 32) if dtype == "bool" else anything(dtype, n=256).reshape(8, 32)
    for function, reference in ((tl.xor_sum, np.bitwise_xor), (tl.reduce_or, np.bitwise_or)):
        expected = np.asarray(reference.reduce(x, axis=axis)).reshape(-1)
        check_axis(function, x, axis, expected, device)


@triton.jit
def methods(x_ptr, out_ptr, BLOCK: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, BLOCK))
    tl.store(out_ptr, x.sum())
    tl.store(out_ptr + 1, x.max())
    tl.store(out_ptr + 2, x.min(axis=0))
    tl.store(out_ptr + 3, x.xor_sum())
    tl.store(out_ptr + 4, x.reduce_or(0))
    tl.store(out_ptr + 5, x.argmax(0) * 1000 + x.argmin(0))
    tl.store(out_ptr + 6, x.reduce(0, larger_magnitude))


@triton.jit
def larger_magnitude(a, b):
    if tl.abs(a) > tl.abs(b):
        result = a
    else:
        result = b
    return result


@pytest.mark.parametrize("block", [1, 2, 8, 64, 256])
def test_methods_of_one_dimension(block, device):
    x = np.random.default_rng(block).permutation(block).astype(np.int32) * 3 - block
    x[np.abs(x).argmax()] *= 2
    expected = [x.sum(), x.max(), x.min(), np.bitwise_xor.reduce(x), np.bitwise_or.reduce(x)]
    expected += [x.argmax() * 1000 + x.argmin(), x[np.abs(x).argmax()]]
    arguments = dict(x_ptr=x, out_ptr=np.zeros(7, np.int32), BLOCK=block)
    check(methods, (1,), arguments, dict(out_ptr=np.array(expected, np.int32)), device=device)


@triton.jit
def kept(x_ptr, out_ptr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    at = tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    x = tl.load(x_ptr + at)
    y = x - tl.sum(x, axis=1, keep_dims=True) + tl.max(x, axis=0, keep_dims=True)
    y += tl.min(x, axis=-1, keep_dims=True) * tl.argmax(x, axis=-2, keep_dims=True)
    y += tl.xor_sum(x, axis=1, keep_dims=True) - tl.reduce_or(x, axis=0, keep_dims=True)
    y += tl.argmin(x, 1, keep_dims=True) + tl.sum(x, keep_dims=True)
    y += tl.max(x, None, keep_dims=True)
    tl.store(out_ptr + at, y)


@pytest.mark.parametrize("shape", SHAPES)
def test_kept_dimensions(shape, device):
    x = values("int32", *shape, low=-100, high=100)
    options = dict(keepdims=True, dtype=np.int32)
    y = x - x.sum(1, **options) + x.max(0, keepdims=True)
    y = y + x.min(1, keepdims=True) * x.argmax(0, keepdims=True)
    y = y + np.bitwise_xor.reduce(x, axis=1, keepdims=True)
    y = y - np.bitwise_or.reduce(x, axis=0, keepdims=True)
    y = y + x.argmin(1, keepdims=True) + x.sum(**options) + x.max(keepdims=True)
    arguments = dict(x_ptr=x, out_ptr=np.zeros_like(x), ROWS=shape[0], COLUMNS=shape[1])
    check(kept, (1,), arguments, dict(out_ptr=y.astype(np.int32)), device=device)


@triton.jit
def combine_product(a, b):
    return a * b


@triton.jit
def combine_sum_and_count(sum1, count1, sum2, count2):
    return sum1 + sum2, count1 + count2


@triton.jit
def combine_welford(mean1, m2_1, weight1, mean2, m2_2, weight2):
    weight = weight1 + weight2
    ratio = tl.where(weight == 0, 0.0, weight2 / weight)
    delta = mean2 - mean1
    return mean1 + delta * ratio, m2_1 + m2_2 + delta * delta * weight1 * ratio, weight


@triton.jit
def product(x, axis: tl.constexpr):
    return tl.reduce(x, axis, combine_product)


@triton.jit
def mean_of_pair(x, axis: tl.constexpr):
    ones = tl.full(x.shape, 1, tl.int32)
    total, count = tl.reduce((x, ones), axis, combine_sum_and_count)
    return total / count


@triton.jit
def variance(x, axis: tl.constexpr):
    zeros = tl.zeros_like(x)
    mean, m2, weight = tl.reduce((x, zeros, zeros + 1), axis, combine_welford)
    return m2 / weight


@pytest.mark.parametrize("axis", [0, 1, None])
@pytest.mark.parametrize("shape", SHAPES)
def test_functions_of_the_user(shape, axis, device):
    x = values("int32", *shape, low=-3, high=4)
    expected = np.asarray(x.prod(axis, dtype=np.int32)).reshape(-1)
    check_axis(product, x, axis, expected, device)
    x = values("float32", *shape)
    mean, var = (np.asarray(v).reshape(-1) for v in (x.mean(axis), x.var(axis)))
    check_axis(mean_of_pair, x, axis, mean, device, rtol=1e-5, atol=1e-5)
    check_axis(variance, x, axis, var, device, rtol=1e-4, atol=1e-5)


@triton.jit
def three_dimensions(x_ptr, out_ptr, A: tl.constexpr, B: tl.constexpr, C: tl.constexpr):
    a = tl.arange(0, A)[:, None, None]
    b = tl.arange(0, B)[None, :, None]
    c = tl.arange(0, C)[None, None, :]
    x = tl.load(x_ptr + (a * B + b) * C + c)
    middle = tl.sum(x, axis=1)
    ac = tl.arange(0, A)[:, None] * C + tl.arange(0, C)[None, :]
    tl.store(out_ptr + ac, middle + tl.max(tl.max(x, 2), 1)[:, None] + tl.sum(x))


def test_three_dimensions(device):
    x = values("int32", 2, 4, 8, low=-50, high=50)
    expected = x.sum(1) + x.max((1, 2))[:, None] + x.sum()
    arguments = dict(x_ptr=x, out_ptr=np.zeros((2, 8), np.int32), A=2, B=4, C=8)
    check(three_dimensions, (1,), arguments, dict(out_ptr=expected.astype(np.int32)), device=device)


@triton.jit
def masked_sum(x_ptr, out_ptr, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=0)
    tl.store(out_ptr, tl.sum(x, 0))
    tl.store(out_ptr + 1, tl.max(tl.where(i < n, x, -1000), 0))
    tl.store(out_ptr + 2, tl.sum((i < n).to(tl.int32)))
    tl.store(out_ptr + 3, tl.sum(i < n))


@pytest.mark.parametrize("block", [1, 64, 1024])
@pytest.mark.parametrize("n", [1, 5, 8, 63, 1000])
def test_masked_tails(n, block, device):
    n = min(n, block)
    x = values("int32", n, low=-99, high=99)
    expected = np.array([x.sum(), x.max(), n, n], np.int32)
    arguments = dict(x_ptr=x, out_ptr=np.zeros(4, np.int32), n=n, BLOCK=block)
    check(masked_sum, (1,), arguments, dict(out_ptr=expected), device=device)


@triton.jit
def softmaxes(x_ptr, out_ptr, AXIS: tl.constexpr, ROWS: tl.constexpr, COLUMNS: tl.constexpr):
    at = tl.arange(0, ROWS)[:, None] * COLUMNS + tl.arange(0, COLUMNS)[None, :]
    x = tl.load(x_ptr + at)
    tl.store(out_ptr + at, tl.softmax(x, AXIS, keep_dims=True))
    tl.store(out_ptr + ROWS * COLUMNS + at, x.softmax(AXIS, keep_dims=True, ieee_rounding=True))


@pytest.mark.parametrize("axis", [0, 1, None])
def test_softmax(axis, device):
    x = values("float32", 8, 32)
    e = np.exp(x.astype(np.float64))
    one = (e / e.sum(axis or 0, keepdims=True)).astype(np.float32)
    arguments = dict(x_ptr=x, out_ptr=np.zeros((16, 32), np.float32), AXIS=axis, ROWS=8, COLUMNS=32)
    expected = dict(out_ptr=np.concatenate([one, one]))
    check(softmaxes, (1,), arguments, expected, device=device, rtol=2e-6)


@triton.jit
def softmax_of_one_dimension(x_ptr, out_ptr, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out_ptr + i, tl.softmax(tl.load(x_ptr + i)))


def test_softmax_of_one_dimension(device):
    x = values("float32", 64)
    e = np.exp(x.astype(np.float64))
    arguments = dict(x_ptr=x, out_ptr=np.zeros(64, np.float32), BLOCK=64)
    expected = dict(out_ptr=(e / e.sum()).astype(np.float32))
    check(softmax_of_one_dimension, (1,), arguments, expected, device=device, rtol=2e-6)


@triton.jit
def accumulated(x_ptr, out_ptr, columns, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr):
    m, kept = tl.arange(0, M), tl.arange(0, M)
    total, all_ = tl.zeros([M], tl.int32), 0
    most, least = tl.full([M], -1000, tl.int32), tl.full([M], 1000, tl.int32)
    product, bits = tl.full([M], 1, tl.int32), tl.full([M], -1, tl.int32)
    parity, nested = tl.zeros([M], tl.int32), tl.zeros([M], tl.int32)
    for n in range(0, columns, N):
        j = n + tl.arange(0, N)
        row, column = (m[:, None], j[None, :]) if AXIS == 1 else (m[None, :], j[:, None])
        x = tl.load(x_ptr + row * columns + column, mask=column < columns, other=0)
        total += tl.sum(x, AXIS)
        total -= tl.sum(x * 3, AXIS)
        all_ += tl.sum(x)
        most = tl.maximum(tl.max(x, AXIS), most)
        least = tl.minimum(least, tl.min(x, AXIS))
        product *= tl.reduce(x | 1, AXIS, multiply)
        bits &= tl.reduce(x | 7, AXIS, both)
        parity ^= tl.xor_sum(x, AXIS)
        for i in range(3):
            nested += tl.sum(x * i, AXIS)
    results = total, most, least, product, bits, parity, nested
    for i in tl.static_range(7):
        tl.store(out_ptr + i * M + kept, results[i])
    tl.store(out_ptr + 7 * M + kept, all_)


@triton.jit
def multiply(a, b):
    return a * b


@triton.jit
def both(a, b):
    return a & b


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize(("m", "n", "columns"), [(16, 32, 100), (4, 256, 700), (64, 16, 16), (32, 8, 0)])
def test_accumulated_in_loops(m, n, columns, axis, device):
    x = values("int32", m, columns, low=-50, high=50)
    parts = np.concatenate([x, np.zeros((m, -columns % n), np.int32)], 1)
    rows = [-2 * x.sum(1), parts.max(1, initial=-1000), parts.min(1, initial=1000)]
    rows += [np.multiply.reduce(parts | 1, 1, dtype=np.int32), np.bitwise_and.reduce(parts | 7, 1)]
    rows += [np.bitwise_xor.reduce(x, 1), 3 * x.sum(1), np.full(m, x.sum())]
    arguments = dict(x_ptr=x, out_ptr=np.zeros((8, m), np.int32), columns=columns, M=m, N=n, AXIS=axis)
    if columns == 0:
        arguments["x_ptr"] = np.zeros(1, np.int32)
    check(accumulated, (1,), arguments, dict(out_ptr=np.stack(rows).astype(np.int32)), device=device)


@triton.jit
def accumulated_floats(x_ptr, out_ptr, columns, N: tl.constexpr):
    total, most = 0.5, float("-inf")
    for n in range(0, columns, N):
        j = n + tl.arange(0, N)
        x = tl.load(x_ptr + j, mask=j < columns, other=0)
        total += tl.sum(x)
        most = tl.maximum(most, tl.max(x))
    tl.store(out_ptr, total)
    tl.store(out_ptr + 1, most)


@pytest.mark.parametrize("columns", [0, 5, 3000])
def test_accumulated_floats_in_loops(columns, device):
    x = values("float32", columns + 1, low=-1, high=1)
    x[2:3] = np.nan  # a maximum ignores it, a sum does not
    seen = x[:columns]
    padded = np.concatenate([seen, np.zeros(-columns % 1024, np.float32)])
    most = np.fmax.reduce(padded, initial=-np.inf)
    expected = np.array([0.5 + seen.astype(np.float64).sum(), most], np.float32)
    arguments = dict(x_ptr=x, out_ptr=np.zeros(2, np.float32), columns=columns, N=1024)
    check(accumulated_floats, (1,), arguments, dict(out_ptr=expected), device=device, rtol=1e-5)
