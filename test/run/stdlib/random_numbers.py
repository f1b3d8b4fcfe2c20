"""Random numbers: Philox against published vectors and Python's integers, floats within ulps."""
# SPDX-License-Identifier: MIT

import numpy as np
import pytest
import triton
import triton.language as tl
from _pointwise import blank
from harness import check

MULTIPLIERS = {32: (0xD2511F53, 0xCD9E8D57), 64: (0xD2E7470EE14C6C93, 0xCA5A826395121157)}
STEPS = {32: (0x9E3779B9, 0xBB67AE85), 64: (0x9E3779B97F4A7C15, 0xBB67AE8584CAA73B)}


def philox(counter, key, bits, rounds=10):
    """Philox-4x on Python's integers."""
    size = (1 << bits) - 1
    (a, b), (step_a, step_b) = MULTIPLIERS[bits], STEPS[bits]
    c, k = list(counter), list(key)
    for _ in range(rounds):
        p, q = a * c[0], b * c[2]
        c = [(q >> bits) ^ c[1] ^ k[0], q & size, (p >> bits) ^ c[3] ^ k[1], p & size]
        k = [(k[0] + step_a) & size, (k[1] + step_b) & size]
    return c


# Random123's known answers: bits, rounds, counter, key, result.
KNOWN = [
    (32, 7, "0 0 0 0", "0 0", "5f6fb709 0d893f64 4f121f81 4f730a48"),
    (32, 10, "0 0 0 0", "0 0", "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
    (32, 10, "ffffffff " * 4, "ffffffff " * 2, "408f276d 41c83b0e a20bc7c6 6d5451fd"),
    (
        32,
        10,
        "243f6a88 85a308d3 13198a2e 03707344",
        "a4093822 299f31d0",
        "d16cfe09 94fdcceb 5001e420 24126ea1",
    ),
    (
        64,
        10,
        "0 0 0 0",
        "0 0",
        "16554d9eca36314c db20fe9d672d0fdc d7e772cee186176b 7e68b68aec7ba23b",
    ),
    (
        64,
        10,
        "ffffffffffffffff " * 4,
        "ffffffffffffffff " * 2,
        "87b092c3013fe90b 438c3c67be8d0224 9cc7d7c69cd777b6 a09caebf594f0ba0",
    ),
    (
        64,
        10,
        "243f6a8885a308d3 13198a2e03707344 a4093822299f31d0 082efa98ec4e6c89",
        "452821e638d01377 be5466cf34e90c6c",
        "a528f45403e61d95 38c72dbd566e9788 a5a1610e72fd18b5 57bd43b5e52b7fe6",
    ),
]


def words(text):
    return [int(word, 16) for word in text.split()]


@triton.jit
def implementation(in_ptr, out_ptr, ROUNDS: tl.constexpr):
    c0, c1, c2, c3 = (
        tl.load(in_ptr),
        tl.load(in_ptr + 1),
        tl.load(in_ptr + 2),
        tl.load(in_ptr + 3),
    )
    r0, r1, r2, r3 = tl.philox_impl(
        c0, c1, c2, c3, tl.load(in_ptr + 4), tl.load(in_ptr + 5), ROUNDS
    )
    tl.store(out_ptr, r0)
    tl.store(out_ptr + 1, r1)
    tl.store(out_ptr + 2, r2)
    tl.store(out_ptr + 3, r3)


@pytest.mark.parametrize("bits, rounds, counter, key, result", KNOWN)
def test_known_answers(bits, rounds, counter, key, result, device):
    expected = np.array(words(result), f"uint{bits}")
    assert philox(words(counter), words(key), bits, rounds) == words(result)
    arguments = np.array(words(counter) + words(key), f"uint{bits}")
    check(
        implementation,
        (1,),
        dict(in_ptr=arguments, out_ptr=blank(expected), ROUNDS=rounds),
        dict(out_ptr=expected),
        device=device,
    )


@triton.jit
def four(
    seed, start, out_ptr, stride, FUNCTION: tl.constexpr, ROUNDS: tl.constexpr, N: tl.constexpr
):
    i = tl.arange(0, N)
    r0, r1, r2, r3 = FUNCTION(seed, start + i, ROUNDS)
    tl.store(out_ptr + i, r0)
    tl.store(out_ptr + stride + i, r1)
    tl.store(out_ptr + 2 * stride + i, r2)
    tl.store(out_ptr + 3 * stride + i, r3)


@triton.jit
def one(seed, start, out_ptr, FUNCTION: tl.constexpr, ROUNDS: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, FUNCTION(seed, start + i, ROUNDS))


def integers(seed, start, n, rounds=10):
    """The four words of each offset; its high half is used if it is wider than 32 bits."""
    seed &= (1 << 64) - 1
    key = (seed & 0xFFFFFFFF, seed >> 32)
    wide = not -(1 << 31) <= start < 1 << 31
    rows = []
    for offset in range(start, start + n):
        high = (offset >> 32) & 0xFFFFFFFF if wide else 0
        rows.append(philox((offset & 0xFFFFFFFF, high, 0, 0), key, 32, rounds))
    return np.array(rows, np.uint64).T.astype(np.uint32)


def uniform(x):
    """Both factors and the product are float32."""
    signed = x.astype(np.int32)
    positive = np.where(signed < 0, -signed - 1, signed)
    return positive.astype(np.float32) * np.float32(4.6566127342e-10)


def normal(u1, u2):
    """Box-Muller in float64, from an angle in float32."""
    u1 = np.maximum(u1, np.float32(1e-7)).astype(np.float64)
    angle = (np.float32(6.283185307179586) * u2).astype(np.float64)
    radius = np.sqrt(-2 * np.log(u1))
    return radius * np.cos(angle), radius * np.sin(angle)


SEEDS = [(0, 0), (1, 5), (-3, -7), (0x123456789ABCDEF, 2**31 - 64), (2**63 - 1, 2**33 + 5)]


@pytest.mark.parametrize("rounds", [10, 7, 1])
@pytest.mark.parametrize("seed, start", SEEDS)
def test_integers(seed, start, rounds, device):
    expected = integers(seed, start, 64, rounds)
    arguments = dict(seed=seed, start=start, out_ptr=blank(expected), ROUNDS=rounds, N=64)
    check(
        four,
        (1,),
        arguments | dict(stride=64, FUNCTION=tl.randint4x),
        dict(out_ptr=expected),
        device=device,
    )
    arguments["out_ptr"] = blank(expected[0])
    check(
        one, (1,), arguments | dict(FUNCTION=tl.randint), dict(out_ptr=expected[0]), device=device
    )


@pytest.mark.parametrize("n", [1, 2, 32, 1024])
@pytest.mark.parametrize("seed, start", SEEDS)
def test_uniform_floats(seed, start, n, device):
    expected = uniform(integers(seed, start, n))
    assert (expected >= 0).all() and (expected < 1).all()
    arguments = dict(seed=seed, start=start, out_ptr=blank(expected), ROUNDS=10, N=n)
    check(
        four,
        (1,),
        arguments | dict(stride=n, FUNCTION=tl.rand4x),
        dict(out_ptr=expected),
        device=device,
    )
    arguments["out_ptr"] = blank(expected[0])
    check(
        one,
        (1,),
        arguments | dict(FUNCTION=tl.random.rand),
        dict(out_ptr=expected[0]),
        device=device,
    )


@pytest.mark.parametrize("seed, start", SEEDS)
def test_normal_floats(seed, start, device):
    n = 2048
    u = uniform(integers(seed, start, n))
    expected = np.array([*normal(u[0], u[1]), *normal(u[2], u[3])])
    arguments = dict(seed=seed, start=start, ROUNDS=10, N=n)
    check(
        four,
        (1,),
        arguments
        | dict(stride=n, FUNCTION=tl.randn4x, out_ptr=blank(expected.astype(np.float32))),
        dict(out_ptr=expected),
        device=device,
        ulps=4,
    )
    check(
        one,
        (1,),
        arguments | dict(FUNCTION=tl.randn, out_ptr=blank(expected[0].astype(np.float32))),
        dict(out_ptr=expected[0]),
        device=device,
        ulps=4,
    )


@triton.jit
def pairs(u1_ptr, u2_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    a, b = tl.random.pair_uniform_to_normal(tl.load(u1_ptr + i), tl.load(u2_ptr + i))
    tl.store(out_ptr + i, a)
    tl.store(out_ptr + N + i, b)


def test_normal_numbers_of_extremes(device):
    """A uniform number of 0 is replaced by 1e-7, so that its logarithm is finite."""
    u1 = np.array([0, 1e-8, 1e-7, 0.5, 0.99999994, 0.25, 0.125, 0.75], np.float32)
    u2 = np.array([0, 0.25, 0.5, 0.75, 0.1, 0.99999994, 0.3, 0.6], np.float32)
    want = np.concatenate(normal(u1, u2))
    arguments = dict(u1_ptr=u1, u2_ptr=u2, out_ptr=blank(want.astype(np.float32)), N=8)
    check(pairs, (1,), arguments, dict(out_ptr=want), device=device, ulps=4)


@triton.jit
def words_of_64_bits(seed, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    zero = tl.zeros((N,), tl.int64)
    a, b, c, d = tl.philox(seed, i.to(tl.int64), zero, zero, zero, 10)
    tl.store(out_ptr + i, a)
    tl.store(out_ptr + N + i, b)
    tl.store(out_ptr + 2 * N + i, c)
    tl.store(out_ptr + 3 * N + i, d)


@pytest.mark.parametrize("seed", [0, 7, 2**63 + 11])
def test_philox_of_64_bits(seed, device):
    rows = [philox((i, 0, 0, 0), (seed, 0), 64) for i in range(32)]
    expected = np.array(rows, np.uint64).T
    arguments = dict(seed=seed, out_ptr=blank(expected), N=32)
    check(words_of_64_bits, (1,), arguments, dict(out_ptr=expected), device=device)


@triton.jit
def as_floats(x_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out_ptr + i, tl.random.uint_to_uniform_float(tl.load(x_ptr + i)))


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "uint64"])
def test_uniform_float_of_extremes(dtype, device):
    """Results are in [0, 1) for integers of either sign."""
    bits = int(dtype[-2:])
    half = 1 << bits - 1
    patterns = [0, 1, 2 * half - 1, half, half - 1, half + 1, 12345, 1 << 20]
    x = np.array(patterns, f"uint{bits}").view(dtype)
    signed = x.view(f"int{bits}")
    scale = np.float32(4.6566127342e-10 if bits == 32 else 1.0842020432385337e-19)
    expected = np.where(signed < 0, -(signed + 1), signed).astype(np.float32) * scale
    assert (expected >= 0).all() and (expected < 1).all()
    arguments = dict(x_ptr=x, out_ptr=blank(expected), N=8)
    check(as_floats, (1,), arguments, dict(out_ptr=expected), device=device)
