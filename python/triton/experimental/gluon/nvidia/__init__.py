"""What hosts pass to Gluon kernels on NVIDIA's GPUs."""
# SPDX-License-Identifier: MIT

from . import blackwell, hopper

__all__ = ["blackwell", "hopper"]
