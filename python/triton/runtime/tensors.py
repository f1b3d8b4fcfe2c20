"""Stand-ins for tensors: a type without memory, and memory reinterpreted as another type."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from typing import Any

from .._utils import is_namedtuple


class MockTensor:
    """A stand-in that `warmup` creates for a torch dtype: a tensor with a type only."""

    @staticmethod
    def wrap_dtype(arg: Any) -> Any:
        if isinstance(arg, tuple):
            items = map(MockTensor.wrap_dtype, arg)
            return type(arg)(*items) if is_namedtuple(arg) else tuple(items)
        is_torch_dtype = type(arg).__name__ == "dtype" and type(arg).__module__ == "torch"
        return MockTensor(arg) if is_torch_dtype else arg

    def __init__(self, dtype: Any, shape: Any = None):
        self.dtype = dtype
        self.shape = [1] if shape is None else shape

    def stride(self) -> tuple[int, ...]:
        strides = [1]
        for extent in reversed(self.shape[1:]):
            strides.append(strides[-1] * extent)
        return tuple(reversed(strides))

    @staticmethod
    def data_ptr() -> int:
        return 0  # divisible by everything

    @staticmethod
    def ptr_range() -> int:
        return 0


class TensorWrapper:
    """A tensor's memory under a type that the tensor library may lack."""

    def __init__(self, base: Any, dtype: Any):
        self.dtype = dtype
        self.base = base
        self.data = base.data
        self.device = base.device
        self.shape = base.shape

    def data_ptr(self) -> int:
        return self.base.data_ptr()

    def stride(self, *args: Any) -> Any:
        return self.base.stride(*args)

    def element_size(self) -> int:
        return self.base.element_size()

    def cpu(self) -> TensorWrapper:
        return TensorWrapper(self.base.cpu(), self.dtype)

    def copy_(self, other: TensorWrapper) -> None:
        self.base.copy_(other.base)

    def clone(self) -> TensorWrapper:
        return TensorWrapper(self.base.clone(), self.dtype)

    def to(self, device: Any) -> TensorWrapper:
        return TensorWrapper(self.base.to(device), self.dtype)

    def new_empty(self, sizes: Any) -> TensorWrapper:
        return TensorWrapper(self.base.new_empty(sizes), self.dtype)

    def __str__(self) -> str:
        return f"TensorWrapper[{self.dtype}]({self.base})"


def reinterpret(tensor: Any, dtype: Any) -> Any:
    """`tensor` with the Triton type `dtype`; passing the tensor's own type restores it."""
    if isinstance(tensor, TensorWrapper):
        return tensor.base if dtype == tensor.base.dtype else TensorWrapper(tensor.base, dtype)
    if hasattr(tensor, "data_ptr"):
        return TensorWrapper(tensor, dtype)
    raise TypeError(f"Cannot reinterpret a {type(tensor)}.")
