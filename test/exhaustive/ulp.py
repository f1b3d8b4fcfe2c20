"""Prints the largest error of each mathematical function in units in the last place, beside torch's.

usage: python test/exhaustive/ulp.py [--samples N] [FUNCTION...]

All values of fp16 and bf16, N of the bit patterns of fp32 at equal distances, 2000 of fp64 against
mpmath. Ends with 1 where an error is above its bound: 2 for exp, log, sqrt, erf and tanh, 4 for the
others; EXCEPTIONS has the functions with larger bounds. Functions that the language has for fp32 and fp64
only are computed in fp32 and rounded for the narrow types, as a kernel would.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import argparse
import math
import sys
from typing import Any

import numpy as np
import triton
import triton.language as tl
from triton.language.extra import libdevice

BLOCK = 4096
TIGHT = {"exp", "log", "sqrt", "erf", "tanh"}
# (function, type) -> bound, where the reference or zeros of the function prevent a smaller one.
EXCEPTIONS = {
    (name, dtype): math.inf
    for name in ("j0", "j1", "y0", "y1", "lgamma")  # relative errors beside their zeros
    for dtype in ("fp32", "fp64")
}
OF_LANGUAGE = ["exp", "exp2", "log", "log2", "sin", "cos", "sqrt", "rsqrt", "erf"]
OF_LIBDEVICE = (
    "tanh expm1 log1p exp10 log10 tan sinh cosh asin acos atan asinh acosh atanh cbrt rcbrt erfc "
    "erfinv erfcinv erfcx normcdf normcdfinv tgamma sinpi cospi lgamma j0 j1 y0 y1 "
    "cyl_bessel_i0 cyl_bessel_i1"
).split()


@triton.jit
def apply(x_ptr, out_ptr, n, FUNCTION: tl.constexpr, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + i, mask=i < n, other=1)
    wide = x if x.dtype == tl.float64 else x.to(tl.float32)
    tl.store(out_ptr + i, FUNCTION(wide).to(x.dtype), mask=i < n)


def ours(name: str, x: Any) -> Any:
    """`x` is a torch tensor or a numpy array."""
    function = getattr(tl, name) if name in OF_LANGUAGE else getattr(libdevice, name)
    out = x.clone() if hasattr(x, "clone") else x.copy()
    n = out.shape[0]
    apply[(triton.cdiv(n, BLOCK),)](x, out, n, function, BLOCK)
    return out


# --- references ------------------------------------------------------------------------------------


def _mp(name: str) -> Any:
    sys.path.insert(0, __file__.rsplit("/", 2)[0] + "/run")
    from _libdevice import ELEMENTARY

    return ELEMENTARY[name]


def _wide(name: str) -> Any:
    """The function in numpy's 80-bit floats, or in libm's fp64, vectorised; None if only mpmath has it."""
    by_numpy = {
        "exp": np.exp,
        "exp2": np.exp2,
        "log": np.log,
        "log2": np.log2,
        "sin": np.sin,
        "cos": np.cos,
        "sqrt": np.sqrt,
        "tanh": np.tanh,
        "expm1": np.expm1,
        "log1p": np.log1p,
        "log10": np.log10,
        "tan": np.tan,
        "sinh": np.sinh,
        "cosh": np.cosh,
        "asin": np.arcsin,
        "acos": np.arccos,
        "atan": np.arctan,
        "asinh": np.arcsinh,
        "acosh": np.arccosh,
        "atanh": np.arctanh,
        "cbrt": np.cbrt,
        "rsqrt": lambda x: 1 / np.sqrt(x),
        "rcbrt": lambda x: 1 / np.cbrt(x),
        "exp10": lambda x: np.power(np.longdouble(10), x),
    }
    if name in by_numpy:
        return lambda x: by_numpy[name](x.astype(np.longdouble))
    if name in ("erf", "erfc"):
        return lambda x: np.vectorize(getattr(math, name), otypes=[np.float64])(x)
    return None


def _at_pole(name: str, x: float) -> float:
    if name == "tgamma" and x == 0:
        return math.copysign(math.inf, x)
    return math.inf if name == "lgamma" else math.nan


def reference(name: str, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The arguments to compare, and the results for them in more digits than x has."""
    wide = _wide(name)
    if wide is not None and x.dtype != np.float64:
        with np.errstate(all="ignore"):
            return x, wide(x).astype(np.longdouble)
    import mpmath

    x = x[np.isfinite(x)]
    x = x[:: max(1, x.size // 2000)]
    function = _mp(name)
    results = []
    for value in x.tolist():
        try:
            exact = function(mpmath.mpf(value))
            results.append(np.longdouble(str(exact)) if isinstance(exact, mpmath.mpf) else np.nan)
        except (ValueError, ZeroDivisionError, OverflowError, mpmath.libmp.ComplexResult):
            results.append(_at_pole(name, value))
    return x, np.array(results, np.longdouble)


# --- types ------------------------------------------------------------------------------------------

DIGITS = {"fp16": (11, -14), "bf16": (8, -126), "fp32": (24, -126), "fp64": (53, -1022)}
LARGEST = {"fp16": 65504.0, "bf16": 3.3895313892515355e38, "fp32": 3.4028234663852886e38}
LARGEST["fp64"] = sys.float_info.max


def worst(got: np.ndarray, want: np.ndarray, dtype: str) -> float:
    """The largest error in units in the last place of the type at `want`."""
    digits, least = DIGITS[dtype]
    with np.errstate(all="ignore"):
        exponent = np.maximum(np.frexp(want)[1] - 1, least)
        unit = np.ldexp(np.longdouble(1), exponent - digits + 1)
        # Infinity counts as one step above the largest number, as in rounding.
        above = np.longdouble(LARGEST[dtype]) * (1 + np.longdouble(2) ** (1 - digits))
        numbers = np.clip(got.astype(np.longdouble), -above, above)
        distance = np.abs(numbers - want) / unit
        overflow = LARGEST[dtype] * (1 + np.longdouble(2) ** -digits)
        same = (np.isnan(got) & np.isnan(want)) | (got == want)
        same |= (np.abs(want) >= overflow) & np.isinf(got) & (np.sign(got) == np.sign(want))
    distance = np.where(same, 0, distance)
    return float(np.where(np.isnan(distance), np.inf, distance).max())


def arguments(dtype: str, samples: int) -> np.ndarray:
    """fp32 for the narrow types, whose values it represents exactly."""
    if dtype == "fp16":
        return np.arange(1 << 16, dtype=np.uint16).view(np.float16).astype(np.float32)
    if dtype == "bf16":
        return (np.arange(1 << 16, dtype=np.uint32) << 16).view(np.float32)
    if dtype == "fp32":
        return np.linspace(0, 2**32 - 1, samples).astype(np.uint32).view(np.float32)
    x = np.random.default_rng(0).random(2000) * 2
    return (x - 1) * np.repeat([1.0, 10.0, 100.0, 700.0], 500)


def measure(name: str, dtype: str, samples: int, torch: Any) -> tuple[float, float | None]:
    x, want = reference(name, arguments(dtype, samples))
    types = {"fp16": torch.float16, "bf16": torch.bfloat16, "fp32": torch.float32}
    given = torch.from_numpy(np.ascontiguousarray(x)).to(types.get(dtype, torch.float64))
    widen = torch.float64 if dtype == "fp64" else torch.float32
    got = ours(name, given).to(widen).numpy()
    special = {"cbrt": None, "erfcx": "erfcx", "normcdf": "ndtr", "normcdfinv": "ndtri"}
    special |= {"j0": "bessel_j0", "j1": "bessel_j1", "y0": "bessel_y0", "y1": "bessel_y1"}
    special |= {"cyl_bessel_i0": "i0", "cyl_bessel_i1": "i1"}
    place = torch.special if name in special else torch
    theirs = getattr(place, special.get(name, name) or "", None)
    if theirs is None:
        return worst(got, want, dtype), None
    try:
        peer = theirs(given).to(widen).numpy()
    except (RuntimeError, NotImplementedError):
        return worst(got, want, dtype), None
    return worst(got, want, dtype), worst(peer, want, dtype)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--samples", type=int, default=1 << 20, help="of fp32")
    parser.add_argument("functions", nargs="*", default=[*OF_LANGUAGE, *OF_LIBDEVICE])
    options = parser.parse_args()
    import torch

    types = list(DIGITS)
    print(f"{'ulp, torch beside':18}" + "".join(f"{dtype:>20}" for dtype in types))
    failures = []
    for name in options.functions:
        row = f"{name:18}"
        for dtype in types:
            error, peer = measure(name, dtype, options.samples, torch)
            bound = EXCEPTIONS.get((name, dtype), 2 if name in TIGHT else 4)
            row += f"{error:10.2f}{'-' if peer is None else f'{peer:.2f}':>10}"
            if error > bound:
                failures.append(f"{name} of {dtype}: {error:.2f}, allowed {bound}")
        print(row, flush=True)
    for failure in failures:
        print("above its bound:", failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
