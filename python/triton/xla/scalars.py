"""Converts numbers to a payload's scalars: in the kernel's own type, where payloads have that type.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import struct
from typing import Any

from .payload import Scalar

# Narrow integers are passed wider; a launch uses their low bytes.
_SPELLINGS = {"u1": "i1", "i8": "i32", "i16": "i32", "u8": "u32", "u16": "u32"}
_RANGES = {"i8": (-(2**7), 2**7), "i16": (-(2**15), 2**15), "u8": (0, 2**8), "u16": (0, 2**16)}


def scalar_parameter(value: Any, kind: str, name: str) -> Any:
    """The parameter for a number that the kernel takes as `kind` ("i32")."""
    if kind in ("fp16", "bf16"):
        return Scalar(_half_bits(float(value), kind), "u32")
    if kind in _RANGES and not _RANGES[kind][0] <= value < _RANGES[kind][1]:
        raise OverflowError(f"argument `{name}` is {value}, which is no value of type {kind}")
    number = float(value) if kind.startswith("fp") else bool(value) if kind == "u1" else int(value)
    return Scalar(number, _SPELLINGS.get(kind, kind))


def _half_bits(value: float, kind: str) -> int:
    if kind == "fp16":
        return struct.unpack("<H", struct.pack("<e", value))[0]
    (bits,) = struct.unpack("<I", struct.pack("<f", value))
    if value != value:
        return (bits >> 16) | 0x40
    return (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
