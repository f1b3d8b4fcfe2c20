"""Gluon, the language below Triton, is not part of this package; its classes are here to be asked about.

Libraries tell Gluon's kernels from Triton's by these classes, of which there are no objects.
"""
# SPDX-License-Identifier: MIT

from ._runtime import GluonJITFunction, jit

__all__ = ["GluonJITFunction", "jit"]
