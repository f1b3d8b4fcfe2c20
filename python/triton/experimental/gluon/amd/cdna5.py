"""Descriptors of tensors for gfx1250."""
# SPDX-License-Identifier: MIT

from .._names import CDNA5, bind

__all__ = bind(globals(), "TensorDescriptor", CDNA5)
