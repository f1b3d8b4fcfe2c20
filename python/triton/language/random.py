"""`triton.language.random`: the random number functions, also under their own module."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from .._lazy import lazy_names
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
N_ROUNDS_DEFAULT = core.constexpr(10)  # of Philox
globals().update({name: core.BUILTINS["triton.language"][name] for name in _SHARED})

__getattr__ = lazy_names(
    __name__,
    {
        "triton.runtime.jit": "jit",
        "triton.language": "math tl=",
    },
)
