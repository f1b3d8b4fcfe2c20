"""Index paths into nested tuples of arguments: where one sits, and how to fetch it again."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

Path = tuple[int, ...]


def get_iterable_path(iterable: Any, path: Path) -> Any:
    """The element of nested sequences that `path` leads to."""
    for index in path:
        iterable = iterable[index]
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
