"""Asynchronous copies from global to shared memory."""
# SPDX-License-Identifier: MIT

from ...._names import bind

__all__ = bind(
    globals(), "async_copy_global_to_shared async_load mbarrier_arrive commit_group wait_group"
)
