"""`triton.language.random`: the random numbers once more, under their own module."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from . import core

_SHARED = (
    "pair_uniform_to_normal",
    "philox",
    "philox_impl",
    "rand",
    "rand4x",
    "randint",
    "randint4x",
    "randn",
    "randn4x",
    "uint_to_uniform_float",
)

__all__ = list(_SHARED)
globals().update({name: core.BUILTINS["triton.language"][name] for name in _SHARED})
