"""Gluon on AMD's RDNA 4 GPUs (gfx12)."""
# SPDX-License-Identifier: MIT

from ...._names import bind

__all__ = bind(globals(), "wmma")
