"""Gluon on NVIDIA's Rubin GPUs: the names of Blackwell, and some more."""
# SPDX-License-Identifier: MIT

from ...._names import RUBIN, bind
from .. import blackwell
from ..blackwell import async_copy, clc, cluster, fence_async_shared, mma_v2, tma
from . import mbarrier

_MORE = "add4 fma4 mul4 sub4 tcgen05_mma_scaled"
__all__ = bind(globals(), " ".join([_MORE, *blackwell.__all__]), RUBIN)
