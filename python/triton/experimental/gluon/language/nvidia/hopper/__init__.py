"""Gluon on NVIDIA's Hopper GPUs."""
# SPDX-License-Identifier: MIT

from ...._names import bind
from ..ampere import async_copy, mma_v2
from . import cluster, mbarrier, tma

__all__ = bind(
    globals(),
    (
        "async_store fence_async_shared warpgroup_mma warpgroup_mma_wait warpgroup_mma_init "
        "warpgroup_mma_accumulator warpgroup_mma_accumulator_type"
    ),
)
__all__ += ["cluster", "mbarrier", "tma"]
