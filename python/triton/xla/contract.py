"""The properties that a payload requires of its graph node: checked when the node is created, since
a graph runs later and far from the line that created it.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any, NamedTuple

from .._C.libtriton import xla as _native
from .compile import type_name


class Array(NamedTuple):
    """An array parameter of the kernel."""

    name: str
    type: str  # "*fp32", "*kfp32"; "" where the payload does not contain it
    shape: tuple[int, ...] | None
    is_written: bool
    buffer: int  # index among the node's inputs and outputs

    @property
    def element(self) -> str:
        return self.type.removeprefix("*k") if self.type.startswith("*k") else self.type[1:]


class Contract(NamedTuple):
    """The backend of the payload's kernel, and its arrays in the order of its parameters."""

    kernel: str
    backend: str
    arch: str
    may_write_operands: bool
    is_autotuned: bool
    arrays: tuple[Array, ...]

    @staticmethod
    @functools.lru_cache(maxsize=256)
    def of(payload: bytes) -> Contract:
        """Raises a ValueError that describes invalid bytes."""
        *fields, arrays = _native.describe(payload)
        return Contract(*fields, tuple(Array(*array) for array in arrays))

    @property
    def is_ours(self) -> bool:
        """Whether this package made the payload: others do not contain the types of arrays."""
        return any(array.type for array in self.arrays)

    def check(self, operands: Sequence[Any], results: Sequence[Any]) -> None:
        """Checks (dtype, shape) of each operand and result."""
        buffers = [*operands, *results]
        needed = max((array.buffer + 1 for array in self.arrays), default=0)
        if len(buffers) != needed:
            names = ", ".join(f"`{array.name}`" for array in self.arrays)
            raise ValueError(
                f"{self.kernel} takes {needed} arrays ({names}); the node has {len(operands)} inputs "
                f"and {len(results)} outputs"
            )
        for array in self.arrays:
            is_operand = array.buffer < len(operands)
            position = array.buffer - (0 if is_operand else len(operands))
            label = f"{'input' if is_operand else 'output'} {position}"
            self._check_one(array, f"{label} of the node", *buffers[array.buffer])
            if is_operand:
                self._check_read_only(array, label)

    def _check_one(self, array: Array, label: str, dtype: Any, shape: tuple[int, ...]) -> None:
        what = f"{label}, `{array.name}` of {self.kernel},"
        if array.type and type_name(dtype) != array.element:
            raise TypeError(
                f"{what} has elements of type {type_name(dtype)}; the payload was made for "
                f"{array.element}"
            )
        if array.shape is not None and shape != array.shape:
            raise ValueError(
                f"{what} has the shape {list(shape)}; the payload was made for {list(array.shape)}"
            )

    def _check_read_only(self, array: Array, label: str) -> None:
        if array.is_written and not self.may_write_operands:
            raise ValueError(
                f"{self.kernel} writes to `{array.name}`, which is {label} of the node: what it "
                "writes would be lost, or appear in a tensor that XLA assumes not to change; make it "
                "an output, or pass may_write_operands=True to triton_call"
            )
