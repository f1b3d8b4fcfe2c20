"""Barriers in shared memory that count arrivals and bytes."""
# SPDX-License-Identifier: MIT

from ...._names import bind

__all__ = bind(
    globals(),
    (
        "allocate_mbarrier arrive expect fence_init_release_cluster init invalidate "
        "MBarrierLayout wait"
    ),
)
