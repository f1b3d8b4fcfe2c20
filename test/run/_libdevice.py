"""High-precision references for each function of libdevice: mpmath, exact fractions, integers.

REFERENCES: name -> a function of Python numbers; ints for integers, mpf for floats.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import math
import struct
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
from mpmath import mp, mpf

mp.prec = 200
INF, NAN = mpf("inf"), mpf("nan")
MASK32, MASK64 = 2**32 - 1, 2**64 - 1


def finite(function: Any) -> Any:
    """NaN for NaN; values at infinity are tested separately."""
    return lambda *args: NAN if any(mpmath.isnan(a) for a in args) else function(*args)


# --- elementary functions -------------------------------------------------------------------------


def _tail(q):
    """The y with erfc(y) = q, by bisection and Newton's method."""
    if not 0 <= q <= 2:
        return mpmath.nan
    if q == 0:
        return INF
    if q == 2:
        return -INF
    if abs(1 - q) < mpf("0.99"):
        return mpmath.erfinv(1 - q)
    if q > 1:
        return -_tail(2 - q)
    y = mpmath.sqrt(-mpmath.log(q))
    for _ in range(100):
        step = (mpmath.erfc(y) - q) * mpmath.sqrt(mpmath.pi) / 2 * mpmath.exp(y * y)
        y += step
        if abs(step) < y * mpf(2) ** -150:
            break
    return y


def _norm(*args):
    return mpmath.sqrt(sum(a * a for a in args))


def _remainder(x, y):
    quotient = Fraction(float(x)) / Fraction(float(y))
    return mpf(float(x)) - round(quotient) * mpf(float(y))  # ties to even


def _fmod(x, y):
    quotient = Fraction(float(x)) / Fraction(float(y))
    return mpf(float(x)) - int(quotient) * mpf(float(y))


ELEMENTARY = {
    "sqrt": mpmath.sqrt,
    "rsqrt": lambda x: 1 / mpmath.sqrt(x),
    "rsqrt_rn": lambda x: 1 / mpmath.sqrt(x),
    "exp": mpmath.exp,
    "exp2": lambda x: mpf(2) ** x,
    "exp10": lambda x: mpf(10) ** x,
    "expm1": mpmath.expm1,
    "log": mpmath.log,
    "log2": lambda x: mpmath.log(x) / mpmath.log(2),
    "log10": lambda x: mpmath.log(x) / mpmath.log(10),
    "log1p": mpmath.log1p,
    "sin": mpmath.sin,
    "cos": mpmath.cos,
    "tan": mpmath.tan,
    "sinpi": mpmath.sinpi,
    "cospi": mpmath.cospi,
    "sinh": mpmath.sinh,
    "cosh": mpmath.cosh,
    "tanh": mpmath.tanh,
    "asin": mpmath.asin,
    "acos": mpmath.acos,
    "atan": mpmath.atan,
    "asinh": mpmath.asinh,
    "acosh": mpmath.acosh,
    "atanh": mpmath.atanh,
    "cbrt": lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)),
    "rcbrt": lambda x: mpmath.sign(x) / mpmath.cbrt(abs(x)),
    "erf": mpmath.erf,
    "erfc": mpmath.erfc,
    "erfinv": lambda x: _tail(1 - x),
    "erfcinv": _tail,
    "erfcx": lambda x: mpmath.exp(x * x) * mpmath.erfc(x),
    "normcdf": lambda x: mpmath.erfc(-x / mpmath.sqrt(2)) / 2,
    "normcdfinv": lambda x: -mpmath.sqrt(2) * _tail(2 * x),
    "lgamma": lambda x: mpmath.log(abs(mpmath.gamma(x))),
    "tgamma": mpmath.gamma,
    "j0": lambda x: mpmath.besselj(0, x),
    "j1": lambda x: mpmath.besselj(1, x),
    "y0": lambda x: mpmath.bessely(0, x),
    "y1": lambda x: mpmath.bessely(1, x),
    "cyl_bessel_i0": lambda x: mpmath.besseli(0, x),
    "cyl_bessel_i1": lambda x: mpmath.besseli(1, x),
    "jn": lambda n, x: mpmath.besselj(n, x),
    "yn": lambda n, x: mpmath.bessely(n, x),
    "atan2": mpmath.atan2,
    "pow": lambda x, y: mpmath.power(x, y),
    "hypot": _norm,
    "rhypot": lambda *args: 1 / _norm(*args),
    "norm3d": _norm,
    "norm4d": _norm,
    "rnorm3d": lambda *args: 1 / _norm(*args),
    "rnorm4d": lambda *args: 1 / _norm(*args),
    "fmod": _fmod,
    "remainder": _remainder,
    "fdim": lambda x, y: max(x - y, mpf(0)),
    "fma": lambda x, y, z: x * y + z,
    "fast_dividef": lambda x, y: x / y,
}
ELEMENTARY |= {
    f"fast_{name}f": ELEMENTARY[name]
    for name in ("sin", "cos", "tan", "exp", "exp10", "log", "log2", "log10", "tanh", "pow")
}

