"""Gluon, the language below Triton, is not part of this package; its kernels can be recognised, not
run.

Libraries distinguish Gluon's kernels from Triton's by these classes, and define kernels of both
kinds in one module.
"""
# SPDX-License-Identifier: MIT

from ._runtime import GluonJITFunction, jit

__all__ = ["GluonJITFunction", "jit"]
