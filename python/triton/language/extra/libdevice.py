"""`libdevice`: further mathematical functions, the same names on every target."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from .. import core

__all__ = core.bind_names(globals(), __name__)
