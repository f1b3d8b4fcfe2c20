"""Kernels as custom calls of XLA's graphs: their payloads, and the handlers that run them."""

# SPDX-License-Identifier: MIT
from .compile import ArrayType, Call, make_call
from .payload import read, write

__all__ = ["ArrayType", "Call", "make_call", "read", "write"]
