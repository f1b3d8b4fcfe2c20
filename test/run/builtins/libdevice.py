"""Every function of libdevice, each overload, against mpmath, exact fractions and integers."""
# SPDX-License-Identifier: MIT

import math
import struct
from fractions import Fraction

import numpy as np
import pytest
import triton
import triton.language as tl
from harness import check, launch
from triton.language.extra import libdevice

pytest.importorskip("mpmath")
from _libdevice import (  # noqa: E402
    ARITHMETIC,
    ELEMENTARY,
    EXACT,
    INTEGERS,
    TO_WHOLE,
    TRUTHS,
    mpf,
    rounded,
    signed,
)

N = 64
FLOATS = ["float32", "float64"]
MODES = ["rn", "rz", "rd", "ru"]
SINGLE_ONLY = {"rsqrt_rn", "saturatef"} | {name for name in ELEMENTARY if name.startswith("fast_")}


@triton.jit
def call_1(a, out, FUNCTION: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, FUNCTION(tl.load(a + i)))


@triton.jit
def call_2(a, b, out, FUNCTION: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, FUNCTION(tl.load(a + i), tl.load(b + i)))


@triton.jit
def call_3(a, b, c, out, FUNCTION: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, FUNCTION(tl.load(a + i), tl.load(b + i), tl.load(c + i)))


