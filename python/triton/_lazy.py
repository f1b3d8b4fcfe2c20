"""Rarely used names of a module, imported from elsewhere at their first use."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any


def lazy_names(module: str, where: dict[str, str]) -> Callable[[str], Any]:
    """The `__getattr__` of `module`: `where` maps a module to the names that come from it,
    separated by spaces. A name "a=b" is `b` there, and "a=" the module itself.
    """
    table: dict[str, tuple[str, str]] = {}
    for source, names in where.items():
        for entry in names.split():
            name, renamed, there = entry.partition("=")
            table[name] = (source, there if renamed else name)

    def __getattr__(name: str) -> Any:  # noqa: N807  (assigned to that name)
        if name not in table:
            text = f"module {module!r} has no attribute {name!r}"
            # With these Python suggests the nearest name.
            raise AttributeError(text, name=name, obj=sys.modules.get(module))
        import importlib

        source, there = table[name]
        source_module = importlib.import_module(source)
        return getattr(source_module, there) if there else source_module

    return __getattr__
