"""Tensors described on the host for TMA copies to buffers whose layout the kernel's author chose."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ....tools import tensor_descriptor

_BITS = (8, 16, 32)


@dataclass
class TensorDescriptor:
    """Base, shape, strides and block shape of a tensor, and the layout of its blocks' buffers."""

    base: Any
    shape: list[int]
    strides: list[int]
    block_shape: list[int]
    layout: Any
    padding: str = "zero"
    round_f32_to_tf32: bool = False

    def __post_init__(self) -> None:
        tensor_descriptor.TensorDescriptor(
            self.base,
            self.shape,
            self.strides,
            self.block_shape,
            self.padding,
            self.round_f32_to_tf32,
        )
        self._check_layout()

    def _check_layout(self) -> None:
        layout, rank = self.layout, len(self.block_shape)
        assert type(layout).__name__ == "NVMMASharedLayout", (
            f"Layout must be NVMMASharedLayout, got {layout!r}"
        )
        assert layout.rank == rank, (
            f"layout rank must match block shape rank: {layout.rank} and {rank}"
        )
        bits = self.base.dtype.itemsize * 8
        assert bits == layout.element_bitwidth, (
            f"the tensor's elements have {bits} bits, the layout's {layout.element_bitwidth}"
        )
        assert bits in _BITS, f"tensor descriptor dtype must be 8, 16, or 32 bits, got {bits}"
        least = layout.swizzle_byte_width * 8 // bits
        assert self.block_shape[-1] >= least, (
            f"Expected block_shape[-1] to be at least {least} but got {self.block_shape[-1]}"
        )
        assert not layout.transposed, "TMA writes rows along the last dimension: layout.transposed"
        assert not layout.fp4_padded, "fp4_padded requires blackwell or newer"

    @property
    def mode(self) -> str:
        return "tiled"

    @staticmethod
    def from_tensor(
        tensor: Any,
        block_shape: list[int],
        layout: Any,
        padding: str = "zero",
        round_f32_to_tf32: bool = False,
    ) -> TensorDescriptor:
        """Describes the whole tensor."""
        plain = tensor_descriptor.TensorDescriptor.from_tensor(tensor, block_shape)
        return TensorDescriptor(
            tensor, plain.shape, plain.strides, block_shape, layout, padding, round_f32_to_tf32
        )
