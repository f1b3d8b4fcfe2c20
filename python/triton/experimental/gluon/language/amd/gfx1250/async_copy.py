"""The module `cdna5.async_copy` under the GPU's own name."""
# SPDX-License-Identifier: MIT

from ..cdna5.async_copy import *  # noqa: F403
from ..cdna5.async_copy import __all__  # noqa: F401
