"""Gluon, the language below Triton: kernels choose their layouts, shared memory and copies."""
# SPDX-License-Identifier: MIT

from ...language.core import must_use_result
from ...runtime.jit import constexpr_function
from ._runtime import GluonJITFunction, jit

__all__ = ["GluonJITFunction", "constexpr_function", "jit", "must_use_result"]
