"""The dependencies of a kernel beyond its own text: the functions and constants that it names, and
theirs in turn.
"""

# SPDX-License-Identifier: MIT
#
# The walk follows names, so it may find more than a compilation reads; that costs at most a cache miss. It must never
# find less. A container (a module, a class, an object) may be reached by one function and passed to another one that
# reads its attributes: every attribute counts that any of the functions names, whichever was found first.
from __future__ import annotations

import enum
import functools
import sys
import types
from collections import deque
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from .._C.libtriton import field_names
from .._utils import is_namedtuple
from .host_code import code_names, code_text, kernel_names
from .scopes import ClosureScope, Scope, attributes, stable_text

if TYPE_CHECKING:
    from .callable import JITCallable

_SCALARS = (int, float, str, bool, bytes, complex, type(None))

# Special attributes of a class that are no functions but matter to kernels.
_MEANINGFUL = frozenset(["__aggregate_fields__", "__aggregate_defaults__"])

# Packages whose functions and objects count by their names and the package's version: their text changes with it.
_LIBRARIES = sys.stdlib_module_names | {"triton", "numpy", "torch", "jax", "jaxlib", "scipy"}
_OWN = sys.stdlib_module_names | {"triton"}  # their version is part of every key


# (name, id of the scope it was found in) -> (value, that scope)
UsedGlobals = dict[tuple[str, int], tuple[Any, Any]]


def _package(module: Any) -> str:
    return module.partition(".")[0] if isinstance(module, str) else ""


def _host_function_of(member: Any) -> Any:
    """The function of a method of any kind; other objects unchanged."""
    if isinstance(member, (staticmethod, classmethod)):
        return member.__func__
    if isinstance(member, property):
        return member.fget
    return member.func if isinstance(member, functools.cached_property) else member


def _cells(fn: Any) -> Iterator[Any]:
    for cell in getattr(fn, "__closure__", None) or ():
        try:
            yield cell.cell_contents
        except ValueError:  # not assigned yet
            continue


