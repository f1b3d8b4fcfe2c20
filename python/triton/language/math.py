"""`triton.language.math`: the mathematical functions, also under their own module."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from .._lazy import lazy_names
from . import core

_SHARED = (
    "umulhi",
    "exp",
    "exp2",
    "fma",
    "log",
    "log2",
    "cos",
    "rsqrt",
    "sin",
    "sqrt",
    "sqrt_rn",
    "abs",
    "fdiv",
    "div_rn",
    "erf",
    "floor",
    "ceil",
)

_table = core.BUILTINS.get("triton.language", {})
__all__ = [name for name in _SHARED if name in _table] + core.bind_names(globals(), __name__)
globals().update({name: _table[name] for name in _SHARED if name in _table})

__getattr__ = lazy_names(
    __name__,
    {
        "triton._function_names": "T",
    },
)
