"""Gluon on NVIDIA's Blackwell GPUs."""
# SPDX-License-Identifier: MIT

from ...._names import BLACKWELL, bind
from ..hopper import async_copy, cluster, fence_async_shared, mbarrier, mma_v2
from . import clc, float2, tma

__all__ = bind(
    globals(),
    (
        "add2 sub2 mul2 fma2 max2 min2 allocate_tensor_memory async_store get_tmem_reg_layout tensor_memory_descriptor "
        "tensor_memory_descriptor_type TensorMemoryLayout TensorMemoryScalesLayout "
        "_TensorMemoryLinearLayout tcgen05_copy tcgen05_mma tcgen05_mma_scaled "
        "tcgen05_mma_barrier_count tcgen05_commit"
    ),
    BLACKWELL,
)
__all__ += [
    "async_copy",
    "clc",
    "cluster",
    "fence_async_shared",
    "float2",
    "mbarrier",
    "mma_v2",
    "tma",
]
