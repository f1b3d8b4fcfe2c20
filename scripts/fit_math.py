# Fits the polynomials of compiler/math and prints their f32 and f64 coefficients.
# SPDX-License-Identifier: MIT
#
# Each fit is a weighted minimax (Remez exchange on a Chebyshev grid). Coefficients for f32 are rounded one at a time,
# the lowest power first, and the others are fitted again after each rounding, so that rounding costs little accuracy.
# Those for f64 (`wide...`) are rounded individually.
#
#   python scripts/fit_math.py            print every fit
#   python scripts/fit_math.py log sin    print some
#   python scripts/fit_math.py --check    fail unless the sources hold exactly these coefficients
from __future__ import annotations

import re
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from mpmath import cos, erf, exp, expm1, log, log1p, matrix, mp, mpf, pi, qr_solve, sin, sqrt, tanh

mp.prec = 200
SOURCES = Path(__file__).resolve().parent.parent / "compiler/math"
GRID = 1200


@dataclass
class Fit:
    """A polynomial p in `argument(x)`; the fit minimises the error `|weight(x)| * (p - target(x))`.
    """

    name: str
    degree: int
    low: mpf
    high: mpf
    target: Callable
    weight: Callable
    argument: Callable = lambda x: x
    is_wide: bool = False


def widened(fit: Fit, degree: int) -> Fit:
    """The same fit for f64."""
    name = "wide" + fit.name[0].upper() + fit.name[1:]
    return replace(fit, name=name, degree=degree, is_wide=True)


LN2 = log(mpf(2))
NARROW = [
    # e^r = 1 + r + r^2 p(r); the weight makes e^r - 1 relatively accurate, as expm1 and erf need.
    Fit(
        "expTail",
        4,
        -LN2 / 2 * 1.01,
        LN2 / 2 * 1.01,
        lambda r: (expm1(r) - r) / r**2,
        lambda r: r**2 / expm1(r),
    ),
    # 2^r = 1 + r p(r)
    Fit(
        "exp2Tail", 5, mpf(-0.5), mpf(0.5), lambda r: expm1(r * LN2) / r, lambda r: r / exp(r * LN2)
    ),
    # log(1 + f) = f + f^2 p(f)
    Fit(
        "logTail",
        8,
        sqrt(mpf(0.5)) - 1,
        sqrt(mpf(2)) - 1,
        lambda f: (log1p(f) - f) / f**2,
        lambda f: f**2 / log1p(f),
    ),
    # log2(1 + f) = f / ln 2 + f^2 p(f)
    Fit(
        "log2Tail",
        8,
        sqrt(mpf(0.5)) - 1,
        sqrt(mpf(2)) - 1,
        lambda f: (log1p(f) - f) / LN2 / f**2,
        lambda f: f**2 * LN2 / log1p(f),
    ),
    # sin r = r + r^3 p(r^2), cos r = 1 - r^2/2 + r^4 p(r^2); the reduction exceeds pi/4 slightly for large x.
    Fit(
        "sinTail",
        2,
        mpf("1e-3"),
        pi / 4 + mpf("0.03"),
        lambda r: (sin(r) - r) / r**3,
        lambda r: r**3 / sin(r),
        lambda r: r**2,
    ),
    Fit(
        "cosTail",
        2,
        mpf("1e-3"),
        pi / 4 + mpf("0.03"),
        lambda r: (cos(r) - 1 + r**2 / 2) / r**4,
        lambda r: r**4,
        lambda r: r**2,
    ),
    # tanh a = a + a^3 p(a^2)
    Fit(
        "tanhTail",
        3,
        mpf("1e-3"),
        mpf("0.5494"),
        lambda a: (tanh(a) - a) / a**3,
        lambda a: a**3 / tanh(a),
        lambda a: a**2,
    ),
    # erf a = 1 - exp(-(a + a p(a)))
    Fit(
        "erfLog",
        8,
        mpf("1e-4"),
        mpf("3.95"),
        lambda a: -log(1 - erf(a)) / a - 1,
        lambda a: a * (1 - erf(a)) / erf(a),
    ),
]
WIDE_DEGREES = {
    "expTail": 10,
    "exp2Tail": 11,
    "logTail": 20,
    "log2Tail": 20,
    "sinTail": 6,
    "cosTail": 6,
    "tanhTail": 11,
}
FITS = (
    NARROW
    + [widened(fit, WIDE_DEGREES[fit.name]) for fit in NARROW if fit.name in WIDE_DEGREES]
    + [replace(widened(NARROW[-1], 28), low=mpf("1e-5"), high=mpf("5.93"))]
)


