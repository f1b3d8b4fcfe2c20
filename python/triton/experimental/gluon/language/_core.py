"""Types and values of Gluon's language beyond Triton's: tiles with layouts, buffers in shared memory."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import math
from typing import Any

from ....language import core
from ....language.core import *  # noqa: F403
from ....language.core import (  # noqa: F401
    _unwrap_if_constexpr,
    base_type,
    base_value,
    block_type,
    builtin,
    constexpr,
    dtype,
    tensor,
)

MODULE = __package__


class distributed_type(block_type):
    """The type of a tile: its element type, shape and layout."""

    def __init__(self, element_ty: Any, shape: Any, layout: Any):
        super().__init__(_unwrap_if_constexpr(element_ty), shape)
        self.layout = _unwrap_if_constexpr(layout)

    def with_element_ty(self, element_ty: Any) -> distributed_type:
        return _tile_type(element_ty, self.shape, self.layout)

    def mangle(self) -> str:
        return f"{super().mangle()}L{self.layout.mangle()}L"

    def __eq__(self, other: Any) -> bool:
        return (
            isinstance(other, distributed_type)
            and self.layout == other.layout
            and self.element_ty == other.element_ty
            and self.shape == other.shape
        )

    def __hash__(self) -> int:
        return hash((self.element_ty, self.shape, self.layout))


class shared_memory_descriptor_type(base_type):
    """The type of a buffer in shared memory, or of a view of one."""

    def __init__(self, element_ty: Any, shape: Any, layout: Any, alloc_shape: Any):
        self.element_ty = _unwrap_if_constexpr(element_ty)
        self.shape = [_unwrap_if_constexpr(extent) for extent in shape]
        self.layout = _unwrap_if_constexpr(layout)
        self.alloc_shape = [_unwrap_if_constexpr(extent) for extent in alloc_shape]

    @property
    def rank(self) -> int:
        return len(self.shape)

    @property
    def nbytes_per_cta(self) -> int:
        return math.prod(self.shape) * self.element_ty.primitive_bitwidth // 8

    def _parts(self) -> tuple[Any, ...]:
        return self.element_ty, tuple(self.shape), self.layout, tuple(self.alloc_shape)

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, shared_memory_descriptor_type) and self._parts() == other._parts()

    def __hash__(self) -> int:
        return hash(self._parts())

    def mangle(self) -> str:
        shape = "_".join(map(str, self.shape))
        allocation = "_".join(map(str, self.alloc_shape))
        return f"MD{self.element_ty.mangle()}S{shape}SL{self.layout.mangle()}LAS{allocation}ASMD"

    def __str__(self) -> str:
        return (
            f"shared_memory_descriptor<{self.element_ty}, {self.shape}, {self.layout}, "
            f"{self.alloc_shape}>"
        )

    __repr__ = __str__


class shared_memory_descriptor(base_value):
    """A buffer in shared memory, or a view of one, inside a kernel."""

    def __init__(self, handle: Any, type: Any):  # noqa: A002
        self.handle, self.type = handle, type

    @property
    def dtype(self) -> Any:
        return self.type.element_ty

    @property
    def shape(self) -> Any:
        return self.type.shape

    @property
    def rank(self) -> int:
        return int(self.type.rank)

    @property
    def numel(self) -> int:
        return math.prod(self.type.shape)

    @property
    def layout(self) -> Any:
        return self.type.layout

    def __str__(self) -> str:
        return str(self.type)


for _name, _function in core.BUILTINS.get(f"{MODULE}.shared_memory_descriptor", {}).items():
    setattr(shared_memory_descriptor, _name, _function)


def _tile_type(element: Any, shape: Any, layout: Any, _allocation: Any = None) -> distributed_type:
    """The type of an existing tile. Called by the native module."""
    created = distributed_type.__new__(distributed_type)
    created.element_ty, created.shape, created.layout = element, tuple(shape), layout
    created._describe()
    return created


def _buffer_type(
    element: Any, shape: Any, layout: Any, allocation: Any
) -> shared_memory_descriptor_type:
    """The type of an existing buffer. Called by the native module."""
    return shared_memory_descriptor_type(element, shape, layout, allocation)


core.bind_names(globals(), __name__, MODULE)
