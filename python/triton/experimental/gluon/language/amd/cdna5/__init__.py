"""Gluon on AMD's gfx1250 GPUs."""
# SPDX-License-Identifier: MIT

from ...._names import CDNA5, bind
from . import async_copy, cluster, mbarrier, tdm

__all__ = bind(
    globals(),
    (
        "wmma wmma_scaled scaled_upcast buffer_load buffer_store get_wmma_scale_layout "
        "PartitionedSharedLayout make_partitioned_dot_layouts"
    ),
    CDNA5,
)
__all__ += ["async_copy", "cluster", "mbarrier", "tdm"]
