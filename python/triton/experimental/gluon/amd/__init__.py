"""What hosts pass to Gluon kernels on AMD's GPUs."""
# SPDX-License-Identifier: MIT

from . import cdna5, gfx1250

__all__ = ["cdna5", "gfx1250"]
