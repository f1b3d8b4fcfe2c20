"""Functions outside the core language."""
# SPDX-License-Identifier: MIT

from .....language.extra import libdevice

__all__ = ["libdevice"]
