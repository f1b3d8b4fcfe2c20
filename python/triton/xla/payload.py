"""The bytes that a custom call carries: written, and read with every number checked."""

# SPDX-License-Identifier: MIT
#
# A payload is a zlib stream of the protocol buffer `jax_triton.TritonAnyKernelCall`. Fields that
# jaxlib does not know (our artifact, the shape of an array) are passed over by its readers.
from __future__ import annotations

from typing import Any, NamedTuple

from .._C.libtriton import xla as _native

Array = _native.Array
Scalar = _native.Scalar
Kernel = _native.Kernel
KernelCall = _native.KernelCall
AutotunedCall = _native.AutotunedCall


class Payload(NamedTuple):
    """What a payload's bytes say."""

    call: Any  # a KernelCall or an AutotunedCall
    name: str
    metadata: bytes


def write(
    call: Any, name: str = "triton_kernel", metadata: bytes = b"", *, compressed: bool = True
) -> bytes:
    """The bytes of a KernelCall or an AutotunedCall, as jaxlib's `to_proto` makes them;
    `compressed`, as handlers want them.
    """
    return _native.write(call, name, metadata, compressed)


def read(data: bytes, *, compressed: bool = True) -> Payload:
    """What the bytes say; a ValueError that tells what is wrong with them."""
    return Payload(*_native.read(bytes(data), compressed))
