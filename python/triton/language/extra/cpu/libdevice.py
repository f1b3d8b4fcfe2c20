"""libdevice under the name of a target; the functions are the same on all."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from ... import core

__all__ = core.bind_names(globals(), __name__, "triton.language.extra.libdevice")
