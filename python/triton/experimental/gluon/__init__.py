"""Gluon, the language below Triton: kernels choose their layouts, shared memory and copies."""
# SPDX-License-Identifier: MIT

from ...language.core import _aggregate as aggregate
from ...language.core import must_use_result
from . import amd, nvidia
from ._runtime import GluonJITFunction, constexpr_function, jit

__all__ = [
    "GluonJITFunction",
    "aggregate",
    "amd",
    "constexpr_function",
    "jit",
    "must_use_result",
    "nvidia",
]
