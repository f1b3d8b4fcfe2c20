"""Index paths into nested tuples of arguments: where one sits, and how to fetch it again."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ._C.libtriton import parts_of

Path = tuple[int, ...]


class PartTypes(tuple):  # type: ignore[type-arg]
    """The types of an object's fields; two classes with equal fields are different types."""

    object_class: type
    fields: tuple[str, ...]

    def __new__(cls, object_class: type, fields: Iterable[str], types: Iterable[Any]) -> PartTypes:
        self = super().__new__(cls, types)
        self.object_class, self.fields = object_class, tuple(fields)
        return self

    def __eq__(self, other: Any) -> bool:
        return (
            isinstance(other, PartTypes)
            and self.object_class is other.object_class
            and self.fields == other.fields
            and super().__eq__(other)
        )

    def __ne__(self, other: Any) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((self.object_class, self.fields, tuple(self)))

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={kind!r}" for name, kind in zip(self.fields, self))
        return f"{self.object_class.__module__}.{self.object_class.__qualname__}({shown})"

    def __reduce__(self) -> Any:
        return PartTypes, (self.object_class, self.fields, tuple(self))


def get_iterable_path(iterable: Any, path: Path) -> Any:
    """The element of nested sequences, or of objects in them, that `path` leads to."""
    for index in path:
        parts = iterable if isinstance(iterable, list) else parts_of(iterable)
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
