"""Gluon on NVIDIA's GPUs, by generation."""
# SPDX-License-Identifier: MIT

from . import ampere, blackwell, hopper, rubin

__all__ = ["ampere", "blackwell", "hopper", "rubin"]
