"""Sorting of all elements or of the k largest ones, as one function."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from ..runtime.jit import jit
from . import core


@jit
def sort_impl(  # noqa: ANN201
    x,  # noqa: ANN001
    k: core.constexpr = None,
    dim: core.constexpr = None,
    descending: core.constexpr = core.CONSTEXPR_0,
):
    """All elements in order, or the `k` largest ones (smallest ones if not `descending`)."""
    if k is None:
        return core.sort(x, dim, descending)
    if descending:
        return core.topk(x, k, dim)
    if x.dtype.is_floating():
        return -core.topk(-x, k, dim)
    return ~core.topk(~x, k, dim)
