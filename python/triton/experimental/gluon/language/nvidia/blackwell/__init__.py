"""Gluon on NVIDIA's Blackwell GPUs."""
# SPDX-License-Identifier: MIT

from ...._names import BLACKWELL, bind
from ..hopper import async_copy, fence_async_shared, mbarrier, mma_v2
from . import clc, float2, tma

__all__ = bind(
    globals(),
    (
        "allocate_tensor_memory async_store get_tmem_reg_layout tensor_memory_descriptor "
        "tensor_memory_descriptor_type TensorMemoryLayout TensorMemoryScalesLayout "
        "_TensorMemoryLinearLayout tcgen05_copy tcgen05_mma tcgen05_mma_scaled "
        "tcgen05_mma_barrier_count tcgen05_commit"
    ),
    BLACKWELL,
)
__all__ += ["clc", "float2", "tma"]
