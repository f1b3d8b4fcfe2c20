"""Barriers in shared memory that count arrivals."""
# SPDX-License-Identifier: MIT

from ...._names import bind

__all__ = bind(globals(), "allocate_mbarrier arrive init invalidate MBarrierLayout wait")
