"""Immutable records with named fields: like a frozen dataclass, created in a fraction of the time
that importing `dataclasses` takes.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from typing import Any


class Values:
    """Objects that are compared and shown by the values of their attributes."""

    def __eq__(self, other: Any) -> Any:
        return self.__dict__ == other.__dict__ if type(self) is type(other) else NotImplemented

    def __hash__(self) -> int:
        return hash(tuple(self.__dict__.values()))

    def __repr__(self) -> str:
        values = ", ".join(f"{name}={value!r}" for name, value in self.__dict__.items())
        return f"{type(self).__qualname__}({values})"


class Record(Values):
    """A subclass annotates its fields in order; assigned values are defaults."""

    _fields: tuple[str, ...] = ()

    def __init_subclass__(cls) -> None:
        cls._fields = cls.__match_args__ = tuple(cls.__annotations__)

    def __init__(self, *args: Any, **kwargs: Any):
        if len(args) > len(self._fields):
            raise TypeError(
                f"{type(self).__name__}() takes {len(self._fields)} arguments, {len(args)} given"
            )
        given = dict(zip(self._fields, args))  # noqa: B905  (defaults may follow)
        for name in kwargs:
            if name not in self._fields or name in given:
                raise TypeError(f"{type(self).__name__}() got an unexpected argument {name!r}")
        given.update(kwargs)
        for name in self._fields:
            if name not in given and not hasattr(type(self), name):
                raise TypeError(f"{type(self).__name__}() is missing the argument {name!r}")
        self.__dict__.update(
            {name: given.get(name, getattr(type(self), name, None)) for name in self._fields}
        )

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"cannot assign to field {name!r}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"cannot delete field {name!r}")