@triton.jit
def call_4(a, b, c, d, out, FUNCTION: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(
        out + i, FUNCTION(tl.load(a + i), tl.load(b + i), tl.load(c + i), tl.load(d + i))
    )


KERNELS = {1: call_1, 2: call_2, 3: call_3, 4: call_4}


def run(name, operands, expected, device, **tolerance):
    arguments = dict(zip("abcd", operands, strict=False))
    dtype = tolerance.pop("dtype", expected.dtype)
    out = np.zeros(N, dtype)
    out.view(np.uint8).fill(1 if dtype == bool else 0xCD)
    arguments |= dict(out=out, FUNCTION=getattr(libdevice, name), N=N)
    kernel = KERNELS[len(operands)]
    check(kernel, (1,), arguments, dict(out=expected), device=device, **tolerance)


def precise(value):
    """The value as numpy's widest float."""
    return np.longdouble(str(mpf(value)) if not isinstance(value, complex) else "nan")


def spread(dtype, low, high, seed=0):
    random = np.random.default_rng(seed)
    return (random.random(N) * (high - low) + low).astype(dtype)


def powers(dtype, low, high, seed=0):
    """Numbers of both signs, with exponents from `low` to `high`."""
    random = np.random.default_rng(seed)
    return (random.choice([-1, 1], N) * 2.0 ** (random.random(N) * (high - low) + low)).astype(dtype)


# The range of the arguments of a function, if not [-4, 4].
DOMAINS = {
    **dict.fromkeys(["sqrt", "rsqrt", "rsqrt_rn", "lgamma", "y0", "y1"], (0.01, 40)),
    **dict.fromkeys(["log", "log2", "log10", "fast_logf", "fast_log2f", "fast_log10f"], (1e-3, 50)),
    **dict.fromkeys(["exp", "exp2", "exp10", "fast_expf", "fast_exp10f"], (-30, 30)),
    **dict.fromkeys(["sin", "cos", "sinpi", "cospi"], (-100, 100)),
    **dict.fromkeys(["j0", "j1", "cyl_bessel_i0", "cyl_bessel_i1"], (-60, 60)),
    **dict.fromkeys(["asin", "acos", "atanh", "erfinv"], (-0.999, 0.999)),
    **dict.fromkeys(["expm1", "cbrt", "rcbrt", "sinh", "cosh", "asinh", "atan"], (-20, 20)),
    "log1p": (-0.9, 20),
    "acosh": (1, 30),
    "erfcinv": (0.001, 1.999),
    "normcdfinv": (0.001, 0.999),
    "normcdf": (-12, 6),
    "erfc": (-3, 9),
    "erfcx": (-5, 300),
    "tgamma": (0.1, 30),
    "pow": (0.1, 10),
    "fast_powf": (0.1, 10),
}
# Absolute tolerances for functions with zeros in the range, besides the units in the last place.
LOOSE = {"j0": 1e-6, "j1": 1e-6, "y0": 1e-6, "y1": 1e-6, "jn": 1e-6, "yn": 1e-5, "lgamma": 1e-6}
BESSEL_DIGITS = {"float32": 1.0, "float64": 1e-9}
ARITY = {
    **dict.fromkeys(["atan2", "pow", "fast_powf", "hypot", "rhypot", "fmod", "remainder", "fdim"], 2),
    **dict.fromkeys(["fast_dividef", "copysign"], 2),
    **dict.fromkeys(["norm3d", "rnorm3d", "fma"], 3),
    **dict.fromkeys(["norm4d", "rnorm4d"], 4),
}
WITH_ORDER = ["jn", "yn"]


def floats_of(name):
    return ["float32"] if name in SINGLE_ONLY else FLOATS


@pytest.mark.parametrize("name", ELEMENTARY)
def test_elementary(name, device):
    for dtype in floats_of(name):
        low, high = DOMAINS.get(name, (-4, 4))
        arity = ARITY.get(name, 1)
        operands = [spread(dtype, low, high, seed) for seed in range(arity)]
        if name in WITH_ORDER:
            operands = [np.arange(N, dtype=np.int32) % 5, spread(dtype, 0.5, 30)]
        numbers = [[int(v) if op.dtype.kind == "i" else mpf(float(v)) for v in op] for op in operands]
        expected = np.array([precise(ELEMENTARY[name](*row)) for row in zip(*numbers, strict=True)])
        atol = LOOSE.get(name, 0) * BESSEL_DIGITS[dtype]
        ulps = 1.01 if name in ("sqrt", "fdim", "fmod", "remainder") else 4
        run(name, operands, expected, device, dtype=dtype, ulps=ulps, atol=atol)


SPECIAL = {
    "sqrt": {-1: math.nan, math.inf: math.inf, -0.0: -0.0},
    "exp": {math.inf: math.inf, -math.inf: 0, -2000: 0},
    "log": {0: -math.inf, -1: math.nan, math.inf: math.inf},
    "sinpi": {1: 0, 0.5: 1, -0.5: -1, math.inf: math.nan, 2.5: 1, 0.25: math.sqrt(0.5)},
    "cospi": {0.5: 0, 1: -1, 1.5: 0, 2: 1, math.inf: math.nan, 7: -1},
    "erfinv": {1: math.inf, -1: -math.inf, 2: math.nan, 0: 0},
    "erfcinv": {0: math.inf, 2: -math.inf, 1: 0, -1: math.nan},
    "normcdfinv": {0: -math.inf, 1: math.inf, 0.5: 0},
    "erfcx": {math.inf: 0, 0: 1},
    "normcdf": {math.inf: 1, -math.inf: 0, 0: 0.5},
    "tgamma": {5: 24, math.inf: math.inf},
    "cyl_bessel_i0": {0: 1, math.inf: math.inf},
    "cyl_bessel_i1": {0: 0, math.inf: math.inf, -math.inf: -math.inf},
    "atanh": {1: math.inf, -1: -math.inf, 2: math.nan},
    "acos": {1: 0, 2: math.nan},
    "rcbrt": {0: math.inf, -8: -0.5, math.inf: 0},
    "saturatef": {math.nan: 0, -1: 0, 2: 1, 0.25: 0.25},
}


@pytest.mark.parametrize("name", SPECIAL)
def test_special_values(name, device):
    for dtype in floats_of(name):
        x = np.resize(np.array([*SPECIAL[name], math.nan], dtype), N)
        wanted = [*SPECIAL[name].values(), 0 if name == "saturatef" else math.nan]
        expected = np.resize(np.array(wanted, np.longdouble), N)
        run(name, [x], expected, device, dtype=dtype, ulps=1.5)


@pytest.mark.parametrize("name", EXACT)
def test_exact_functions(name, device):
    for dtype in floats_of(name):
        x = powers(dtype, -4, 20)
        x[:6] = [0.5, 1.5, 2.5, -0.5, -2.5, -3.5]
        operands = [x]
        if name == "copysign":
            operands.append(powers(dtype, 0, 1, seed=2))
        if name in ("ldexp", "scalbn"):
            operands.append((np.arange(N, dtype=np.int32) - 32) * 3)
        rows = zip(*(op.tolist() for op in operands), strict=True)
        wanted = [EXACT[name](*(mpf(v) if isinstance(v, float) else v for v in row)) for row in rows]
        run(name, operands, np.array([float(v) for v in wanted]).astype(dtype), device)


@pytest.mark.parametrize("name", [*TRUTHS, "signbit", "ilogb", "nextafter", "rcp64h"])
def test_parts_of_floats(name, device):
    wide = name in ("isfinited", "rcp64h")
    for dtype in ["float64"] if wide else ["float32"] if name == "finitef" else FLOATS:
        x = powers(dtype, -100, 100)
        x[:5] = [np.nan, np.inf, -np.inf, 0.0, -0.0]
        if name in TRUTHS:
            run(name, [x], np.array([TRUTHS[name](mpf(float(v))) for v in x]), device)
        elif name == "signbit":
            run(name, [x[1:].repeat(2)[:N]], np.signbit(x[1:].repeat(2)[:N]).astype(np.int32), device)
        elif name == "ilogb":
            x[:5] = 3
            expected = np.array([math.frexp(v)[1] - 1 for v in x.tolist()], np.int32)
            run(name, [x], expected, device)
        elif name == "nextafter":
            y = powers(dtype, -100, 100, seed=1)
            run(name, [x, y], np.nextafter(x, y), device)
        else:
            x[:5] = 3
            expected = (1 / x).view(np.uint64) >> np.uint64(32) << np.uint64(32)
            run(name, [x], expected.view(np.float64), device)


def integers(dtype, seed):
    info = np.iinfo(dtype)
    random = np.random.default_rng(seed)
    x = random.integers(info.min, info.max, N, dtype=dtype, endpoint=True)
    x[:4] = [0, 1, info.max, info.min + 1]
    return np.roll(x, seed)


# name: types of the arguments, of the result.
INTEGER_TYPES = {
    "clz": [(["int32"], "int32"), (["int64"], "int32")],
    "popc": [(["int32"], "int32"), (["int64"], "int32")],
    "ffs": [(["int32"], "int32"), (["int64"], "int32")],
    "brev": [(["int32"], "int32"), (["int64"], "int64")],
    "abs": [(["int32"], "int32"), (["int64"], "int64")],
    "byte_perm": [(["int32"] * 3, "int32")],
    "mulhi": [([t] * 2, t) for t in ("int32", "uint32", "int64", "uint64")],
    "sad": [(["int32", "int32", "uint32"], "int32"), (["uint32"] * 3, "uint32")],
    "hadd": [(["int32"] * 2, "int32"), (["uint32"] * 2, "uint32")],
    "rhadd": [(["int32"] * 2, "int32"), (["uint32"] * 2, "uint32")],
    "mul24": [(["int32"] * 2, "int32")],
}


@pytest.mark.parametrize("name", INTEGERS)
def test_integers(name, device):
    assert INTEGERS.keys() == INTEGER_TYPES.keys()
    for types, result in INTEGER_TYPES[name]:
        operands = [integers(dtype, seed) for seed, dtype in enumerate(types)]
        bits, width = np.iinfo(types[0]).bits, np.iinfo(result).bits
        rows = zip(*(op.tolist() for op in operands), strict=True)
        wanted = [INTEGERS[name](*row, bits) for row in rows]
        wrapped = [signed(v, width) if result[0] == "i" else v & ((1 << width) - 1) for v in wanted]
        run(name, operands, np.array(wrapped, result), device)


def test_unsigned_mul24(device):
    operands = [integers("uint32", 0), integers("uint32", 1)]
    low = [op.astype(np.uint64) & np.uint64(0xFFFFFF) for op in operands]
    run("mul24", operands, (low[0] * low[1]).astype(np.uint32), device)


def test_abs_of_floats(device):
    for dtype in FLOATS:
        x = powers(dtype, -20, 20)
        run("abs", [x], np.abs(x), device)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("operation", ARITHMETIC)
def test_rounded_arithmetic(operation, mode, device):
    arity = {"fma": 3, "rcp": 1, "sqrt": 1}.get(operation, 2)
    for dtype in (np.float32, np.float64):
        operands = [powers(dtype, -6, 6, seed) for seed in range(arity)]
        if operation == "sqrt":
            operands = [np.abs(operands[0])]
        rows = zip(*(op.tolist() for op in operands), strict=True)
        exact = [ARITHMETIC[operation](*map(Fraction, row)) for row in rows]
        expected = np.array([rounded(value, dtype, mode) for value in exact])
        run(f"{operation}_{mode}", operands, expected, device)


@pytest.mark.parametrize("mode", MODES)
def test_rounded_conversions_to_floats(mode, device):
    sources = {"int": "int32", "uint": "uint32", "ll": "int64", "ull": "uint64"}
    for source, dtype in sources.items():
        x = integers(dtype, 3)
        for target, float_type in (("float", np.float32), ("double", np.float64)):
            name = f"{source}2{target}_{mode}"
            if hasattr(libdevice, name):
                expected = np.array([rounded(Fraction(v), float_type, mode) for v in x.tolist()])
                run(name, [x], expected, device)
    x = powers(np.float64, -20, 20)
    expected = np.array([rounded(Fraction(v), np.float32, mode) for v in x.tolist()])
    run(f"double2float_{mode}", [x], expected, device)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("source", ["float", "double"])
def test_rounded_conversions_to_integers(source, mode, device):
    dtype = np.float32 if source == "float" else np.float64
    for target, bits, is_signed in [
        ("int", 32, True),
        ("uint", 32, False),
        ("ll", 64, True),
        ("ull", 64, False),
    ]:
        x = powers(dtype, -3, bits + 2, seed=4)
        x[:7] = [0.5, 1.5, -0.5, -1.5, np.inf, -np.inf, np.nan]
        least, most = (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1) if is_signed else (0, 2**bits - 1)
        for_nan = 0 if source == "float" and bits == 32 else 2 ** (bits - 1)

        def whole(v, least=least, most=most, for_nan=for_nan):
            if math.isnan(v):
                return for_nan
            if math.isinf(v):
                return most if v > 0 else least
            return min(max(int(TO_WHOLE[mode](mpf(v))), least), most)

        expected = np.array([signed(whole(v), bits) for v in x.tolist()], f"int{bits}")
        run(f"{source}2{target}_{mode}", [x], expected, device)


def test_whole_numbers_of_64_bits(device):
    for dtype in FLOATS:
        x = powers(dtype, -3, 60)
        x[:4] = [0.5, 1.5, -2.5, 2.5]
        nearest = np.array([int(TO_WHOLE["rn"](mpf(v))) for v in x.tolist()])
        away = np.array([int(EXACT["round"](mpf(v))) for v in x.tolist()])
        run("llrint", [x], nearest, device)
        run("llround", [x], away, device)


def test_bits(device):
    x = powers(np.float32, -20, 20)
    d = powers(np.float64, -20, 20)
    i, u = integers("int32", 1), integers("uint32", 2)
    finite = i & np.int32(0x7F7FFFFF)
    run("float_as_int", [x], x.view(np.int32), device)
    run("float_as_uint", [x], x.view(np.int32), device)
    run("int_as_float", [finite], finite.view(np.float32), device)
    small = u & np.uint32(0x7F7FFFFF)
    run("uint_as_float", [small], small.view(np.float32), device)
    run("double_as_longlong", [d], d.view(np.int64), device)
    run("longlong_as_double", [d.view(np.int64)], d, device)
    run("double2loint", [d], d.view(np.int32)[0::2].copy(), device)
    run("double2hiint", [d], d.view(np.int32)[1::2].copy(), device)
    halves = struct.pack("<" + "ii" * N, *np.stack([i, finite], 1).ravel())
    run("hiloint2double", [finite, i], np.frombuffer(halves, np.float64), device)


def test_powers_by_integers(device):
    for dtype in FLOATS:
        x = spread(dtype, -2, 2)
        n = np.arange(N, dtype=np.int32) % 9 - 4
        expected = np.array([precise(mpf(float(a)) ** int(b)) for a, b in zip(x, n, strict=True)])
        run("pow", [x, n], expected, device, dtype=dtype, ulps=2)


def test_all_names_are_tested():
    tested = {*ELEMENTARY, *EXACT, *TRUTHS, *INTEGERS, "signbit", "ilogb", "nextafter", "rcp64h"}
    tested |= {f"{operation}_{mode}" for operation in ARITHMETIC for mode in MODES}
    tested |= {"llrint", "llround", "float_as_int", "float_as_uint", "int_as_float"}
    tested |= {"uint_as_float", "double_as_longlong", "longlong_as_double"}
    tested |= {"double2loint", "double2hiint", "hiloint2double"}
    tested |= {name for name in libdevice.__all__ if "2" in name and name[-3:] in ("_rn", "_rz", "_rd", "_ru")}
    assert len(libdevice.__all__) == 198
    assert set(libdevice.__all__) == tested


@triton.jit
def mixed(x, out, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, libdevice.atan2(tl.load(x + i), 2.0) + tl.extra.cuda.libdevice.sin(1.0))


def test_numbers_and_other_paths(device):
    x = spread("float64", -3, 3)
    sine = np.float64(np.sin(np.float32(1)).astype(np.float32))
    expected = np.arctan2(x, 2.0) + sine
    check(
        mixed, (1,), dict(x=x, out=np.zeros(N), N=N), dict(out=expected), device=device, rtol=1e-7
    )


SYMBOLS = {
    (tl.float32,): ("__nv_sinhf", tl.float32),
    (tl.float64,): ("__nv_sinh", tl.float64),
}


@triton.jit
def by_dictionary(x, out, TABLE: tl.constexpr, N: tl.constexpr):
    i = tl.arange(0, N)
    tl.store(out + i, tl.extern_elementwise("", "", [tl.load(x + i)], TABLE, is_pure=True))


@pytest.mark.parametrize("dtype", FLOATS)
def test_a_dictionary_of_ones_own(dtype, device):
    x = spread(dtype, -3, 3)
    arguments = dict(x=x, out=np.zeros(N, dtype), TABLE=SYMBOLS, N=N)
    check(by_dictionary, (1,), arguments, dict(out=np.sinh(x)), device=device, rtol=1e-6)


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({}, "arg_type_symbol_dict is empty"),
        ({(tl.float32, tl.float32): ("f", tl.float32)}, "length of input args does not match. Expect 2, got 1"),
        ({(tl.int64,): ("f", tl.int64)}, r"input arg type does not match. Expect one of \[\(int64,\)\], got \(fp32,\)"),
        ({(tl.float32,): ("nothing", tl.float32)}, "`nothing` is no function "),
    ],
)
def test_dictionaries_that_do_not_fit(table, message, device):
    x = spread("float32", -3, 3)
    with pytest.raises(triton.CompilationError, match=message):
        launch(by_dictionary, (1,), device=device, x=x, out=x.copy(), TABLE=table, N=N)
