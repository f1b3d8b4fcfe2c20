"""The GPU's counters, and conversions of fp8e4b15, in a module of their own."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from typing import Any

from ... import core
from . import (
    convert_custom_float8_sm70,
    convert_custom_float8_sm80,
    globaltimer,
    num_threads,
    num_warps,
    smid,
)

__all__ = [
    "convert_custom_float8",
    "convert_custom_float8_sm70",
    "convert_custom_float8_sm80",
    "convert_float16_to_fp8e4b15",
    "convert_fp8e4b15_to_float16",
    "core",
    "globaltimer",
    "num_threads",
    "num_warps",
    "smid",
]


@core.builtin
def convert_fp8e4b15_to_float16(arg: Any, _semantic: Any = None) -> Any:
    return core.cast(arg, core.float16, _semantic=_semantic)


@core.builtin
def convert_float16_to_fp8e4b15(arg: Any, has_minx2: Any = True, _semantic: Any = None) -> Any:
    return core.cast(arg, core.float8e4b15, _semantic=_semantic)


@core.builtin
def convert_custom_float8(
    arg: Any,
    dst_ty: Any,
    fp_downcast_rounding: Any = None,
    has_minx2: Any = True,
    _semantic: Any = None,
) -> Any:
    return convert_custom_float8_sm80(arg, dst_ty, fp_downcast_rounding, _semantic=_semantic)
