"""Gluon on AMD's RDNA 3 GPUs (gfx11)."""
# SPDX-License-Identifier: MIT

from ...._names import bind

__all__ = bind(globals(), "wmma")
