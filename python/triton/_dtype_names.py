"""Names of element types: those of signatures ("fp32"), and their synonyms."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from typing import Any

from ._C import libtriton

type_canonicalisation_dict: dict[str, str] = {"i1": "u1"}
BITWIDTH_DICT: dict[str, int] = {"i1": 1}
for _, _spellings, _, _bits, *_ in libtriton.element_types():
    for _spelling in _spellings:
        type_canonicalisation_dict[_spelling] = _spellings[0]
        BITWIDTH_DICT[_spelling] = _bits


def canonicalize_dtype(dtype: Any) -> str:
    """The signature's name of a dtype of torch, NumPy or the language; KeyError for others."""
    return type_canonicalisation_dict[str(dtype).split(".")[-1]]


def canonicalize_ptr_dtype(dtype: Any, is_const: bool) -> str:
    return f"{'*k' if is_const else '*'}{canonicalize_dtype(dtype)}"


def get_primitive_bitwidth(dtype: str) -> int:
    return BITWIDTH_DICT[dtype]