def grid_points(fit: Fit) -> list[mpf]:
    middle, half = (fit.low + fit.high) / 2, (fit.high - fit.low) / 2
    points = [middle + half * mpf(float(np.cos(np.pi * (i + 0.5) / GRID))) for i in range(GRID)]
    return sorted(p for p in points if p != 0)


def pick_extrema(errors: list[mpf], count: int) -> list[int]:
    """Indices of the largest error of each run of one sign, thinned to `count` alternating ones."""
    peaks: list[int] = []
    for i, error in enumerate(errors):
        if peaks and (errors[peaks[-1]] > 0) == (error > 0):
            if abs(error) > abs(errors[peaks[-1]]):
                peaks[-1] = i
        else:
            peaks.append(i)
    while len(peaks) > count:
        peaks.pop(0 if abs(errors[peaks[0]]) < abs(errors[peaks[-1]]) else -1)
    return peaks


def minimax(
    powers: list[int], arguments: list[mpf], values: list[mpf], weights: list[mpf]
) -> list[mpf]:
    """Remez exchange: coefficients of `powers` that equalise the weighted error."""
    count = len(powers) + 1
    chosen = [round(i * (len(values) - 1) / (count - 1)) for i in range(count)]
    rows = [[w * a**p for p in powers] for a, w in zip(arguments, weights, strict=True)]
    coefficients: list[mpf] = []
    for _ in range(40):
        system, right = matrix(count, count), matrix(count, 1)
        for row, i in enumerate(chosen):
            for column in range(count - 1):
                system[row, column] = rows[i][column]
            system[row, count - 1] = (-1) ** row
            right[row] = values[i] * weights[i]
        solution = qr_solve(system, right)[0]
        coefficients = [solution[i] for i in range(count - 1)]
        errors = [
            sum(r * c for r, c in zip(row, coefficients, strict=True)) - v * w
            for row, v, w in zip(rows, values, weights, strict=True)
        ]
        peaks = pick_extrema(errors, count)
        if len(peaks) < count or max(map(abs, errors)) <= abs(solution[count - 1]) * mpf("1.0005"):
            break
        chosen = peaks
    return coefficients


def level_errors(columns: np.ndarray, errors: np.ndarray) -> np.ndarray:
    """The change of coefficients that makes `max |errors + columns @ change|` small.

    Lawson's reweighted least squares. Remez does not apply once a low power is fixed: powers
    without the constant are not a Chebyshev system around zero.
    """
    scale = np.abs(columns).max(axis=0)
    shares = np.full(len(errors), 1.0 / len(errors))
    best, best_worst = np.zeros(columns.shape[1]), np.abs(errors).max()
    for _ in range(400):
        root = np.sqrt(shares)
        change = (
            np.linalg.lstsq(columns / scale * root[:, None], -errors * root, rcond=None)[0] / scale
        )
        left = np.abs(errors + columns @ change)
        if left.max() < best_worst:
            best, best_worst = change, left.max()
        shares *= left
        shares /= shares.sum()
    return best