class DependencyWalk:
    """Collects one line of text per dependency, and the constants whose change must be noticed.
    Starts at a function or at a class.
    """

    def __init__(self, root: JITCallable | type, plain_globals: bool):
        self.root = root
        self.plain_globals = plain_globals  # globals that are not constexpr may be read
        # Functions that call each other reach the same set; the root makes their texts differ.
        self.lines = [f"root {root.__module__}.{root.__qualname__} {plain_globals}"]
        self.used: UsedGlobals = {}
        self.watches_closure = False
        self._seen: dict[int, int] = {}  # id -> number, in visiting order
        self._keep: list[Any] = []  # ids stay unique while their objects live
        self._names: set[str] = set()  # that any function reads
        self._any_name = False  # whether a kernel reads attributes by computed names
        self._scopes: list[Scope] = []
        self._functions: deque[JITCallable] = deque()
        # What the kernels name of a class's objects is not known here.
        self._reads_whole_classes = isinstance(root, type)
        if isinstance(root, type):
            self._class("root", root)
        else:
            self._enqueue(root)
        self._finish()

    def key(self) -> str:
        import hashlib

        return hashlib.sha256("\n".join(self.lines).encode("utf-8")).hexdigest()

    def _finish(self) -> None:
        """Functions found in a scope may name attributes of one that was read before."""
        while self._functions or self._read_scopes():
            while self._functions:
                self._function(self._functions.popleft())

    def _read_scopes(self) -> bool:
        before = len(self.lines)
        for scope in self._scopes:  # grows meanwhile
            for name in scope.unread(self._names, self._any_name):
                self._value(f"{scope.where}.{name}", _host_function_of(scope.members[name]))
        return len(self.lines) > before

    def _first_visit(self, value: Any) -> bool:
        if id(value) in self._seen:
            return False
        self._seen[id(value)] = len(self._seen)
        self._keep.append(value)
        return True

    def _named(self, value: Any, name: str) -> str:
        """The name, with a number that distinguishes objects of equal name."""
        return f"{value.__module__}.{name} #{self._seen.get(id(value), len(self._seen))}"

    # --- Kernels -----------------------------------------------------------------------------

    def _enqueue(self, fn: JITCallable) -> None:
        if self._first_visit(fn):
            self._functions.append(fn)

    def _function(self, fn: JITCallable) -> None:
        where = f"{fn.__module__}.{fn.__qualname__}"
        flags = f"{getattr(fn, 'noinline', None)}:{fn.starting_line_number}"
        flags += f":{getattr(fn, 'constexprs', None)}"  # an annotation may be an alias
        self.lines.append(f"function {where} {flags} {fn.src!r}")
        self._defaults(where, fn.fn)
        names = frozenset(kernel_names(fn))
        self._names |= names
        self._any_name = self._any_name or "getattr" in names
        for name, value, scope in self._lookups(fn, names):
            self._track(name, value, scope)
            if isinstance(value, types.ModuleType):
                self._track_module(value, names, set())
            self._value(f"{where} {name}", value)

    def _lookups(
        self, fn: Any, names: frozenset[str]
    ) -> Iterator[tuple[str, Any, dict[str, Any] | ClosureScope]]:
        closure, module_globals = fn.nonlocals, fn.__globals__ or {}
        enclosing = ClosureScope(fn)
        for name in sorted(names):
            if name in closure:
                yield name, closure[name], enclosing
            elif name in module_globals:
                yield name, module_globals[name], module_globals

    def _track(self, name: str, value: Any, scope: dict[str, Any] | ClosureScope) -> None:
        from ..language.core import constexpr, dtype

        plain = self.plain_globals and isinstance(value, _SCALARS)
        if not plain and not isinstance(value, (constexpr, dtype)):
            return
        if isinstance(scope, ClosureScope):
            self.watches_closure = True
            if isinstance(value, constexpr):
                value = constexpr(value.value)  # the object may be assigned another value
        self.used[(name, id(scope))] = (value, scope)

    def _track_module(
        self, module: types.ModuleType, names: frozenset[str], seen: set[int]
    ) -> None:
        """Only attributes that the function itself names: a change of others is no error."""
        if _package(module.__name__) in _LIBRARIES or id(module) in seen:
            return
        seen.add(id(module))
        scope = vars(module)
        for name in sorted(names & scope.keys()):
            self._track(name, scope[name], scope)
            if isinstance(scope[name], types.ModuleType):
                self._track_module(scope[name], names, seen)

    # --- Values ------------------------------------------------------------------------------

    def _value(self, where: str, value: Any) -> None:
        from ..language.builtin import Builtin
        from ..language.core import base_type, constexpr
        from .callable import JITCallable

        if isinstance(value, constexpr):
            self._value(where, value.value)
        elif isinstance(value, JITCallable):
            self.lines.append(f"{where} = {self._named(value, value.__qualname__)}")
            self._enqueue(value)
        elif isinstance(value, enum.Enum):
            self.lines.append(f"{where} = member {value.name}")
            self._value(f"{where} value", value._value_)
            self._class(f"{where} class", type(value))
        elif isinstance(value, (base_type, Builtin, *_SCALARS)):
            self.lines.append(f"{where} = {type(value).__name__} {value!r}")
            if isinstance(value, _SCALARS) and type(value) not in _SCALARS:
                self._object(where, value)  # a subclass with attributes of its own
        elif isinstance(value, (tuple, list, set, frozenset, dict, deque, types.MappingProxyType)):
            self._container(where, value)
        elif isinstance(value, types.ModuleType):
            self._module(where, value)
        elif isinstance(value, type):
            self._class(where, value)
        elif not self._callable(where, value):
            self._object(where, value)

    def _container(self, where: str, container: Any) -> None:
        self.lines.append(f"{where} = {self._named(type(container), type(container).__name__)}")
        if not self._first_visit(container):
            self.lines[-1] += f" container #{self._seen[id(container)]}"
            return
        items: Iterable[Any] = enumerate(container)
        if isinstance(container, (set, frozenset)):  # iteration order differs between processes
            items = enumerate(sorted(container, key=stable_text))
        elif isinstance(container, (dict, types.MappingProxyType)):
            items = container.items()
        for key, item in list(items):
            self._value(f"{where}[{stable_text(key)}]", item)
        if type(container).__module__ not in ("builtins", "collections"):
            self._object(where, container, visited=True)

    def _module(self, where: str, module: types.ModuleType) -> None:
        self.lines.append(f"{where} = module {module.__name__}")
        if not self._is_library(where, module.__name__) and self._first_visit(module):
            self._scopes.append(Scope(module.__name__, vars(module)))

    def _class(self, where: str, cls: type, whole: bool = False) -> None:
        """The whole class, or the attributes that are named; methods that Python calls itself count
        always.
        """
        fields = getattr(cls, "_fields", "")
        self.lines.append(f"{where} = class {self._named(cls, cls.__qualname__)} {fields}")
        if self._is_library(where, cls.__module__) or not self._first_visit(cls):
            return
        whole = whole or self._reads_whole_classes
        whole = whole or is_namedtuple(cls) or field_names(cls) is not None
        members = vars(cls)
        for name in sorted(members):
            inner = _host_function_of(members[name])
            if self._matters(name, inner, whole):
                self._value(f"{cls.__qualname__}.{name}", inner)
        if not whole:
            self._scopes.append(Scope(cls.__qualname__, members))
        for base in (*cls.__bases__, *(() if type(cls) is type else (type(cls),))):
            self._class(f"{cls.__qualname__} base", base, whole)

    @staticmethod
    def _matters(name: str, member: Any, whole: bool) -> bool:
        from .callable import JITCallable

        if name.startswith("__") and name.endswith("__"):
            return name in _MEANINGFUL or isinstance(member, (types.FunctionType, JITCallable))
        return whole and name != "_abc_impl"  # differs in every process

    def _callable(self, where: str, value: Any) -> bool:
        """Functions of Python's and what wraps them."""
        from .callable import BoundConstexprMethod
        from .jit import KernelInterface

        if isinstance(value, types.FunctionType):
            self._host_function(where, value)
        elif isinstance(value, (types.BuiltinFunctionType, types.MethodWrapperType)):
            self.lines.append(f"{where} = {value.__qualname__}")
            self._value(f"{where} object", value.__self__)
        elif isinstance(value, functools.partial):
            self.lines.append(f"{where} = partial")
            self._value(f"{where} function", value.func)
            self._value(f"{where} arguments", (value.args, value.keywords))
        elif isinstance(value, (types.MethodType, BoundConstexprMethod)):
            self._value(f"{where} function", value.__func__)
            self._value(f"{where} object", value.__self__)
        elif isinstance(value, KernelInterface):  # an autotuner around a kernel
            self._value(f"{where} kernel", getattr(value, "fn", None))
        elif callable(value) and "__wrapped__" in getattr(value, "__dict__", {}):  # functools.cache
            self._value(f"{where} wrapped", value.__wrapped__)
        elif isinstance(value, (staticmethod, classmethod, property)):
            self._value(where, _host_function_of(value))
        else:
            return False
        return True

    def _object(self, where: str, value: Any, visited: bool = False) -> None:
        """Of an object the attributes count that are named, of one with fields all."""
        cls = type(value)
        self.lines.append(f"{where} = object of {cls.__module__}.{cls.__qualname__}")
        if self._is_library(where, cls.__module__) and not isinstance(value, types.SimpleNamespace):
            self.lines[-1] += f" {stable_text(value)}"
            return
        if not visited and not self._first_visit(value):
            self.lines[-1] += f" #{self._seen[id(value)]}"
            return
        members = attributes(value)
        whole = self._reads_whole_classes or field_names(cls) is not None
        for name in sorted(members) if whole else ():
            self._value(f"{where}.{name}", members[name])
        self._class(f"{where} class", cls)
        self._scopes.append(Scope(where, members))

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

    def _defaults(self, where: str, fn: Any) -> None:
        for index, default in enumerate(getattr(fn, "__defaults__", None) or ()):
            self._value(f"{where} default {index}", default)
        for name, default in sorted((getattr(fn, "__kwdefaults__", None) or {}).items()):
            self._value(f"{where} default {name}", default)

    def _is_library(self, where: str, module: Any) -> bool:
        package = _package(module)
        if package in _LIBRARIES - _OWN:
            version = getattr(sys.modules.get(package), "__version__", None)
            self.lines.append(f"{where} of {package} {version}")
        return package in _LIBRARIES
