"""Asynchronous copies between global memory and LDS."""
# SPDX-License-Identifier: MIT

from ...._names import CDNA5, bind

__all__ = bind(
    globals(), "global_to_shared shared_to_global commit_group wait_group mbarrier_arrive", CDNA5
)
