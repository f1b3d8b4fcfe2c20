"""Marks of the sanitizer of floating-point results."""
# SPDX-License-Identifier: MIT

from .._names import bind

__all__ = bind(globals(), "embed unembed")
