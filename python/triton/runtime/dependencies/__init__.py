"""The dependencies of a kernel on the classes of its arguments; those on what it names are in
walk.py.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import enum
import functools
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from ... import knobs
from ..._C.libtriton import field_names
from ..._utils import FieldTypes, is_namedtuple
from .walk import DependencyWalk, UsedGlobals

if TYPE_CHECKING:
    from ..callable import JITCallable

__all__ = [
    "DependencyWalk",
    "UsedGlobals",
    "class_key",
    "class_keys",
    "class_walk",
    "classes_in",
    "functions_in",
]


# Values of these classes contain nothing; most parts of a specialisation are such.
_SIMPLE = frozenset({str, int, float, bool, type(None)})


def class_walk(cls: type) -> DependencyWalk | None:
    """The dependencies of a class's methods; None for classes of Python or this package."""
    if cls.__module__.partition(".")[0] in ("builtins", "triton"):
        return None
    return DependencyWalk(cls, knobs.compilation.allow_non_constexpr_globals)


def class_key(cls: type) -> str:
    """A text that two classes share only if kernels that use them are the same; equal in every
    process.
    """
    walk = class_walk(cls)
    name = f"{cls.__module__}.{cls.__qualname__}"
    return name if walk is None else f"{name} {walk.key()}"


def classes_in(value: Any) -> Iterator[type]:
    """The classes in the types and constants of a specialisation: in order, each as often as it
    occurs.
    """
    if type(value) in _SIMPLE:
        return
    from ...language.core import constexpr

    if isinstance(value, constexpr):
        value = value.value
    if isinstance(value, FieldTypes):
        yield value.object_class
    elif isinstance(value, type):
        yield value
        return
    elif is_namedtuple(value) or isinstance(value, enum.Enum):
        yield type(value)
    if isinstance(value, (tuple, list)):
        for item in value:
            yield from classes_in(item)
    elif (names := field_names(type(value))) is not None:
        yield type(value)
        for name in names:
            yield from classes_in(getattr(value, name, None))


def functions_in(value: Any) -> Iterator[JITCallable]:
    """The functions that kernels call in the types and constants of a specialisation."""
    if type(value) in _SIMPLE:
        return
    from ...language.core import constexpr
    from ..callable import JITCallable

    if isinstance(value, constexpr):
        value = value.value
    if isinstance(value, JITCallable):
        yield value
    elif isinstance(value, functools.partial):
        yield from functions_in((value.func, *value.args, *value.keywords.values()))
    elif isinstance(value, (tuple, list)):
        for item in value:
            yield from functions_in(item)
    elif isinstance(value, dict):
        yield from functions_in(list(value.values()))
    elif (names := field_names(type(value))) is not None:
        yield from functions_in([getattr(value, name, None) for name in names])


def _is_plain(part: Any) -> bool:
    """Whether a type, a constant or an argument's pair of both contains neither classes nor functions."""
    return type(part) in _SIMPLE or (
        type(part) is tuple and all(type(item) in _SIMPLE for item in part)
    )


def class_keys(value: list[Any] | tuple[Any, ...]) -> str:
    """The keys of all classes and functions in a specialisation; usually "". Functions that one
    function has made differ in nothing else.
    """
    if all(map(_is_plain, value)):
        return ""
    keys = [class_key(cls) for cls in classes_in(value)]
    keys += [function.cache_key for function in functions_in(value)]
    return "".join(f" {key}" for key in keys)
