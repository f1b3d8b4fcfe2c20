"""Containers of values that kernels read by name."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .callable import JITCallable

# Constants of these types are values of kernels.
_SCALARS = (int, float, str, bool, bytes, complex, type(None))


class ClosureScope:
    """The current values of the names in the functions around a kernel."""

    def __init__(self, fn: JITCallable):
        self._fn = fn

    def get(self, name: str, default: Any = None) -> Any:
        return self._fn.nonlocals.get(name, default)


class Scope:
    """A container of which only those attributes count that some function names."""

    def __init__(self, where: str, members: Mapping[str, Any]):
        self.where = where
        self.members = members
        self.read: set[str] = set()
        self.names_before = 0  # how many names there were when it was last read

    def unread(self, names: set[str], any_name: bool) -> list[str]:
        if self.names_before == len(names) and not any_name:
            return []
        self.names_before = len(names)
        found = (names & self.members.keys()) - self.read
        if any_name:  # by a string that only the compilation knows
            found |= {
                name for name in self.members.keys() - self.read if self._is_kernel_value(name)
            }
        self.read |= found
        return sorted(found)

    def _is_kernel_value(self, name: str) -> bool:
        from ..language.core import constexpr
        from .callable import JITCallable

        is_value = isinstance(self.members[name], (JITCallable, constexpr, *_SCALARS))
        return is_value and not name.startswith("__")


def attributes(value: Any) -> Mapping[str, Any]:
    """The attributes of an object, those in slots included."""
    found = dict(getattr(value, "__dict__", {}))
    for cls in type(value).__mro__:
        slots = cls.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if name not in ("__dict__", "__weakref__") and hasattr(value, name):
                found.setdefault(name, getattr(value, name))
    return found


def stable_text(value: Any) -> str:
    """The object's text, or its class's name where the text differs between processes or is long."""
    if hasattr(value, "__array_interface__") or hasattr(value, "data_ptr"):
        return type(value).__qualname__
    text = repr(value)
    return type(value).__qualname__ if " at 0x" in text else text
