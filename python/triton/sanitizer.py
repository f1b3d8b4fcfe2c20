"""Array information for the sanitizer: memory extents, and elements that were never written."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import math
import sys
import weakref
from typing import Any

from ._C import libtriton

_FLOAT_PATTERNS = {
    "float64": 0x7FF8000000000000,
    "float32": 0x7FC00000,
    "float16": 0x7E00,
    "bfloat16": 0x7FC0,
}
_watched: dict[int, int] = {}  # storages of torch: address -> bytes
_marked: dict[int, tuple[int, int]] = {}  # memory passed to mark_unwritten: id -> [begin, end)


def _pattern(array: Any) -> tuple[int, int]:
    """(bits, bytes) of the fill value of new memory in torch's deterministic mode.

    (0, 0) for types whose values are all common, such as bool and int8.
    """
    name = str(getattr(array, "dtype", "")).removeprefix("torch.")
    if name in _FLOAT_PATTERNS:
        return _FLOAT_PATTERNS[name], 2 if name == "bfloat16" else int(name[5:]) // 8
    for prefix, sign_bits in (("uint", 0), ("int", 1)):
        width = name.removeprefix(prefix)
        if name.startswith(prefix) and width in ("16", "32", "64"):
            return (1 << (int(width) - sign_bits)) - 1, int(width) // 8
    return 0, 0


def _address(array: Any) -> int:
    return array.data_ptr() if hasattr(array, "data_ptr") else array.ctypes.data


def _is_filled_by_torch(array: Any) -> bool:
    """Whether torch fills new tensors with the pattern."""
    torch = sys.modules.get("torch")
    return (
        torch is not None
        and isinstance(array, torch.Tensor)
        and torch.are_deterministic_algorithms_enabled()
        and torch.utils.deterministic.fill_uninitialized_memory
    )


def _is_marked(array: Any) -> bool:
    if not _marked:
        return False
    address = _address(array)
    return any(begin <= address < end for begin, end in tuple(_marked.values()))


def _strides(array: Any, shape: tuple[int, ...], item_bytes: int) -> list[int]:
    """In bytes; those of a dense array where it reports none."""
    stride = getattr(array, "stride", None)
    if callable(stride):
        return [step * item_bytes for step in stride()]
    strides = getattr(array, "strides", None)
    if isinstance(strides, tuple):
        return list(strides)
    return [item_bytes * math.prod(shape[dim + 1 :]) for dim in range(len(shape))]


def memory_of(array: Any, item_bytes: int) -> tuple[int, int, int, int] | None:
    """The memory of an argument: its bytes from `low` to `high` relative to its address, and the
    `pattern` of never-written elements of `count` bytes (`count` is 0 where unknown). None where
    the object has no shape, as a raw address.
    """
    shape = getattr(array, "shape", None)
    if shape is None:
        return None
    shape = tuple(int(extent) for extent in shape)
    if 0 in shape:
        return 0, 0, 0, 0
    low = high = 0
    for extent, stride in zip(shape, _strides(array, shape, item_bytes), strict=False):
        reach = (extent - 1) * stride
        low, high = low + min(reach, 0), high + max(reach, 0)
    return low, high + item_bytes, *fill_of(array)


def fill_of(array: Any) -> tuple[int, int]:
    """The pattern of never-written elements, and its bytes; (0, 0) where it is unknown."""
    if _is_filled_by_torch(array):
        _watch(array.untyped_storage())
    elif not _is_marked(array):
        return 0, 0
    return _pattern(array)


def _watch(storage: Any) -> None:
    """Once torch frees the memory, what kernels have stored there counts no more."""
    begin, size = storage.data_ptr(), storage.nbytes()
    if _watched.get(begin) != size:
        _watched[begin] = size
        weakref.finalize(storage, _forget, begin, size).atexit = False


def _forget(begin: int, size: int) -> None:
    _watched.pop(begin, None)
    libtriton.driver_cpu.forget_stored(begin, begin + size)


def mark_unwritten(array: Any) -> Any:
    """Makes the sanitizer `uninit` treat a numpy array or a CPU tensor as never written: fills it
    with a pattern (NaN, or the largest integer) and returns it. Elements count as written once they
    hold another value, or a checked kernel has stored the pattern there.
    """
    pattern, count = _pattern(array)
    if not count:
        raise ValueError(
            f"mark_unwritten takes floats and integers of 16 bits and more, got {array.dtype}"
        )
    if hasattr(array, "fill_"):
        array.fill_(math.nan if array.dtype.is_floating_point else pattern)
    else:
        array[...] = math.nan if array.dtype.kind == "f" else pattern
    memory = memory_of(array, count)
    assert memory is not None
    begin = _address(array)
    _marked[id(array)] = (begin + memory[0], begin + memory[1])
    libtriton.driver_cpu.forget_stored(*_marked[id(array)])
    weakref.finalize(array, _unmark, id(array)).atexit = False
    return array


def _unmark(key: int) -> None:
    """The array is gone: its memory may become that of another."""
    if (extent := _marked.pop(key, None)) is not None:
        libtriton.driver_cpu.forget_stored(*extent)
