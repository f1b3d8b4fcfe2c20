"""Barriers in LDS."""
# SPDX-License-Identifier: MIT

from ...._names import CDNA5, bind

__all__ = bind(globals(), "MBarrierLayout init wait arrive", CDNA5)
