"""The fp8 formats in exact arithmetic: the value of each code, and the code of any number.

Rules: to nearest even or toward zero; infinity and values beyond the largest number become the
largest number; NaN, whatever its sign, becomes one code. fp8e4b15 has no NaN: 1.75 stands for it.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import dataclasses
from fractions import Fraction
from functools import cached_property

import numpy as np


@dataclasses.dataclass(frozen=True)
class Format:
    name: str  # as `tl` spells it
    mantissa: int
    bias: int
    largest: int  # code of the largest number
    nan: int  # code of NaN
    nans: frozenset[int]  # codes that are not numbers
    infinities: frozenset[int] = frozenset()
    has_negative_zero: bool = True

    def fraction(self, code: int) -> Fraction:
        """The absolute value of a code that is a number."""
        code &= 0x7F
        exponent, digits = code >> self.mantissa, code & ((1 << self.mantissa) - 1)
        if exponent:
            digits += 1 << self.mantissa
        return digits * Fraction(2) ** (max(exponent, 1) - self.bias - self.mantissa)

    @cached_property
    def decoded(self) -> np.ndarray:
        """float64 of all 256 codes."""
        values = []
        for code in range(256):
            size = float(self.fraction(min(code & 0x7F, self.largest)))
            if code in self.nans:
                size = np.nan
            elif code in self.infinities:
                size = np.inf
            is_negative = code & 0x80 and (code not in self.nans or self.has_negative_zero)
            values.append(-size if is_negative else size)
        return np.array(values)

    @cached_property
    def sizes(self) -> list[Fraction]:
        return [self.fraction(code) for code in range(self.largest + 1)]

    def encode(self, x: np.ndarray, toward_zero: bool = False) -> np.ndarray:
        """Codes of float64 numbers. Everything is compared exactly: float64 holds all midpoints."""
        with np.errstate(invalid="ignore"):  # NaN
            x = np.asarray(x, np.float64)
        size = np.abs(x)
        if toward_zero:
            sizes = np.array([float(each) for each in self.sizes])
            codes = np.searchsorted(sizes, size, side="right") - 1
        else:
            middles = [(a + b) / 2 for a, b in zip(self.sizes, self.sizes[1:], strict=False)]
            assert all(Fraction(float(middle)) == middle for middle in middles)
            floats = np.array([float(middle) for middle in middles])
            above = np.searchsorted(floats, size, side="right")  # ties go up ...
            tie = np.isin(size, floats)
            codes = np.where(tie & (above % 2 == 1), above - 1, above)  # ... to an even code
        codes = np.where(np.isinf(size), self.largest, codes)
        codes = codes | np.where(np.signbit(x), 0x80, 0)
        if not self.has_negative_zero:
            codes = np.where(codes == 0x80, 0, codes)
        return np.where(np.isnan(x), self.nan, codes).astype(np.uint8)


FORMATS = {
    format.name: format
    for format in [
        Format(
            "float8e5",
            2,
            15,
            0x7B,
            0x7F,
            frozenset({0x7D, 0x7E, 0x7F, 0xFD, 0xFE, 0xFF}),
            frozenset({0x7C, 0xFC}),
        ),
        Format(
            "float8e5b16", 2, 16, 0x7F, 0x80, frozenset({0x80}), has_negative_zero=False
        ),
        Format("float8e4nv", 3, 7, 0x7E, 0x7F, frozenset({0x7F, 0xFF})),
        Format("float8e4b8", 3, 8, 0x7F, 0x80, frozenset({0x80}), has_negative_zero=False),
        Format("float8e4b15", 3, 15, 0x7E, 0x7E, frozenset()),
    ]
}


def interesting(format: Format, dtype: str) -> np.ndarray:
    """Numbers of a type that are equal to, next to and between the numbers of a format, with special values."""
    if dtype in ("float16", "bfloat16"):  # all of them
        bits = np.arange(1 << 16, dtype=np.uint16)
        wide = bits.astype(np.uint32) << 16
        return bits.view(np.float16) if dtype == "float16" else wide.view(np.float32)
    sizes = format.sizes
    middles = [(a + b) / 2 for a, b in zip(sizes, sizes[1:], strict=False)]
    beyond = [sizes[-1] * 2, sizes[-1] + (sizes[-1] - sizes[-2]) / 2]
    exact = np.array([float(each) for each in [*sizes, *middles, *beyond]], dtype)
    near = [exact, np.nextafter(exact, np.inf, dtype=dtype), np.nextafter(exact, -1, dtype=dtype)]
    random = np.random.default_rng(1)
    logarithms = random.random(3000) * 80 - 50
    special = [np.inf, np.nan, 1e30, 1e-30, np.finfo(dtype).smallest_subnormal, np.finfo(dtype).max]
    x = np.concatenate([*near, 2.0**logarithms, special]).astype(dtype)
    return np.concatenate([x, -x])
