"""Gluon on NVIDIA's Rubin GPUs."""
# SPDX-License-Identifier: MIT

from ...._names import RUBIN, bind
from . import mbarrier

__all__ = bind(globals(), "add4 fma4 mul4 tcgen05_mma_scaled", RUBIN)
__all__ += ["mbarrier"]
