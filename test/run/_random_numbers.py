"""Types and values of random programs: the language's rules for them in numpy, with bounds of rounding errors.

An exact value has one right answer, bit by bit. Sums, scans and dots have none, since their order is free:
such a value is a float64 and the error that the kernel's value may have.
"""
# SPDX-License-Identifier: MIT

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
INTS = (*SIGNED, *UNSIGNED)
FLOATS = ("float16", "bfloat16", "float32", "float64")
WIDE_FLOATS = ("float32", "float64")
# Half a unit in the last place of 1, the largest number, the smallest.
ROUNDING = {
    "float16": (2.0**-11, 65504.0, 2.0**-24),
    "bfloat16": (2.0**-8, 3.38e38, 2.0**-133),
    "float32": (2.0**-24, 3.4e38, 2.0**-149),
    "float64": (2.0**-53, 1.79e308, 2.0**-1074),
}


@dataclass(frozen=True)
class Kind:
    """A tile's type, and whether all of its bits are determined; shape () is a scalar."""

    dtype: str
    shape: tuple[int, ...]
    exact: bool = True

    @property
    def size(self) -> int:
        return int(np.prod(self.shape, dtype=np.int64))


@dataclass
class Value:
    array: np.ndarray  # float64 if there is an error
    error: np.ndarray | None = None

    def map(self, function: Callable[[np.ndarray], np.ndarray]) -> Value:
        """Moves elements without changing them."""
        return Value(function(self.array), None if self.error is None else function(self.error))

    def widened(self) -> tuple[np.ndarray, np.ndarray]:
        array = self.array.astype(np.float64)
        return array, np.zeros(array.shape) if self.error is None else self.error


@dataclass
class Node:
    """An expression: its text, its type, and its computation by numpy from the variables."""

    text: str
    kind: Kind
    run: Callable[[dict[str, Any]], Value]


def width(dtype: str) -> int:
    return 1 if dtype == "bool" else 16 if dtype == "bfloat16" else np.dtype(dtype).itemsize * 8


def storage(dtype: str) -> np.dtype:
    """The numpy type that holds the values of a type: numpy has no bfloat16."""
    return np.dtype(np.float32 if dtype == "bfloat16" else dtype)


def in_tl(dtype: str) -> str:
    return "tl.int1" if dtype == "bool" else f"tl.{dtype}"


def promote(a: str, b: str, is_quotient: bool = False) -> str:
    """The type that an operator computes in, by the first rule that fits."""
    for dtype in ("float64", "float32"):
        if dtype in (a, b):
            return dtype
    if "float16" in (a, b):
        return "float32" if is_quotient else "float16"
    if "bfloat16" in (a, b):
        return "bfloat16" if a == b and not is_quotient else "float32"
    if (a in SIGNED) == (b in SIGNED):
        return max(a, b, key=width)
    unsigned, signed = (b, a) if a in SIGNED else (a, b)
    return unsigned if width(unsigned) >= width(signed) else signed


def to_bfloat16(array: np.ndarray) -> np.ndarray:
    """float32 to the nearest bfloat16, ties to even."""
    array = np.asarray(array, np.float32)
    bits = np.atleast_1d(array).view(np.uint32)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) & np.uint32(0xFFFF0000)
    rounded = np.where(np.isnan(array), np.uint32(0x7FC00000), rounded.reshape(array.shape))
    return rounded.astype(np.uint32).view(np.float32).reshape(array.shape)


def convert(array: np.ndarray, want: str) -> np.ndarray:
    """Casts as a kernel does; the caller keeps floats in the range of the integer type."""
    array = np.asarray(array)
    with np.errstate(all="ignore"):
        if want == "bfloat16":
            return to_bfloat16(array.astype(np.float32))
        if want == "bool":
            return array != 0
        return array.astype(want)


def rounded(array: np.ndarray, error: np.ndarray, dtype: str) -> Value:
    """A value computed in float64, with one rounding to the type; values that may have overflowed have no bound."""
    unit, largest, smallest = ROUNDING[dtype]
    with np.errstate(all="ignore"):
        error = error + 4 * unit * (np.abs(array) + error) + smallest
        unknown = ~(np.abs(array) + error < largest / 4)
    return Value(np.where(unknown, 0.0, array), np.where(unknown, np.inf, error))


def cast(value: Value, want: str) -> Value:
    if value.error is None:
        return Value(convert(value.array, want))
    return rounded(value.array, value.error, want)


def total(value: Value, axis: int | None, dtype: str, keep: bool) -> Value:
    """A sum in any order: within 2 n eps sum|x|."""
    array, error = value.widened()
    count = array.size if axis is None else array.shape[axis]
    unit = 2 * ROUNDING[dtype][0]
    with np.errstate(all="ignore"):
        size = np.sum(np.abs(array) + error, axis=axis, keepdims=keep)
        far = np.sum(error, axis=axis, keepdims=keep) + 2 * count * unit * size
        return _known(np.sum(array, axis=axis, keepdims=keep), far, size, dtype)


def running_total(value: Value, axis: int, dtype: str, reverse: bool) -> Value:
    array, error = value.widened()
    ordered = (lambda x: np.flip(x, axis)) if reverse else (lambda x: x)
    unit = 2 * ROUNDING[dtype][0]
    with np.errstate(all="ignore"):
        size = np.cumsum(ordered(np.abs(array) + error), axis=axis)
        far = np.cumsum(ordered(error), axis=axis) + 2 * array.shape[axis] * unit * size
        return _known(np.cumsum(ordered(array), axis=axis), far, size, dtype).map(ordered)


def matmul(a: Value, b: Value, acc: Value | None, dtype: str) -> Value:
    """A dot in any order of summation."""
    (x, dx), (y, dy) = a.widened(), b.widened()
    with np.errstate(all="ignore"):
        array, size = x @ y, (np.abs(x) + dx) @ (np.abs(y) + dy)
        far = dx @ np.abs(y) + np.abs(x) @ dy + dx @ dy
        if acc is not None:
            start, dstart = acc.widened()
            array, size, far = array + start, size + np.abs(start) + dstart, far + dstart
        far = far + 2 * (x.shape[-1] + 1) * 2 * ROUNDING[dtype][0] * size
        return _known(array, far, size, dtype)


def _known(array: np.ndarray, far: np.ndarray, size: np.ndarray, dtype: str) -> Value:
    """Removes the bound where a partial sum may have overflowed."""
    unknown = ~(size < ROUNDING[dtype][1] / 4)
    value = rounded(array, far, dtype)
    return Value(np.where(unknown, 0.0, value.array), np.where(unknown, np.inf, value.error))


def differences(got: np.ndarray, want: Value, minds_zeros: bool) -> np.ndarray:
    """Where results are wrong; `minds_zeros` distinguishes 0 from -0."""
    same = (got == want.array) | ((got != got) & (want.array != want.array))
    if want.error is not None:  # inf - inf is NaN
        with np.errstate(all="ignore"):
            near = np.abs(got.astype(np.float64) - want.array) <= want.error
        return ~(same | near) & (want.error < np.inf)
    if minds_zeros and got.dtype.kind == "f":
        same &= (np.signbit(got) == np.signbit(want.array)) | (got != got)
    return ~same
