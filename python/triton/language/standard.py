"""`triton.language.standard`: the part of the language that is written in the language itself, and
two compile-time functions.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from .._lazy import lazy_names
from ..runtime.callable import package_function as _package_function
from . import core


@_package_function
def _log2(i):  # noqa: ANN001
    return i.bit_length() - 1


@_package_function
def _is_power_of_two(i):  # noqa: ANN001
    return (i & (i - 1)) == 0 and i != 0


core.bind_names(globals(), __name__, "triton.language")

__getattr__ = lazy_names(
    __name__,
    {
        "triton.runtime.jit": "constexpr_function jit",
        "triton.language": "math",
        "triton.language.sorting": "sort_impl",
        "triton.language.combining": "_argmax_combine _argmax_combine_tie_break_fast _argmax_combine_tie_break_left _argmin_combine _argmin_combine_tie_break_fast _argmin_combine_tie_break_left _elementwise_max _elementwise_min _or_combine _prod_combine _sum_combine _xor_combine",
    },
)