# --- rounding to integers, parts of floats ---------------------------------------------------------


def _half_away(x):
    return mpmath.sign(x) * mpmath.floor(abs(x) + mpf("0.5"))


TO_WHOLE = {
    "rn": mpmath.nint,
    "rz": lambda x: mpmath.floor(x) if x >= 0 else mpmath.ceil(x),
    "rd": mpmath.floor,
    "ru": mpmath.ceil,
}
EXACT = {
    "floor": mpmath.floor,
    "ceil": mpmath.ceil,
    "trunc": TO_WHOLE["rz"],
    "rint": mpmath.nint,
    "nearbyint": mpmath.nint,
    "round": _half_away,
    "copysign": lambda x, y: mpf(math.copysign(x, y)),
    "saturatef": lambda x: min(max(x, mpf(0)), mpf(1)),
    "ldexp": lambda x, n: x * mpf(2) ** n,
    "scalbn": lambda x, n: x * mpf(2) ** n,
    "logb": lambda x: mpf(math.frexp(x)[1] - 1),
}
TRUTHS = {
    "isnan": lambda x: bool(mpmath.isnan(x)),
    "isinf": lambda x: bool(mpmath.isinf(x)),
    "finitef": lambda x: bool(mpmath.isfinite(x)),
    "isfinited": lambda x: bool(mpmath.isfinite(x)),
}

# --- integers --------------------------------------------------------------------------------------


def signed(value: int, bits: int) -> int:
    value &= (1 << bits) - 1
    return value - (1 << bits) if value >> (bits - 1) else value


def _permuted(x: int, y: int, s: int) -> int:
    data = struct.pack("<II", x & MASK32, y & MASK32)
    return int.from_bytes(bytes(data[s >> 4 * i & 7] for i in range(4)), "little")


def _mul24(x: int, y: int) -> int:
    return signed(x, 24) * signed(y, 24)


INTEGERS = {
    "clz": lambda x, bits: bits - (x & ((1 << bits) - 1)).bit_length(),
    "popc": lambda x, bits: (x & ((1 << bits) - 1)).bit_count(),
    "ffs": lambda x, bits: (x & -x).bit_length(),
    "brev": lambda x, bits: int(format(x & ((1 << bits) - 1), f"0{bits}b")[::-1], 2),
    "abs": lambda x, bits: abs(x),
    "byte_perm": lambda x, y, s, bits: _permuted(x, y, s & MASK32),
    "mulhi": lambda x, y, bits: x * y >> bits,
    "mul24": lambda x, y, bits: _mul24(x, y),
    "sad": lambda x, y, z, bits: abs(x - y) + z,
    "hadd": lambda x, y, bits: (x + y) >> 1,
    "rhadd": lambda x, y, bits: (x + y + 1) >> 1,
}

# --- directed rounding -------------------------------------------------------------------------------


def fraction_of(value: Any) -> Fraction:
    if isinstance(value, mpf):
        sign, mantissa, exponent, _ = value._mpf_
        return Fraction(-int(mantissa) if sign else int(mantissa)) * Fraction(2) ** exponent
    return Fraction(value)


def rounded(exact: Fraction, dtype: Any, mode: str) -> Any:
    """The float of a type next to a number, in the direction of a rounding mode."""
    low = dtype(float(exact))
    while Fraction(float(low)) > exact:
        low = np.nextafter(low, dtype(-np.inf))
    while Fraction(float(high := np.nextafter(low, dtype(np.inf)))) <= exact:
        low = high
    if Fraction(float(low)) == exact:
        return low
    if mode in ("rd", "ru"):
        return low if mode == "rd" else high
    if mode == "rz":
        return low if exact > 0 else high
    below, above = exact - Fraction(float(low)), Fraction(float(high)) - exact
    if below != above:
        return low if below < above else high
    return low if not int(low.view(np.uint32 if dtype is np.float32 else np.uint64)) & 1 else high


ARITHMETIC = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "rcp": lambda x: 1 / x,
    "fma": lambda x, y, z: x * y + z,
    "sqrt": lambda x: fraction_of(mpmath.sqrt(mpf(x.numerator) / x.denominator)),
}
