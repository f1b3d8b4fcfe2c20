"""Rows `off : off + size` of a tensor as a tensor of their own, bounds-checked at their end by the
descriptor.
"""

# SPDX-License-Identifier: MIT
#
# Two dimensions are prepended to those of the tensor. The ragged one is declared with ROWS rows, so that row ROWS -
# size + i is out of bounds for i >= size. The first two coordinates correct the address: strides of -s (written 2**34 -
# s: multiplied by 2**30 it wraps at 2**64) and s, at coordinates ROWS and off + size.
from __future__ import annotations

from typing import Any

import triton
import triton.language as tl

from .tensor_descriptor import TensorDescriptor

__all__ = [
    "TensorDescriptor",
    "atomic_add_ragged",
    "create_ragged_descriptor",
    "load_ragged",
    "store_ragged",
    "to_ragged_indices",
]

_ROWS = 1 << 30
_NO_LIMIT = 0x7FFF0000
ROWS = tl.constexpr(_ROWS)


def create_ragged_descriptor(T: Any, block_shape: Any, ragged_dim: int = 0) -> TensorDescriptor:  # noqa: N803
    """Describes a tensor of two or three dimensions for the functions below; `ragged_dim`, not the
    last, is the sliced dimension.
    """
    shape, block_shape = list(T.shape), list(block_shape)
    rank = len(shape)
    ragged_dim += rank if ragged_dim < 0 else 0
    assert 0 <= ragged_dim < rank - 1, "last dimension cannot be ragged"
    assert rank <= 3, "read-write ragged descriptors must have at most 3 dimensions"
    assert len(block_shape) == rank, "block shape must have same length as tensor shape"
    assert shape[ragged_dim] <= _ROWS, "number of rows may not exceed 2**30"
    shape[ragged_dim] = _ROWS
    if hasattr(T, "stride"):
        strides = list(T.stride())
    else:  # numpy counts bytes
        strides = [stride // T.itemsize for stride in T.strides]
    row = strides[ragged_dim]
    return TensorDescriptor(
        T,
        [_NO_LIMIT, _NO_LIMIT, *shape],
        [(1 << 34) - row, row, *strides],
        [1, 1, *block_shape],
    )


@triton.jit
def to_ragged_indices(slice_off, slice_size, row):  # noqa: ANN001, ANN201
    """The coordinates of a row of a slice: of the first two dimensions, and of the ragged one."""
    return ROWS, slice_off + slice_size, ROWS - slice_size + row


@triton.jit
def load_ragged(TMA, slice_off, slice_size, coords, ragged_dim: tl.constexpr = 0):  # noqa: ANN001, ANN201, N803
    """Loads a block of the slice; zeros outside of it."""
    tl.static_assert(
        len(TMA.shape) == len(coords) + 2, "TMA must be a read-write ragged descriptor"
    )
    c0, c1, c2 = to_ragged_indices(slice_off, slice_size, coords[ragged_dim])
    data = TMA.load([c0, c1] + coords[:ragged_dim] + [c2] + coords[ragged_dim + 1 :])
    return tl.reshape(data, data.shape[2:])


@triton.jit
def store_ragged(TMA, slice_off, slice_size, coords, data, ragged_dim: tl.constexpr = 0):  # noqa: ANN001, ANN201, N803
    """Stores a block of the slice; elements outside of it are dropped."""
    c0, c1, c2 = to_ragged_indices(slice_off, slice_size, coords[ragged_dim])
    data = tl.reshape(data, [1, 1] + data.shape)
    TMA.store([c0, c1] + coords[:ragged_dim] + [c2] + coords[ragged_dim + 1 :], data)


@triton.jit
def atomic_add_ragged(TMA, slice_off, slice_size, coords, data, ragged_dim: tl.constexpr = 0):  # noqa: ANN001, ANN201, N803
    """Adds a block to the slice atomically; elements outside of it are dropped."""
    c0, c1, c2 = to_ragged_indices(slice_off, slice_size, coords[ragged_dim])
    data = tl.reshape(data, [1, 1] + data.shape)
    TMA.atomic_add([c0, c1] + coords[:ragged_dim] + [c2] + coords[ragged_dim + 1 :], data)
