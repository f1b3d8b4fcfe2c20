"""The module `cdna5.mbarrier` under the GPU's own name."""
# SPDX-License-Identifier: MIT

from ..cdna5.mbarrier import *  # noqa: F403
from ..cdna5.mbarrier import __all__  # noqa: F401
