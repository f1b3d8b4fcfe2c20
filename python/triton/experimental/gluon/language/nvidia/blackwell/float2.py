"""Pairs of floats in one instruction."""
# SPDX-License-Identifier: MIT

from ...._names import BLACKWELL, bind

__all__ = bind(globals(), "pack2 unpack2 pack unpack fma Float2Tensor full_like", BLACKWELL)
