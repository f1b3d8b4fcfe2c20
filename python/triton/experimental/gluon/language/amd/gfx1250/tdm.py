"""The module `cdna5.tdm` under the GPU's own name."""
# SPDX-License-Identifier: MIT

from ..cdna5.tdm import *  # noqa: F403
from ..cdna5.tdm import __all__  # noqa: F401
