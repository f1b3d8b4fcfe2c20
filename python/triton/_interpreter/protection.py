"""Read-only memory of a launch: writing to it is an error, as in a compiled kernel."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import itertools
from typing import Any

from .. import language
from ..sanitizer import memory_of
from .values import BlockPointer, Descriptor, Tensor


def writes(name: str) -> bool:
    """Whether a built-in of that name writes to memory."""
    return name in ("store", "scatter", "store_tensor_descriptor") or name.startswith("atomic_")


class ReadOnlyMemory:
    """The address ranges of arrays that are marked read-only."""

    def __init__(self) -> None:
        self._ranges: list[tuple[int, int, str]] = []  # first byte, end, kind of array

    def __bool__(self) -> bool:
        return bool(self._ranges)

    def note(self, array: Any, address: int) -> None:
        try:
            view = memoryview(array)
        except (TypeError, ValueError, BufferError):
            return
        if view.readonly and view.nbytes:
            begin, end = memory_of(array, view.itemsize)[:2]
            self._ranges.append((address + begin, address + end, type(array).__name__))

    def check(self, name: str, target: Any, mask: Any) -> None:
        """`target` is a pointer, a tile of pointers, a block pointer or a descriptor."""
        if isinstance(target, (BlockPointer, Descriptor)):
            target, mask = target.parts[0], None
        for address, is_active in zip(target.numbers(), _lanes(mask, target), strict=False):
            for begin, end, kind in self._ranges if is_active else ():
                if begin <= address < end:
                    raise ValueError(f"`{name}` writes to {kind}, which is read-only")


def active_addresses(target: Any, mask: Any) -> list[int]:
    """The addresses of a pointer or a tile of pointers that the mask selects."""
    lanes = zip(target.numbers(), _lanes(mask, target), strict=False)
    return [address for address, is_active in lanes if is_active]


def _lanes(mask: Any, target: Any) -> Any:
    """The elements of the target that the mask selects."""
    mask = getattr(mask, "value", mask)
    if not isinstance(mask, Tensor):
        return itertools.repeat(mask is None or bool(mask))
    shape = target.kind[1]
    if shape and mask.kind[1] != shape:
        mask = language.broadcast(mask, target)[0]
    return mask.numbers()
