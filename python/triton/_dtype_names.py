"""Names of element types: those of signatures ("fp32"), and their synonyms."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from typing import Any

_BITS = {
    **{f"{kind}{bits}": bits for kind in "ui" for bits in (1, 8, 16, 32, 64)},
    **{f"fp{bits}": bits for bits in (16, 32, 64)},
    **{name: 8 for name in ("fp8e4nv", "fp8e4b15", "fp8e4b8", "fp8e5", "fp8e5b16")},
    "bf16": 16,
    "void": 0,
}

type_canonicalisation_dict: dict[str, str] = {
    **{name: name for name in _BITS},
    **{f"int{bits}": f"i{bits}" for bits in (8, 16, 32, 64)},
    **{f"uint{bits}": f"u{bits}" for bits in (8, 16, 32, 64)},
    **{name: "u1" for name in ("bool", "int1", "uint1", "i1")},
    **{f"float{bits}": f"fp{bits}" for bits in (16, 32, 64)},
    "half": "fp16",
    "bfloat16": "bf16",
    "float": "fp32",
    "double": "fp64",
    "int": "i32",
    # as the language and torch spell them
    "float8e4nv": "fp8e4nv",
    "float8_e4m3fn": "fp8e4nv",
    "float8e4b15": "fp8e4b15",
    "float8e4b8": "fp8e4b8",
    "float8_e4m3fnuz": "fp8e4b8",
    "float8e5": "fp8e5",
    "float8_e5m2": "fp8e5",
    "float8e5b16": "fp8e5b16",
    "float8_e5m2fnuz": "fp8e5b16",
}

BITWIDTH_DICT: dict[str, int] = {
    **_BITS,
    **{name: _BITS[canonical] for name, canonical in type_canonicalisation_dict.items()},
}


def canonicalize_dtype(dtype: Any) -> str:
    """The signature's name of a dtype of torch, NumPy or the language; KeyError for others."""
    return type_canonicalisation_dict[str(dtype).split(".")[-1]]


def canonicalize_ptr_dtype(dtype: Any, is_const: bool) -> str:
    return f"{'*k' if is_const else '*'}{canonicalize_dtype(dtype)}"


def get_primitive_bitwidth(dtype: str) -> int:
    return BITWIDTH_DICT[dtype]
