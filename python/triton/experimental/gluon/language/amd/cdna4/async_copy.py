"""Asynchronous copies from global memory to LDS."""
# SPDX-License-Identifier: MIT

from ...._names import bind

__all__ = bind(
    globals(),
    ("global_load_to_shared buffer_load_to_shared commit_group wait_group load_shared_relaxed"),
)
