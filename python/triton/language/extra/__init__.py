"""Functions outside of the core language."""

# SPDX-License-Identifier: MIT
from . import libdevice

__all__ = ["libdevice"]
