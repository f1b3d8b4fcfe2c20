"""Gluon on AMD's gfx1250 GPUs, under the GPU's own name."""
# SPDX-License-Identifier: MIT

from ..cdna5 import *  # noqa: F403
from ..cdna5 import __all__, async_copy, cluster, mbarrier, tdm  # noqa: F401
