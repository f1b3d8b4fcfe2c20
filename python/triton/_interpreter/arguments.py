"""The arguments of a launch in an interpreted program, specialised as for a compiled kernel."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from typing import Any

from .._C import libtriton
from .._C.libtriton import elements_of
from .._utils import FieldTypes, is_namedtuple
from ..language.values import _unwrap_if_constexpr
from .values import Descriptor, HostArgument


class HostMemory:
    """Copies on the host of arrays of other devices; written data is copied back at the end."""

    def __init__(self) -> None:
        self._copies: dict[int, tuple[Any, Any]] = {}  # by identity

    def argument(self, value: Any) -> Any:
        """The value with all its arrays on the host."""
        parts = elements_of(value)
        if parts is not None:
            return self._whole(value, [self.argument(part) for part in parts])
        device = libtriton.device_of(value)
        if device is None or device[0] == "cpu" or not libtriton.address_of(value):
            return value
        if id(value) not in self._copies:
            if not hasattr(value, "cpu") or not hasattr(value, "copy_"):
                raise TypeError(
                    f"interpreter mode runs on the CPU, and a {type(value).__name__} on {device[0]} has no "
                    "`cpu()` and `copy_()`; pass one that is on the CPU"
                )
            self._copies[id(value)] = value, value.cpu()
        return self._copies[id(value)][1]

    def _whole(self, value: Any, parts: list[Any]) -> Any:
        if isinstance(value, tuple):
            return type(value)(*parts) if is_namedtuple(value) else tuple(parts)
        return rebuilt(type(value), parts)

    def bring_back(self) -> None:
        for there, here in self._copies.values():
            there.copy_(here)


def rebuilt(cls: type, parts: list[Any]) -> Any:
    """An object of this class with these fields, created without running `__init__`."""
    made: Any = object.__new__(cls)
    for name, part in zip(libtriton.field_names(cls), parts, strict=True):
        object.__setattr__(made, name, part)
    return made


def as_seen(session: Any, value: Any, kind: Any) -> Any:
    """The argument in the program, for its specialised type."""
    if kind == "constexpr":
        return _unwrap_if_constexpr(value)
    if isinstance(kind, tuple):
        items = [as_seen(session, part, inner) for part, inner in zip(elements_of(value), kind, strict=False)]
        if isinstance(kind, FieldTypes):
            return rebuilt(kind.object_class, items)
        return type(value)(*items) if is_namedtuple(value) else tuple(items)
    if kind.startswith("tensordesc"):
        return _descriptor(session, value)
    if kind.startswith("*"):
        return session.pointer_to(value, kind)
    return session.apply(("value",), (HostArgument(value, kind),))


def _descriptor(session: Any, given: Any) -> Descriptor:
    """Converts a descriptor made on the host to one made in the program from the same fields."""
    if given.round_f32_to_tf32:
        raise NotImplementedError("interpreter mode cannot round what a descriptor loads to tf32")
    kind, _ = libtriton.native_specialize_impl(None, given.base, False, False, False)
    base = session.pointer_to(given.base, kind)
    strides = (*given.strides[:-1], 1)
    return session.make_tensor_descriptor(base, given.shape, strides, given.block_shape, given.padding)
