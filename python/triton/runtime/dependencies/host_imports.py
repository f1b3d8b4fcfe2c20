"""The modules that a function imports when it runs."""

# SPDX-License-Identifier: MIT
#
# A key must not run what the user's modules do when they are imported. A module that is not imported yet counts by
# its text, and by what it imports in turn.
from __future__ import annotations

import dis
import functools
import types
from collections.abc import Iterator
from typing import Any

from .host_code import string_names

_BY_STRING = {"import_module", "__import__"}


def _in_code(code: types.CodeType) -> Iterator[tuple[int, str]]:
    """The level and the name of every module of an import in the code."""
    pushed: list[Any] = [0, None]
    level, module = 0, ""
    for instruction in dis.get_instructions(code):
        if instruction.opname == "IMPORT_NAME":  # the level and the list of names are pushed before
            level, module = pushed[0], instruction.argval
            yield level, module
        elif instruction.opname == "IMPORT_FROM":  # may be a module of the package
            yield level, f"{module}.{instruction.argval}"
        if instruction.opname != "EXTENDED_ARG":
            pushed = [pushed[1], instruction.argval]
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _in_code(constant)
    if _BY_STRING & set(code.co_names):
        for name in sorted(set().union(*map(string_names, code.co_consts))):
            yield 0, name


def package_in(scope: dict[str, Any]) -> str:
    """The package to which relative imports of a module are relative."""
    package = scope.get("__package__")
    name = scope.get("__name__") or ""
    return package or (name if "__path__" in scope else name.rpartition(".")[0])


# Launches with objects of the user's classes ask again and again.
@functools.lru_cache(maxsize=4096)
def imported_names(code: types.CodeType, package: str) -> tuple[str, ...]:
    """The full names of the modules that the code may import, and of their packages."""
    names = set()
    for level, name in _in_code(code):
        parts = package.split(".") if level else []
        parts = parts[: len(parts) - level + 1] + [part for part in name.split(".") if part]
        names |= {".".join(parts[:count]) for count in range(1, len(parts) + 1)}
    return tuple(sorted(names))


def source_of(name: str) -> tuple[str, bytes] | None:
    """The path and the text of a module that is not imported, and need not be for this."""
    from importlib.machinery import PathFinder

    path, spec, full = None, None, ""
    for part in name.split("."):
        full = f"{full}.{part}".lstrip(".")
        spec = PathFinder.find_spec(full, path)
        if spec is None:
            return None
        path = spec.submodule_search_locations or []
    origin = spec.origin if spec else None
    if not origin or not origin.endswith(".py"):
        return None
    with open(origin, "rb") as file:
        return origin, file.read()