def fit_rounded(fit: Fit) -> tuple[list[float], mpf]:
    points = grid_points(fit)
    arguments = [fit.argument(x) for x in points]
    weights = [abs(fit.weight(x)) for x in points]
    targets = [fit.target(x) for x in points]
    coefficients = minimax(list(range(fit.degree + 1)), arguments, targets, weights)
    if fit.is_wide:
        rounded = [float(c) for c in coefficients]
        sums = [sum(c * a**i for i, c in enumerate(rounded)) for a in arguments]
        return rounded, max(
            w * abs(s - t) for s, t, w in zip(sums, targets, weights, strict=True)
        )
    for power in range(fit.degree + 1):
        coefficients[power] = mpf(float(np.float32(float(coefficients[power]))))
        errors = np.array(
            [
                float(w * (sum(c * a**i for i, c in enumerate(coefficients)) - t))
                for a, t, w in zip(arguments, targets, weights, strict=True)
            ]
        )
        columns = np.array(
            [
                [float(w * a**i) for i in range(power + 1, fit.degree + 1)]
                for a, w in zip(arguments, weights, strict=True)
            ]
        )
        if power < fit.degree:
            for i, change in enumerate(level_errors(columns, errors)):
                coefficients[power + 1 + i] += mpf(float(change))
    return [float(c) for c in coefficients], mpf(float(np.abs(errors).max()))


def hex_float(value: float, suffix: str = "f") -> str:
    mantissa, exponent = value.hex().split("p")
    return f"{re.sub(r'0+$', '', mantissa).rstrip('.')}p{int(exponent)}{suffix}"


def constants() -> list[tuple[str, list[float], str]]:
    """Multi-part constants: each part is truncated towards zero, so that all parts have one sign.
    """

    def split(value: mpf, bits: list[int]) -> list[float]:
        parts = []
        for width in bits:
            exponent = int(mp.floor(mp.log(value, 2)))
            unit = mpf(2) ** (exponent - width + 1)
            part = mp.floor(value / unit) * unit
            parts.append(float(part))
            value -= part
        return parts

    return [
        # 8 bits of k times 15 are exact without FMA.
        ("ln2Parts", split(LN2, [15, 24]), "f"),
        ("log2eParts", split(1 / LN2, [24, 24]), "f"),
        ("halfPiParts", split(pi / 2, [24, 24, 24]), "f"),
        # 11 bits of k times 41.
        ("wideLn2Parts", split(LN2, [41, 53]), ""),
        ("wideLog2eParts", split(1 / LN2, [53, 53]), ""),
        ("wideHalfPiParts", split(pi / 2, [53, 53, 53]), ""),
    ]


def inverse_pi_words(count: int, bits: int) -> str:
    """The bits of 1/pi after the binary point, `bits` at a time."""
    with mp.workprec(count * bits + 64):
        scaled = int(mp.floor(1 / mp.pi * mpf(2) ** (count * bits)))
    words = [(scaled >> (bits * (count - 1 - i))) % (1 << bits) for i in range(count)]
    return ", ".join(f"0x{word:0{bits // 4}x}" for word in words)


def main(arguments: list[str]) -> int:
    check = "--check" in arguments
    names = [a for a in arguments if a != "--check"]
    lists = []
    for fit in FITS:
        if names and fit.name not in names:
            continue
        coefficients, worst = fit_rounded(fit)
        print(
            f"{fit.name}: weighted error {float(worst):.3g} = 2^{float(log(worst, 2)):.2f}",
            flush=True,
        )
        suffix = "" if fit.is_wide else "f"
        lists.append((fit.name, ", ".join(hex_float(c, suffix) for c in coefficients)))
        print(f"  {lists[-1][1]}")
    if not names:
        for name, parts, suffix in constants():
            lists.append((name, ", ".join(hex_float(p, suffix) for p in parts)))
        lists.append(("inversePiWords", inverse_pi_words(6, 32)))
        lists.append(("wideInversePiWords", inverse_pi_words(20, 64)))
        for name, numbers in lists[len(FITS) :]:
            print(f"{name}: {numbers}")
    if not check:
        return 0
    text = " ".join(" ".join(p.read_text() for p in SOURCES.glob("*.cpp")).split())
    text = text.replace("{ ", "{")
    missing = [name for name, numbers in lists if f"{name}[] = {{{numbers}}}" not in text]
    for name in missing:
        print(f"error: `{name}` in {SOURCES.name}/ differs from the fit", file=sys.stderr)
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
