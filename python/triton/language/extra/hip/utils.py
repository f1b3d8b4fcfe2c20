"""The GPU's clock, in a module of its own."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from ... import core
from . import memrealtime

__all__ = ["core", "memrealtime"]
