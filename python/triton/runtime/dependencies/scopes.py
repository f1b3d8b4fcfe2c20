"""Containers of values that kernels read by name."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..callable import JITCallable

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
        from ...language.core import constexpr
        from ..callable import JITCallable

        is_value = isinstance(self.members[name], (JITCallable, constexpr, *_SCALARS))
        return is_value and not name.startswith("__")


def _mangled(cls: type, name: str) -> str:
    """The attribute behind a name that is private to the class."""
    private = name.startswith("__") and not name.endswith("__") and cls.__name__.strip("_")
    return f"_{cls.__name__.lstrip('_')}{name}" if private else name


def attributes(value: Any) -> Mapping[str, Any]:
    """The attributes of an object, those in slots included."""
    found = dict(getattr(value, "__dict__", {}))
    for cls in type(value).__mro__:
        slots = cls.__dict__.get("__slots__", ())
        for slot in (slots,) if isinstance(slots, str) else slots:
            name = _mangled(cls, slot)
            if name not in ("__dict__", "__weakref__") and hasattr(value, name):
                found.setdefault(name, getattr(value, name))
    return found


def is_tensor(value: Any) -> bool:
    """Tensors are no constants: kernels get them as arguments, and their elements may lie on a device."""
    try:
        return hasattr(value, "data_ptr")
    except (
        Exception
    ):  # of an object's own `__getattr__`: the compiler reports it if the kernel asks, too
        return False


def as_array(value: Any, converts: bool) -> Any:
    """A NumPy array or scalar as an array; with `converts` also another object that NumPy reads; otherwise None."""
    np = sys.modules.get("numpy")
    if np is None or isinstance(value, type) or is_tensor(value):
        return None
    is_array = isinstance(value, (np.ndarray, np.generic))
    if not is_array and not (converts and hasattr(type(value), "__array__")):
        return None
    try:
        return np.asarray(value)
    except TypeError:  # such as an array of JAX that is being traced: it has no elements yet
        return None


def array_text(array: Any) -> str:
    """The dtype, the shape and the elements; a large array by its digest."""
    if array.ndim == 0:
        return f"{array.dtype.str} {array.item()!r}"
    return f"{array.dtype.descr} {array.shape} {bytes_digest(array)}"


def bytes_digest(value: Any) -> str:
    import hashlib

    return hashlib.sha256(value.tobytes()).hexdigest()


def stable_text(value: Any) -> str | None:
    """The object's text; None where it differs between processes or is long."""
    if is_tensor(value):
        return None
    if isinstance(value, memoryview):
        return f"{value.format} {value.shape} {bytes_digest(value)}"
    text = repr(value)
    return None if " at 0x" in text else text


def sort_key(value: Any) -> str:
    """An order of a container's keys that is the same in every process."""
    return stable_text(value) or type(value).__qualname__
