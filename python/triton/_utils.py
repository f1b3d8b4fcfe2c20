"""Index paths into nested tuples of arguments, and access by them."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ._C.libtriton import elements_of

Path = tuple[int, ...]
ObjPath = Path

_LAZY = {
    "._dtype_names": (
        "BITWIDTH_DICT",
        "canonicalize_dtype",
        "canonicalize_ptr_dtype",
        "get_primitive_bitwidth",
        "type_canonicalisation_dict",
    ),
    "._warnings": (
        "CAT_CAN_REORDER_WARNING",
        "FP_FUSION_DEFAULT_WARNING",
        "RESHAPE_CAN_REORDER_WARNING",
        "prewarm_deprecation_warnings",
        "warn_once",
    ),
    ".language": ("core",),
}

# Triton's limit on the number of elements of a block.
TRITON_MAX_TENSOR_NUMEL = 1048576


def __getattr__(name: str) -> Any:
    import importlib

    for module, names in _LAZY.items():
        if name in names:
            return getattr(importlib.import_module(module, __package__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


class FieldTypes(tuple):  # type: ignore[type-arg]
    """The types of an object's fields; two classes with equal fields are different types."""

    object_class: type
    fields: tuple[str, ...]

    def __new__(cls, object_class: type, fields: Iterable[str], types: Iterable[Any]) -> FieldTypes:
        self = super().__new__(cls, types)
        self.object_class, self.fields = object_class, tuple(fields)
        return self

    def __eq__(self, other: Any) -> bool:
        return (
            isinstance(other, FieldTypes)
            and self.object_class is other.object_class
            and self.fields == other.fields
            and super().__eq__(other)
        )

    def __ne__(self, other: Any) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((self.object_class, self.fields, tuple(self)))

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={kind!r}" for name, kind in zip(self.fields, self, strict=False))
        return f"{self.object_class.__module__}.{self.object_class.__qualname__}({shown})"

    def __reduce__(self) -> Any:
        return FieldTypes, (self.object_class, self.fields, tuple(self))


def get_iterable_path(iterable: Any, path: Path) -> Any:
    """The element at `path` in nested sequences, or in objects in them."""
    for index in path:
        parts = iterable if isinstance(iterable, list) else elements_of(iterable)
        iterable = (iterable if parts is None else parts)[index]
    return iterable


def set_iterable_path(iterable: Any, path: Path, value: Any) -> None:
    """Stores `value` at `path`; the innermost sequence must be mutable."""
    get_iterable_path(iterable, path[:-1])[path[-1]] = value


def find_paths_if(iterable: Iterable[Any], pred: Callable[[Path, Any], bool]) -> list[Path]:
    """Paths of all leaves for which `pred(path, leaf)` holds, in order."""
    found: list[Path] = []

    def visit(path: Path, items: Iterable[Any]) -> None:
        for index, item in enumerate(items):
            here = (*path, index)
            if isinstance(item, (list, tuple)):
                visit(here, item)
            elif pred(here, item):
                found.append(here)

    visit((), iterable)
    return found


def is_namedtuple(value: Any) -> bool:
    """True for namedtuple classes and for their instances."""
    cls = value if isinstance(value, type) else type(value)
    return issubclass(cls, tuple) and hasattr(cls, "_fields")


def is_iterable(value: Any) -> bool:
    """Whether a value has elements: a tuple or list of the host or of the language."""
    if isinstance(value, (list, tuple)):
        return True
    from .language import core

    return isinstance(value, (core.tuple, core.tuple_type))


def apply_with_path(value: Any, fn: Callable[[Path, Any], None], _path: Path = ()) -> None:
    """Calls `fn(path, leaf)` for each leaf of nested tuples and lists, in order."""
    if not is_iterable(value):
        fn(_path, value)
        return
    for index, item in enumerate(value):
        apply_with_path(item, fn, (*_path, index))


def is_power_of_two(x: int) -> bool:
    return x > 0 and x & (x - 1) == 0


def validate_block_shape(shape: Iterable[int]) -> int:
    """The number of elements of a block; raises Triton's error for an invalid shape."""
    count = 1
    for index, extent in enumerate(shape):
        if not isinstance(extent, int):
            raise TypeError(
                f"Shape element {index} must have type `constexpr[int]`, "
                f"got `constexpr[{type(extent)}]"
            )
        if not is_power_of_two(extent):
            raise ValueError(f"Shape element {index} must be a power of 2")
        count *= extent
    if count > TRITON_MAX_TENSOR_NUMEL:
        raise ValueError(
            f"numel ({count}) exceeds triton maximum tensor numel ({TRITON_MAX_TENSOR_NUMEL})"
        )
    return count
