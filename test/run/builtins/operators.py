"""Operators of tiles: every type, every pair of types, the special values, numbers beside tiles."""
# SPDX-License-Identifier: MIT

import itertools

import numpy as np
import pytest
import triton
import triton.language as tl
from _pointwise import FLOATS, SIGNED, UNSIGNED, anything, check_pointwise
from harness import BFloat16, check, values


@triton.jit
def add(x, y):
    return x + y


@triton.jit
def multiply(x, y):
    return x * y


@triton.jit
def subtract(x, y):
    return x - y


@triton.jit
def divide(x, y):
    return x / y


@triton.jit
def floor_divide(x, y):
    return x // y


@triton.jit
def remainder(x, y):
    return x % y


@triton.jit
def bit_and(x, y):
    return x & y


@triton.jit
def bit_or(x, y):
    return x | y


@triton.jit
def bit_xor(x, y):
    return x ^ y


@triton.jit
def shift_left(x, y):
    return x << y


@triton.jit
def shift_right(x, y):
    return x >> y


@triton.jit
def less(x, y):
    return x < y


@triton.jit
def less_equal(x, y):
    return x <= y


@triton.jit
def greater(x, y):
    return x > y


@triton.jit
def greater_equal(x, y):
    return x >= y


@triton.jit
def equal(x, y):
    return x == y


@triton.jit
def not_equal(x, y):
    return x != y


@triton.jit
def negative(x):
    return -x


@triton.jit
def positive(x):
    return +x


@triton.jit
def invert(x):
    return ~x


@triton.jit
def logical_not(x):
    return not x


def promoted(a, b):
    """The type that two tiles promote to."""
    for float_type in ("float64", "float32", "float16"):
        if float_type in (a, b):
            return float_type
    (kind_a, bits_a), (kind_b, bits_b) = ((t[0], np.dtype(t).itemsize) for t in (a, b))
    if kind_a == kind_b:
        return a if bits_a >= bits_b else b
    unsigned, signed = (a, b) if kind_a == "u" else (b, a)
    return unsigned if np.dtype(unsigned).itemsize >= np.dtype(signed).itemsize else signed


def truncated(x, y):
    """Quotient toward zero, which may wrap, and its remainder, exactly."""
    limit = np.iinfo(x.dtype)
    pairs = [(int(a), int(b)) for a, b in zip(x, y, strict=True)]
    quotients = [abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1) for a, b in pairs]
    remainders = [a - q * b for (a, b), q in zip(pairs, quotients, strict=True)]
    quotients = [limit.min if q == limit.max + 1 else q for q in quotients]
    return np.array(quotients, x.dtype), np.array(remainders, x.dtype)


ALL = SIGNED + UNSIGNED + FLOATS


@pytest.mark.parametrize("a, b", list(itertools.combinations(ALL, 2)))
def test_types_meet(a, b, device):
    """Operands small enough to be exact in every type."""
    x, y = values(a, 200, low=0, high=11), values(b, 200, seed=1, low=0, high=11)
    if a in FLOATS:
        x = np.floor(x)
    if b in FLOATS:
        y = np.floor(y)
    common = promoted(a, b)
    check_pointwise(subtract, [x, y], x.astype(common) - y.astype(common), device=device)
    check_pointwise(less, [x, y], x < y, device=device)


COMPARISONS = [
    (less, np.less),
    (less_equal, np.less_equal),
    (greater, np.greater),
    (greater_equal, np.greater_equal),
    (equal, np.equal),
    (not_equal, np.not_equal),
]


@pytest.mark.parametrize("function, reference", COMPARISONS)
@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8", "uint32", "uint64", *FLOATS])
def test_comparisons(function, reference, dtype, device):
    x, y = anything(dtype), anything(dtype, 1)
    y[::3] = x[::3]
    check_pointwise(function, [x, y], reference(x, y), device=device)


@pytest.mark.parametrize("function, reference", COMPARISONS)
def test_comparisons_of_bfloat16(function, reference, device):
    x, y = anything("float32"), anything("float32", 1)
    y[::3] = x[::3]
    x, y = BFloat16(x), BFloat16(y)
    check_pointwise(function, [x, y], reference(x.values(), y.values()), device=device)


