"""float32 to bfloat16, bit for bit: ties, denormals, infinities and NaN beside each other, in tiles of every length."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from harness import BFloat16, launch

SPECIAL = np.array(
    [0, 0x00000001, 0x00007FFF, 0x00008000, 0x00008001, 0x00018000, 0x007F8000, 0x007FFFFF]  # denormals
    + [0x00800000, 0x3F808000, 0x3F818000, 0x3F808001, 0x7F7F8000, 0x7F7FFFFF, 0x7F800000]
    + [0x7F800001, 0x7FC00000, 0x7FFFFFFF],
    np.uint32,
)


@triton.jit
def narrow(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, tl.load(x + at, at < n, 0.0).to(tl.bfloat16), at < n)


@triton.jit
def twice(x, y, n, BLOCK: tl.constexpr):
    """Each operation rounds."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(x + at, at < n, 0.0)
    tl.store(y + at, a * 3 + a, at < n)


def exact(bits):
    """By choosing the nearer of the two neighbours in float64."""
    values = bits.view(np.float32).astype(np.float64)
    low = bits & np.uint32(0xFFFF0000)
    high = low + np.uint32(0x10000)
    neighbours = [part.view(np.float32).astype(np.float64) for part in (low, high)]
    neighbours[1] = np.where(np.isinf(neighbours[1]), np.copysign(2.0**128, values), neighbours[1])
    distances = [np.abs(values - neighbour) for neighbour in neighbours]
    is_odd = (low >> 16) & 1 == 1
    is_up = (distances[1] < distances[0]) | ((distances[1] == distances[0]) & is_odd)
    finite = np.where(is_up, high, low) >> 16
    kept = np.where(np.isnan(values), bits | 0x400000, bits) >> 16
    return np.where(np.isfinite(values), finite, kept).astype(np.uint16)


def inputs(kind, n):
    random = np.random.default_rng(n)
    bits = random.integers(0, 1 << 32, n, dtype=np.uint32)
    if kind == "normal":
        return random.standard_normal(n).astype(np.float32).view(np.uint32)
    if kind == "denormal":
        return bits & np.uint32(0x807FFFFF)
    if kind == "special":
        return random.choice(SPECIAL, n) | (bits & np.uint32(0x80000000))
    return bits


@pytest.mark.filterwarnings("ignore:invalid value")
@pytest.mark.parametrize("kind", ["normal", "denormal", "special", "any"])
@pytest.mark.parametrize("block", [1, 16, 32, 48, 64, 96, 1024])
@pytest.mark.parametrize("n", [1, 33, 1000])
def test_rounding(kind, block, n, device):
    bits = inputs(kind, n)
    y = BFloat16(np.full(n, 7.0))
    if not launch(narrow, (-(-n // block),), bits.view(np.float32), y, n, block, device=device):
        return
    expected = exact(bits)
    is_nan = np.isnan(bits.view(np.float32))
    assert (y.bits[~is_nan] == expected[~is_nan]).all()
    assert np.isnan(y.values()[is_nan]).all()
    if device == "cpu":  # keeps the sign and the upper bits of a NaN; GPUs have one NaN
        assert (y.bits == expected).all()


@pytest.mark.parametrize("kind", ["normal", "denormal"])
@pytest.mark.parametrize("block", [32, 64])
def test_two_roundings(kind, block, device):
    n = 515
    x = BFloat16(inputs(kind, n).view(np.float32))
    y = BFloat16(np.full(n, 7.0))
    if not launch(twice, (-(-n // block),), x, y, n, block, device=device):
        return
    product = exact((x.values() * np.float32(3)).view(np.uint32)).astype(np.uint32) << 16
    expected = exact((product.view(np.float32) + x.values()).view(np.uint32))
    if device == "cpu":
        assert (y.bits == expected).all()
    else:  # GPUs round a fused product and sum once
        fused = exact((x.values() * np.float32(3) + x.values()).view(np.uint32))
        assert ((y.bits == expected) | (y.bits == fused)).all()


def test_one_denormal_at_each_lane(device):
    """Among normal numbers: one program for each lane of 64."""
    bits = inputs("normal", 64 * 64).reshape(64, 64)
    bits[np.arange(64), np.arange(64)] = 0x00018000
    y = BFloat16(np.full(64 * 64, 7.0))
    if launch(narrow, (64,), bits.view(np.float32), y, 64 * 64, 64, device=device):
        assert (y.bits == exact(bits.reshape(-1))).all()


@pytest.mark.parametrize("block", [16, 64])
def test_doubles_beside_ties(block, device):
    n = 1000
    ties = (inputs("any", n) & np.uint32(0x3FFF0000)) | np.uint32(0x00808000)
    x = ties.view(np.float32).astype(np.float64)
    x *= 1 + np.random.default_rng(5).integers(-1, 2, n) * 2.0**-45
    y = BFloat16(np.full(n, 7.0))
    if not launch(narrow, (-(-n // block),), x, y, n, block, device=device):
        return
    low = (ties & np.uint32(0xFFFF0000)).astype(np.uint32)
    is_up = (x > ties.view(np.float32)) | ((x == ties.view(np.float32)) & ((low >> 16) & 1 == 1))
    assert (y.bits == (low >> 16) + is_up).all()
