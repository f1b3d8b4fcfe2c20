"""Names that a module has and few programs ask for: looked up elsewhere at their first use."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from collections.abc import Callable
from typing import Any


def lazy_names(module: str, where: dict[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of `module`: `where` has names, with spaces between, by the module they come from. A
    name "a=b" is there `b`, and "a=" that module itself.
    """
    table: dict[str, tuple[str, str]] = {}
    for source, names in where.items():
        for entry in names.split():
            name, renamed, there = entry.partition("=")
            table[name] = (source, there if renamed else name)

    def __getattr__(name: str) -> Any:  # noqa: N807  (assigned to that name)
        if name not in table:
            raise AttributeError(f"module {module!r} has no attribute {name!r}")
        import importlib

        source, there = table[name]
        found = importlib.import_module(source)
        return getattr(found, there) if there else found

    return __getattr__