BITS = [(bit_and, np.bitwise_and), (bit_or, np.bitwise_or), (bit_xor, np.bitwise_xor)]


@pytest.mark.parametrize("function, reference", BITS)
@pytest.mark.parametrize("dtype", ["bool", *SIGNED, *UNSIGNED])
def test_bits(function, reference, dtype, device):
    x, y = (values("bool", 500, seed=s) if dtype == "bool" else anything(dtype, s) for s in (1, 2))
    check_pointwise(function, [x, y], reference(x, y), device=device)


@pytest.mark.parametrize("dtype", SIGNED + UNSIGNED)
def test_shifts(dtype, device):
    bits = np.dtype(dtype).itemsize * 8
    x, by = anything(dtype), (np.arange(500) % bits).astype(dtype)
    check_pointwise(shift_left, [x, by], np.left_shift(x, by), device=device)
    check_pointwise(shift_right, [x, by], np.right_shift(x, by), device=device)


@pytest.mark.parametrize("dtype", SIGNED + UNSIGNED)
def test_integer_division_goes_toward_zero(dtype, device):
    x, y = anything(dtype), anything(dtype, 1)
    y[y == 0] = 3
    y[::2] = np.where(y[::2] % 7 == 0, 1, y[::2] % 7)
    if dtype in SIGNED:  # the one quotient that overflows is its dividend
        x[0], y[0] = np.iinfo(dtype).min, -1
        y[1] = -1
    quotient, rest = truncated(x, y)
    check_pointwise(floor_divide, [x, y], quotient, device=device)
    check_pointwise(remainder, [x, y], rest, device=device)


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "uint8", "uint16", "uint32"])
def test_division_next_to_multiples(dtype, device):
    """Dividends just below, at and just above multiples: a rounded quotient would be off by one."""
    limit, random = np.iinfo(dtype), np.random.default_rng(3)
    y = np.exp2(random.uniform(0, np.log2(limit.max), 600)).astype(np.int64)
    multiples = limit.max // y * y
    multiples[::3] -= y[::3]
    x = np.clip(multiples + random.integers(-1, 2, y.size), 0, limit.max)
    if dtype in SIGNED:
        x[::2] *= -1
        y[::5] *= -1
    x, y = x.astype(dtype), y.astype(dtype)
    quotient, rest = truncated(x, y)
    check_pointwise(floor_divide, [x, y], quotient, device=device)
    check_pointwise(remainder, [x, y], rest, device=device)


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint32", "int8"])
def test_division_of_integers_gives_floats(dtype, device):
    x, y = values(dtype, 300, low=0, high=100), values(dtype, 300, seed=1, low=1, high=50)
    out = np.zeros(300, np.float32)
    expected = x.astype(np.float64) / y
    check_pointwise(divide, [x, y], expected, out=out, device=device, ulps=2.0)


@pytest.mark.parametrize("dtype", FLOATS)
def test_division_of_floats(dtype, device):
    x, y = anything(dtype), anything(dtype, 1)
    result = np.float32 if dtype == "float16" else dtype
    with np.errstate(all="ignore"):
        expected = x.astype(np.longdouble) / y.astype(np.longdouble)
    check_pointwise(
        divide, [x, y], expected, out=np.zeros(500, result), device=device, ulps=2.0
    )


@pytest.mark.parametrize("dtype", FLOATS)
def test_remainder_of_floats(dtype, device):
    x, y = values(dtype, 500, low=-50, high=50), values(dtype, 500, seed=1, low=0.5, high=5)
    result = np.float32 if dtype == "float16" else np.dtype(dtype)
    expected = np.fmod(x.astype(result), y.astype(result))
    check_pointwise(remainder, [x, y], expected, device=device)


