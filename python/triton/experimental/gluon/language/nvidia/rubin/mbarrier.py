"""Barriers in shared memory on Rubin GPUs."""
# SPDX-License-Identifier: MIT

from ...._names import RUBIN, bind

__all__ = bind(
    globals(),
    (
        "allocate_mbarrier arrive expect fence_init_release_cluster init invalidate "
        "MBarrierLayout wait"
    ),
    RUBIN,
)
