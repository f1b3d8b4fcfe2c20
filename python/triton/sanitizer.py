"""Array information for the sanitizer: memory extents, and elements that were never written."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import functools
import math
import sys
import weakref
from typing import Any

from ._C import libtriton

_watched: dict[int, int] = {}  # storages of torch: address -> bytes
_marked: dict[int, tuple[int, int]] = {}  # memory passed to mark_unwritten: id -> [begin, end)


@functools.cache
def _patterns() -> dict[str, tuple[int, int]]:
    """(bits, bytes) of the fill values by type: a quiet NaN, or the largest integer. Types whose values are all common,
    such as bool and int8, have none.
    """
    patterns = {}
    for _, spellings, kind, bits, mantissa, _ in libtriton.element_types():
        if bits < 16:
            continue
        ones, zeros = (bits - mantissa, mantissa - 1) if kind == "float" else (bits, 0)
        patterns[spellings[1]] = ((1 << (ones - (kind == "int"))) - 1) << zeros, bits // 8
    return patterns


def _pattern(array: Any) -> tuple[int, int]:
    """(bits, bytes) of the fill value of new memory in torch's deterministic mode; (0, 0) where it has none."""
    name = str(getattr(array, "dtype", "")).removeprefix("torch.")
    return _patterns().get(name, (0, 0))


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