def test_arithmetic_of_bfloat16(device):
    x, y = BFloat16(values("float32", 300)), BFloat16(values("float32", 300, seed=1))
    a, b = x.values(), y.values()
    check_pointwise(add, [x, y], BFloat16(a + b), device=device)
    check_pointwise(multiply, [x, y], BFloat16(a * b), device=device)
    z = values("float32", 300, seed=2)
    check_pointwise(add, [x, z], a + z, device=device)
    half = z.astype(np.float16)  # with fp16, fp16
    check_pointwise(add, [x, half], a.astype(np.float16) + half, device=device)


@pytest.mark.parametrize("dtype", [*SIGNED, *FLOATS])
def test_unary(dtype, device):
    x = anything(dtype)
    with np.errstate(all="ignore"):
        check_pointwise(negative, [x], -x, device=device)
        check_pointwise(positive, [x], x, device=device)
    if dtype in SIGNED:
        check_pointwise(invert, [x], ~x, device=device)


def test_negative_keeps_the_sign_of_zero(device):
    x = np.array([0.0, -0.0, np.inf, 1.5], np.float32)
    check_pointwise(negative_bits, [x], (-x).view(np.int32), device=device)


@triton.jit
def negative_bits(x):
    return (-x).to(tl.int32, bitcast=True)


def test_not(device):
    x = values("bool", 100)
    check_pointwise(invert, [x], ~x, device=device)
    check_pointwise(logical_not, [x], ~x, device=device)


@triton.jit
def with_numbers(x):
    return (2 * x + 3 - x // 2) * -1 + (7 - x) % 5 + (x << 1) + (1 << 4) + (x | 3) + (5 & x)


def test_numbers_beside_integers(device):
    x = np.arange(100, dtype=np.int32)
    seven = 7 - x
    rest = np.fmod(seven, 5)
    expected = (2 * x + 3 - x // 2) * -1 + rest + (x << 1) + 16 + (x | 3) + (5 & x)
    check_pointwise(with_numbers, [x], expected.astype(np.int32), device=device)


@triton.jit
def number_keeps_type(x):
    return (x + 1.5) * 2 / 4 - 0.25


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_numbers_beside_floats(dtype, device):
    x = np.arange(50).astype(dtype)
    check_pointwise(number_keeps_type, [x], (x + 1.5) * 2 / 4 - 0.25, device=device)


@triton.jit
def float_beside_integer(x):
    return x * 0.5


def test_a_float_makes_integers_float(device):
    x = np.arange(50, dtype=np.int64)
    check_pointwise(float_beside_integer, [x], (x * 0.5).astype(np.float32), device=device)


@triton.jit
def scalar_kernel(x_ptr, out_ptr, a, f, flag):
    x = tl.load(x_ptr)
    tl.store(out_ptr, x * a + f)
    tl.store(out_ptr + 1, a // 3 + a % 3)
    tl.store(out_ptr + 2, (a > 5) & flag)
    tl.store(out_ptr + 3, -a if flag else a)
    tl.store(out_ptr + 4, (x < 0) or (a == 7))
    tl.store(out_ptr + 5, (x < 0) and (a == 7))


def test_scalars(device):
    x = np.array([2.0], np.float32)
    expected = np.array([14.5, 3, 1, -7, 1, 0], np.float32)
    arguments = dict(x_ptr=x, out_ptr=np.zeros(6, np.float32), a=7, f=0.5, flag=True)
    check(scalar_kernel, (1,), arguments, dict(out_ptr=expected), device=device)


@triton.jit
def wide_numbers(out_ptr, x):
    tl.store(out_ptr, x * 3000000000)
    tl.store(out_ptr + 1, x + 0x7FFFFFFFFFFFFFFF)
    tl.store(out_ptr + 2, (x + 1) * x)


def test_64_bit_integers(device):
    x = 2**40 + 7
    products = [x * 3000000000, x + 2**63 - 1, (x + 1) * x]
    wrapped = np.array([p % 2**64 for p in products], np.uint64).view(np.int64)
    arguments = dict(out_ptr=np.zeros(3, np.int64), x=x)
    check(wide_numbers, (1,), arguments, dict(out_ptr=wrapped), device=device)
