"""Reads and writes the bytes of a custom call; reading checks every number."""

# SPDX-License-Identifier: MIT
#
# A payload is a zlib stream of the protocol buffer `jax_triton.TritonAnyKernelCall`. jaxlib's readers ignore fields
# that it does not define (this package's artifact, the shape of an array).
from __future__ import annotations

from typing import Any, NamedTuple

from .._C.libtriton import xla as _native

Array = _native.Array
Scalar = _native.Scalar
Kernel = _native.Kernel
KernelCall = _native.KernelCall
AutotunedCall = _native.AutotunedCall


class Payload(NamedTuple):
    """The contents of a payload."""

    call: Any  # a KernelCall or an AutotunedCall
    name: str
    metadata: bytes


def write(
    call: Any, name: str = "triton_kernel", metadata: bytes = b"", *, compressed: bool = True
) -> bytes:
    """The bytes of a KernelCall or an AutotunedCall, as jaxlib's `to_proto` makes them;
    `compressed` for handlers.
    """
    return _native.write(call, name, metadata, compressed)


def read(data: bytes, *, compressed: bool = True) -> Payload:
    """The contents of the bytes; a ValueError describes invalid ones."""
    return Payload(*_native.read(bytes(data), compressed))
