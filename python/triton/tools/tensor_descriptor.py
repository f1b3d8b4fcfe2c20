"""A described region of a tensor, made on the host."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .._lazy import lazy_names


@dataclass
class TensorDescriptor:
    """Base, shape, strides and block shape of a tensor that kernels access block by block."""

    base: Any
    shape: list[int]
    strides: list[int]
    block_shape: list[int]
    padding: str = "zero"
    round_f32_to_tf32: bool = False

    def __post_init__(self) -> None:
        rank = len(self.shape)
        assert len(self.strides) == rank, (
            f"rank mismatch: shape has {rank} dimensions, strides {len(self.strides)}"
        )
        assert len(self.block_shape) == rank, (
            f"rank mismatch: shape has {rank} dimensions, block_shape {len(self.block_shape)}"
        )
        assert 1 <= rank <= 5, f"rank must be between 1 and 5, got {rank}"
        assert self._address() % 16 == 0, "base must be 16-byte aligned"
        assert all(extent > 0 for extent in self.shape), f"shape must be positive, got {self.shape}"
        for extent in self.block_shape:
            assert extent > 0 and extent & (extent - 1) == 0, (
                f"block_shape must be powers of two, got {self.block_shape}"
            )
        self._check_strides()
        self._check_padding()

    def _address(self) -> int:
        if type(self.base).__name__ == "FakeTensor":  # torch's fake tensors have no address
            return 0
        numpy = getattr(self.base, "__array_interface__", None)
        return numpy["data"][0] if numpy else self.base.data_ptr()

    def _check_strides(self) -> None:
        assert self.strides[-1] == 1, "Last dimension must be contiguous"
        for stride in self.strides[:-1]:
            assert stride * self.base.dtype.itemsize % 16 == 0, (
                f"strides must be 16-byte aligned, got {self.strides}"
            )

    def _check_padding(self) -> None:
        assert self.padding in ("zero", "nan"), "Illegal value for padding"
        if self.padding == "nan":
            dtype = self.base.dtype
            assert getattr(dtype, "is_floating_point", getattr(dtype, "kind", "") == "f"), (
                "Padding option `nan` is only supported for floating point tensors"
            )
        if self.round_f32_to_tf32:
            assert str(self.base.dtype).endswith("float32"), (
                "round_f32_to_tf32 is only supported for float32"
            )

    @staticmethod
    def from_tensor(
        tensor: Any, block_shape: list[int], padding: str = "zero", round_f32_to_tf32: bool = False
    ) -> TensorDescriptor:
        """Describes the whole tensor."""
        if hasattr(tensor, "stride"):
            strides = tensor.stride()
        else:  # numpy counts bytes
            strides = [stride // tensor.itemsize for stride in tensor.strides]
        return TensorDescriptor(
            tensor, tensor.shape, strides, block_shape, padding, round_f32_to_tf32
        )


__getattr__ = lazy_names(
    __name__,
    {
        "triton._utils": "canonicalize_dtype validate_block_shape",
    },
)
