"""The types and constants of a specialisation as JSON, and back: functions and classes by their names."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import enum
import functools
import importlib
import math
from contextvars import ContextVar
from types import ModuleType
from typing import Any

from ..._C.libtriton import field_names
from ..._utils import FieldTypes, is_namedtuple

# Modules that have another name here: the main module of another process.
modules: ContextVar[dict[str, ModuleType]] = ContextVar("modules", default={})  # noqa: B039


def encode(value: Any) -> Any:
    """TypeError for a value that has no text."""
    from ...language.core import constexpr, dtype
    from ..callable import ConstexprFunction
    from ..jit import JITFunction

    if value is None or type(value) in (bool, int, str):
        return value
    if isinstance(value, enum.Enum):
        return {"enum": [*_name_of(type(value)), value.name]}
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else {"float": repr(float(value))}
    if isinstance(value, dtype):
        return {"dtype": value.name}
    if isinstance(value, constexpr):
        return {"constexpr": encode(value.value)}
    if isinstance(value, JITFunction):
        return {"jit_function": [value.module, value.__qualname__]}
    if isinstance(value, ConstexprFunction):
        return {"function": _name_of(value)}
    if isinstance(value, type):
        return {"class": _name_of(value)}
    if type(value).__name__ == "dtype" and type(value).__module__ == "torch":
        return {"torch": str(value).partition(".")[2]}
    if is_namedtuple(value):
        return {"namedtuple": [*_name_of(type(value)), [encode(item) for item in value]]}
    if isinstance(value, (tuple, list)):
        return {"tuple": [encode(item) for item in value]}
    raise TypeError(f"a constant of type {type(value).__name__} has no text")


def decode(value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    ((kind, content),) = value.items()
    return _DECODERS[kind](content)


def encode_kind(kind: Any) -> Any:
    """The type of a parameter; those of objects and named tuples name the class."""
    if isinstance(kind, FieldTypes):
        return {"object": [*_name_of(kind.object_class), [encode_kind(part) for part in kind]]}
    if is_namedtuple(kind):
        return {"namedtuple": [*_name_of(type(kind)), [encode_kind(part) for part in kind]]}
    return [encode_kind(part) for part in kind] if isinstance(kind, tuple) else kind


def decode_kind(kind: Any) -> Any:
    if isinstance(kind, list):
        return tuple(map(decode_kind, kind))
    if not isinstance(kind, dict):
        return kind
    ((form, (module, name, parts)),) = kind.items()
    cls, parts = _at(module, name), list(map(decode_kind, parts))
    return cls(*parts) if form == "namedtuple" else FieldTypes(cls, field_names(cls) or (), parts)


def _name_of(thing: Any) -> list[str]:
    if "<locals>" in thing.__qualname__:
        raise TypeError(f"{thing.__qualname__} is defined in a function, and has no name elsewhere")
    return [thing.__module__, thing.__qualname__]


def _at(module: str, name: str) -> Any:
    loaded = modules.get().get(module) or importlib.import_module(module)
    return functools.reduce(getattr, name.split("."), loaded)


def _function_at(content: list[str]) -> Any:
    from ..decorated import functions_by_name

    module, name = content
    if "<locals>" not in name:
        return _at(module, name)
    function = functions_by_name.get(f"{module}:{name}")
    if function is None:
        raise RuntimeError(f"Unable to resolve JITFunction {module}:{name} for preload")
    return function


def _dtype(name: str) -> Any:
    from ...language.core import dtype

    return dtype(name)


def _constexpr(content: Any) -> Any:
    from ...language.core import constexpr

    return constexpr(decode(content))


_DECODERS = {
    "class": lambda content: _at(*content),
    "constexpr": _constexpr,
    "dtype": _dtype,
    "enum": lambda content: _at(*content[:2])[content[2]],
    "float": float,
    "function": lambda content: _at(*content),
    "jit_function": _function_at,
    "namedtuple": lambda content: _at(*content[:2])(*map(decode, content[2])),
    "torch": lambda name: getattr(importlib.import_module("torch"), name),
    "tuple": lambda items: tuple(map(decode, items)),
}
