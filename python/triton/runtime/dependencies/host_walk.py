"""The part of the walk over a kernel's dependencies that reads Python's own functions and objects."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import functools
import os
import sys
import types
import weakref
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..._C.libtriton import field_names
from .host_code import code_names, code_text
from .host_imports import imported_names, package_in, source_of
from .libraries import installed_text, is_installed, is_well_known, library_text, package_of
from .scopes import Scope, array_text, as_array, attributes, is_tensor, stable_text

# What the compilation reads of these differs between processes.
_STATE = (os._Environ, weakref.WeakKeyDictionary, weakref.WeakValueDictionary, weakref.WeakSet)


def _cells(fn: Any) -> Iterator[Any]:
    for cell in getattr(fn, "__closure__", None) or ():
        try:
            yield cell.cell_contents
        except ValueError:  # not assigned yet
            continue


class HostWalk:
    """The lines, and what is yet to be visited."""

    def __init__(self, reads_whole_classes: bool):
        # What the kernels name of a class's objects is not known here.
        self._reads_whole_classes = reads_whole_classes
        self.lines: list[str] = []
        self._seen: dict[int, int] = {}  # id -> number, in visiting order
        self._keep: list[Any] = []  # ids stay unique while their objects live
        self._names: set[str] = set()  # that any function reads
        self._scopes: list[Scope] = []
        self._values: deque[tuple[str, Any]] = deque()  # no recursion: chains may be long
        self._unimported: set[str] = set()
        self._read_packages: set[str] = set()  # they hold kernels

    def _first_visit(self, value: Any) -> bool:
        if id(value) in self._seen:
            return False
        self._seen[id(value)] = len(self._seen)
        self._keep.append(value)
        return True

    def _named(self, value: Any, name: str) -> str:
        """The name, with a number that distinguishes objects of equal name."""
        return f"{value.__module__}.{name} #{self._seen.get(id(value), len(self._seen))}"

    def _value(self, where: str, value: Any) -> None:
        self._values.append((where, value))

    def _class(self, where: str, cls: type) -> None:
        raise NotImplementedError

    # --- Objects -----------------------------------------------------------------------------

    def _object(self, where: str, value: Any, visited: bool = False) -> None:
        """Of an object the attributes count that are named, of one with fields all."""
        cls = type(value)
        self.lines.append(f"{where} = object of {cls.__module__}.{cls.__qualname__}")
        if isinstance(value, _STATE):
            return
        if not visited and not self._first_visit(value):
            self.lines[-1] += f" #{self._seen[id(value)]}"
            return
        whole = self._reads_whole_classes or field_names(cls) is not None
        is_library = self._is_library(where, cls.__module__)
        array = as_array(value, converts=is_library)
        if array is not None:
            self._array(where, array)
        if is_library:
            is_part = hasattr(value, "__array_interface__")  # a masked array has a mask, too
            whole = is_part if array is not None else self._has_no_text(where, value)
        else:
            self._class(f"{where} class", cls)
        members = attributes(value)
        for name in sorted(members):
            if whole or isinstance(members[name], (types.FunctionType, functools.partial)):
                self._value(f"{where}.{name}", members[name])
        self._scopes.append(Scope(where, members))

    def _array(self, where: str, array: Any) -> None:
        if array.dtype.hasobject:  # its bytes are addresses
            self._value(f"{where} elements", array.tolist())
        else:
            self.lines.append(f"{where} elements {array_text(array)}")

    def _has_no_text(self, where: str, value: Any) -> bool:
        """Adds the text of a library's object; where it has none, all that the object holds counts."""
        text = stable_text(value)
        if text is not None:
            self.lines.append(f"{where} text {text}")
        elif isinstance(value, Mapping):
            self._value(f"{where} items", dict(value))
        elif isinstance(value, Sequence):
            self._value(f"{where} items", list(value))
        return text is None and not is_tensor(value)

    # --- Functions that run at compile time ----------------------------------------------------

    def _host_function(self, where: str, fn: Any) -> None:
        """Its text counts; so do the values and functions that it names."""
        module = getattr(fn, "__globals__", {}).get("__name__", getattr(fn, "__module__", ""))
        name = f"{module}.{getattr(fn, '__qualname__', type(fn).__qualname__)}"
        self.lines.append(f"{where} = function {name}")
        if not self._first_visit(fn):
            return
        for index, inner in enumerate(_cells(fn)):  # such as the function that a decorator wraps
            self._value(f"{name} closure {index}", inner)
        if self._is_library(where, module) or getattr(fn, "__code__", None) is None:
            return
        self.lines.append(f"code {name} {code_text(fn.__code__)}")
        self._defaults(name, fn)
        names = code_names(fn.__code__)
        self._names |= names
        for key in sorted(names & fn.__globals__.keys()):
            self._value(f"{name} {key}", fn.__globals__[key])
        self._imports(name, fn.__code__, package_in(fn.__globals__))
        if vars(fn):
            self._scopes.append(Scope(name, vars(fn)))

    def _imports(self, where: str, code: types.CodeType, package: str) -> None:
        for name in imported_names(code, package):
            if name in sys.modules:
                self._value(f"{where} import {name}", sys.modules[name])
            elif name not in self._unimported and library_text(name) is None:
                self._unimported.add(name)
                self._source(name)

    def _source(self, name: str) -> None:
        """The text of a module that is not imported yet, and what it imports."""
        source = source_of(name)
        if source is None:
            return
        if is_installed(source[0]):
            self.lines.append(f"source {name} of {installed_text(name, source[0])}")
            return
        self.lines.append(f"source {name} {source[1]!r}")
        try:
            code = compile(source[1], source[0], "exec")
        except SyntaxError:
            return  # Python reports it when the function runs
        self._names |= code_names(code)
        is_package = os.path.basename(source[0]) == "__init__.py"
        self._imports(name, code, name if is_package else name.rpartition(".")[0])

    def _defaults(self, where: str, fn: Any) -> None:
        for index, default in enumerate(getattr(fn, "__defaults__", None) or ()):
            self._value(f"{where} default {index}", default)
        for name, default in sorted((getattr(fn, "__kwdefaults__", None) or {}).items()):
            self._value(f"{where} default {name}", default)

    def _is_library(self, where: str, module: Any) -> bool:
        if package_of(module) in self._read_packages and not is_well_known(module):
            return False
        text = library_text(module)
        if text:
            self.lines.append(f"{where} of {text}")
        return text is not None
