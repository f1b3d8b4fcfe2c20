"""The module `cdna5.cluster` under the GPU's own name."""
# SPDX-License-Identifier: MIT

from ..cdna5.cluster import *  # noqa: F403
from ..cdna5.cluster import __all__  # noqa: F401
