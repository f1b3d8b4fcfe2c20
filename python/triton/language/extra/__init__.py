"""Functions outside the core language."""

# SPDX-License-Identifier: MIT
from . import cpu, cuda, hip, libdevice

__all__ = ["cpu", "cuda", "hip", "libdevice"]
