"""Dots in loops whose products of several iterations may be added at once: what they multiply may change meanwhile"""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from harness import BFloat16, launch, values

ROWS, COLUMNS = 32, 64


def integers(shape, seed, low=-4, high=5):
    """Small integers, whose products are exact in every format."""
    return values("int8", int(np.prod(shape)), seed=seed, low=low, high=high).reshape(shape)


def stored_as(dtype, matrix):
    return matrix.astype(np.int8) if dtype == "int8" else BFloat16(matrix.astype(np.float32))


@triton.jit
def product(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, KIND: tl.constexpr):
    """Programs of a column follow each other, so that its tiles of b are kept."""
    pid, rows = tl.program_id(0), tl.cdiv(M, BM)
    row, column = pid % rows, pid // rows
    i, j, k = row * BM + tl.arange(0, BM), column * BN + tl.arange(0, BN), tl.arange(0, BK)
    total = tl.zeros((BM, BN), c.dtype.element_ty)
    for begin in range(0, K, BK):
        limit = K - begin
        if KIND == "every other":
            limit = min(limit, BK - (begin // BK) % 2 * 5)
        mask = k[None, :] < limit
        if KIND == "wraps":
            left = (i % M)[:, None] * K + (begin + k)[None, :]
        else:
            left = i[:, None] * K + (begin + k)[None, :]
            mask = mask & (i[:, None] < M)
        x = tl.load(a + left, mask=mask, other=0)
        y = tl.load(b + (begin + k)[:, None] * N + j[None, :], mask=(begin + k)[:, None] < K, other=0)
        total = tl.dot(x, y, total, out_dtype=c.dtype.element_ty)
    tl.store(c + i[:, None] * N + j[None, :], total, (i[:, None] < M) & (j[None, :] < N))


@pytest.mark.always("7-300-wraps-bfloat16", "7-300-every other-int8")
@pytest.mark.parametrize("dtype", ["bfloat16", "int8"])
@pytest.mark.parametrize("kind", ["plain", "every other", "wraps"])
@pytest.mark.parametrize("steps", [0, 1, 2, 3, 5, 9, 300])
@pytest.mark.parametrize("missing", [0, 7])
def test_numbers_of_iterations(dtype, kind, steps, missing, device):
    depth = 32 if dtype == "bfloat16" else 64
    m, n, k = ROWS * (4 if steps > 100 else 40) - 3, COLUMNS * 3, max(steps * depth - missing, 0)
    a, b = integers((m, k), 1), integers((k, n), 2)
    c = np.full((m, n), -1, np.int32 if dtype == "int8" else np.float32)
    grid = (-(-m // ROWS) * -(-n // COLUMNS),)
    extents = {"BM": ROWS, "BN": COLUMNS, "BK": depth, "KIND": kind}
    if not launch(product, grid, stored_as(dtype, a), stored_as(dtype, b), c, m, n, k, **extents, device=device):
        return  # compiled only
    used = np.ones(k, bool)
    if kind == "every other":
        used = (np.arange(k) // depth % 2 == 0) | (np.arange(k) % depth < depth - 5)
    np.testing.assert_array_equal(c, (a * used).astype(np.float64) @ b.astype(np.float64))


@triton.jit
def changing(a, b, c, d, steps, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, KIND: tl.constexpr):
    """Something else in the loop uses the accumulators, or changes what is multiplied."""
    pid = tl.program_id(0)
    i, j, k = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    own = a + pid * BM * BK + i[:, None] * BK + k[None, :]
    sums, total, second = tl.zeros((BN,), tl.float32), tl.zeros((BM, BN), tl.float32), tl.zeros((BM, BN), tl.float32)
    for step in range(steps):
        x = tl.load(own)
        y = tl.load(b + step * BK * BN + k[:, None] * BN + j[None, :])
        if KIND == "two":
            other = a + (tl.num_programs(0) - 1 - pid) * BM * BK + i[:, None] * BK + k[None, :]
            z = tl.load(b + (steps - 1 - step) * BK * BN + k[:, None] * BN + j[None, :])
            second = tl.dot(tl.load(other), z, second)
        total = tl.dot(x, y, total)
        if KIND == "sum":
            sums += tl.sum(total, 0)
        elif KIND == "scale":
            total = total * 2
        elif KIND == "store":
            tl.store(own, (x.to(tl.float32) + 1).to(x.dtype))
        elif KIND == "branch":
            if step % 3 == 1:
                total = tl.zeros((BM, BN), tl.float32)
        elif KIND == "inner":
            for inner in range(3):
                second = tl.dot(x, tl.load(b + inner * BK * BN + k[:, None] * BN + j[None, :]), second)
        elif KIND == "atomic":
            tl.atomic_add(d, 1)
    tl.store(c + pid * BM * BN + i[:, None] * BN + j[None, :], total + second * 3 + sums[None, :])


KINDS = ["sum", "scale", "store", "branch", "inner", "two", "atomic"]


@pytest.mark.always("6-inner")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("steps", [1, 3, 6])
def test_other_uses_in_the_loop(kind, steps, device):
    programs, depth = 100, 32
    a, b = integers((programs, ROWS, depth), 1, -1, 2), integers((steps, depth, COLUMNS), 2, -1, 2)
    b_for_inner = integers((max(steps, 3), depth, COLUMNS), 2, -1, 2)
    b_for_inner[:steps] = b
    c = np.full((programs, ROWS, COLUMNS), np.nan, np.float32)
    d = np.zeros(1, np.int32)
    extents = {"BM": ROWS, "BN": COLUMNS, "BK": depth, "KIND": kind}
    arguments = BFloat16(a.astype(np.float32)), BFloat16(b_for_inner.astype(np.float32)), c, d
    if not launch(changing, (programs,), *arguments, steps, **extents, device=device):
        return  # compiled only
    x, total, second, sums = a.astype(np.float64), np.zeros(c.shape), np.zeros(c.shape), np.zeros((programs, 1, COLUMNS))
    for step in range(steps):
        if kind == "two":
            second += x[::-1] @ b[steps - 1 - step]
        total += x @ b[step]
        if kind == "sum":
            sums += total.sum(1, keepdims=True)
        elif kind == "scale":
            total *= 2
        elif kind == "store":
            x = x + 1
        elif kind == "branch" and step % 3 == 1:
            total[:] = 0
        elif kind == "inner":
            second += sum(x @ tile for tile in b_for_inner[:3].astype(np.float64))
    np.testing.assert_array_equal(c, total + second * 3 + sums)
    if kind == "atomic":
        assert d[0] == programs * steps


@triton.jit
def of_columns(a, b, c, M, K, group, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    """Both operands are kept: a by rows that come back after `group` programs."""
    pid = tl.program_id(0)
    i, j, k = pid % group * BM + tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    total = tl.zeros((BM, BN), tl.float32)
    for begin in range(0, K, BK):
        x = tl.load(a + i[:, None] + (begin + k)[None, :] * M)
        y = tl.load(b + pid // group * K * BN + (begin + k)[:, None] * BN + j[None, :])
        total = tl.dot(x, y, total)
    tl.store(c + pid * BM * BN + tl.arange(0, BM)[:, None] * BN + j[None, :], total)


@pytest.mark.always("40-17")
@pytest.mark.parametrize("group", [1, 3, 17, 40])
@pytest.mark.parametrize("steps", [1, 6, 40])
def test_both_operands_are_kept(group, steps, device):
    columns, depth = 60 // group + 1, 32
    m, k = group * ROWS, steps * depth
    a, b = integers((k, m), 1), integers((columns, k, COLUMNS), 2)
    c = np.full((columns * group, ROWS, COLUMNS), np.nan, np.float32)
    arguments = BFloat16(a.astype(np.float32)), BFloat16(b.astype(np.float32)), c
    extents = {"BM": ROWS, "BN": COLUMNS, "BK": depth}
    if not launch(of_columns, (columns * group,), *arguments, m, k, group, **extents, device=device):
        return  # compiled only
    expected = a.T.astype(np.float64) @ b.astype(np.float64)
    np.testing.assert_array_equal(c, expected.reshape(c.shape))


@triton.jit
def repeated(a, b, c, steps, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, KIND: tl.constexpr):
    """All programs compute the same, in loops that are entered several times."""
    i, j, k = tl.arange(0, BM), tl.arange(0, BN), tl.arange(0, BK)
    left, right = a + i[:, None] * BK + k[None, :], b + k[:, None] * BN + j[None, :]
    total = tl.zeros((BM, BN), tl.float32)
    if KIND == "chain":
        for step in range(steps):
            total = tl.dot(tl.load(left + step * BM * BK), tl.load(right + step * BK * BN), total)
            total = tl.dot(tl.load(left + step * BM * BK), tl.load(right + (steps - 1 - step) * BK * BN), total)
    elif KIND == "one":
        for step in range(steps):
            total = tl.dot(tl.load(left + step * BM * BK), tl.load(right + step * BK * BN), total)
    elif KIND == "for":
        for turn in range(3):
            for step in range(turn, steps - turn):
                total = tl.dot(tl.load(left + step * BM * BK), tl.load(right + step * BK * BN), total)
    elif KIND == "while":
        turn = 0
        while turn < 3:
            for step in range(turn, steps, turn + 1):
                total = tl.dot(tl.load(left + step * BM * BK), tl.load(right + step * BK * BN), total)
            turn += 1
    else:
        for step in range(steps - 1, -1, -1):
            total = tl.dot(tl.load(left + step * BM * BK), tl.load(right + step * BK * BN), total)
    tl.store(c + tl.program_id(0) * BM * BN + i[:, None] * BN + j[None, :], total)


STEPS_OF = {
    "one": lambda n: list(range(n)),
    "for": lambda n: [step for turn in range(3) for step in range(turn, n - turn)],
    "while": lambda n: [step for turn in range(3) for step in range(turn, n, turn + 1)],
    "backwards": lambda n: list(range(n)),
}


@pytest.mark.parametrize("kind", ["chain", *STEPS_OF])
@pytest.mark.parametrize("steps", [1, 7, 8])
def test_programs_that_compute_the_same(kind, steps, device):
    """Additions have one order: the results of rounded sums are the same in all programs."""
    programs, depth = 150, 32
    a, b = (values("float32", steps * depth * edge, seed=edge) for edge in (ROWS, COLUMNS))
    a, b = BFloat16(a.reshape(steps, ROWS, depth)), BFloat16(b.reshape(steps, depth, COLUMNS))
    c = np.full((programs, ROWS, COLUMNS), np.nan, np.float32)
    extents = {"BM": ROWS, "BN": COLUMNS, "BK": depth, "KIND": kind}
    if not launch(repeated, (programs,), a, b, c, steps, **extents, device=device):
        return  # compiled only
    np.testing.assert_array_equal(c, np.broadcast_to(c[0], c.shape))
    x, y = a.values().astype(np.float64), b.values().astype(np.float64)
    if kind == "chain":
        expected = sum(x[step] @ (y[step] + y[steps - 1 - step]) for step in range(steps))
    else:
        expected = sum(x[step] @ y[step] for step in STEPS_OF[kind](steps))
    np.testing.assert_allclose(c[0], expected, rtol=1e-4, atol=1e-3)
