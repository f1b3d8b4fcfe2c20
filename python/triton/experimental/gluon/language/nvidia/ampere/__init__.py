"""Gluon on NVIDIA's Ampere GPUs and later ones."""
# SPDX-License-Identifier: MIT

from ...._names import bind
from . import async_copy, mbarrier

__all__ = bind(globals(), "mma_v2")
__all__ += ["async_copy", "mbarrier"]
