"""`triton.language.extra.cuda`: functions that only NVIDIA GPUs have, and libdevice."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from ... import core
from . import libdevice

__all__ = ["libdevice", *core.bind_names(globals(), __name__)]
