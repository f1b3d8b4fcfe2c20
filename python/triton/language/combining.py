"""The functions that combine two elements in reductions, which packages pass to `tl.reduce` and `tl.associative_scan`
themselves.
"""
# SPDX-License-Identifier: MIT
# ruff: noqa: ANN001, ANN202

from __future__ import annotations

from ..runtime.jit import jit
from . import core


@jit
def _sum_combine(a, b):
    return a + b


@jit
def _prod_combine(a, b):
    return a * b


@jit
def _xor_combine(a, b):
    return a ^ b


@jit
def _or_combine(x, y):
    return x | y


@jit
def _elementwise_max(a, b):
    return core.maximum(a, b)


@jit
def _elementwise_min(a, b):
    return core.minimum(a, b)


@jit
def _choose(first, value1, index1, value2, index2, tie_break_left):
    if tie_break_left:
        first = first | ((value1 == value2) & (index1 < index2))
    return core.where(first, value1, value2), core.where(first, index1, index2)


@jit
def _argmax_combine(value1, index1, value2, index2, tie_break_left):
    return _choose(value1 > value2, value1, index1, value2, index2, tie_break_left)


@jit
def _argmax_combine_tie_break_left(value1, index1, value2, index2):
    return _argmax_combine(value1, index1, value2, index2, True)


@jit
def _argmax_combine_tie_break_fast(value1, index1, value2, index2):
    return _argmax_combine(value1, index1, value2, index2, False)


@jit
def _argmin_combine(value1, index1, value2, index2, tie_break_left):
    return _choose(value1 < value2, value1, index1, value2, index2, tie_break_left)


@jit
def _argmin_combine_tie_break_left(value1, index1, value2, index2):
    return _argmin_combine(value1, index1, value2, index2, True)


@jit
def _argmin_combine_tie_break_fast(value1, index1, value2, index2):
    return _argmin_combine(value1, index1, value2, index2, False)
