"""Functions of values that many adjacent elements share, such as those of a row or channel"""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from harness import launch, values


@triton.jit
def scaled(x, y, out, n, WIDTH: tl.constexpr, KIND: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    group = i // WIDTH
    own, shared = tl.load(x + i, i < n, 0.0), tl.load(y + group, i < n, 1.0)
    if KIND == "quotient":
        factor = 1.0 / shared
    elif KIND == "two operands":
        factor = shared / (group + 1).to(tl.float32)
    elif KIND == "root":
        factor = tl.sqrt(shared)
    elif KIND == "chain":
        factor = 1.0 / tl.sqrt(shared / 3.0 + 1e-5)
    else:
        factor = tl.where(tl.exp(shared) > 1, 2.0, 0.5)
    tl.store(out + i, own * factor, i < n)


def expected_factor(kind, y):
    with np.errstate(all="ignore"):
        return {
            "quotient": lambda: 1 / y,
            "two operands": lambda: y / np.arange(1, len(y) + 1, dtype=y.dtype),
            "root": lambda: np.sqrt(y),
            "chain": lambda: 1 / np.sqrt(y / y.dtype.type(3) + y.dtype.type(1e-5)),
            "exponential": lambda: np.where(np.exp(y) > 1, y.dtype.type(2), y.dtype.type(0.5)),
        }[kind]()


@pytest.mark.parametrize("kind", ["quotient", "two operands", "root", "chain", "exponential"])
@pytest.mark.parametrize("width", [64, 192, 100, 1, 3136])
def test_factors_of_groups(kind, width, device):
    groups = 9
    n = groups * width
    x = values("float32", n, seed=1)
    # Equal ones in succession, those that differ in the sign of zero alone, and what compares as unequal to itself.
    y = np.float32([0, -0.0, np.nan, np.nan, 2, 2, np.inf, 3, 0.75])
    out = np.zeros(n, np.float32)
    if not launch(scaled, (-(-n // 512),), x, y, out, n, WIDTH=width, KIND=kind, BLOCK=512, device=device):
        return  # compiled only
    with np.errstate(all="ignore"):
        expected = x * np.repeat(expected_factor(kind, y), width)
    np.testing.assert_allclose(out, expected, rtol=1e-6)
    np.testing.assert_array_equal(np.signbit(out[~np.isnan(out)]), np.signbit(expected[~np.isnan(out)]))
