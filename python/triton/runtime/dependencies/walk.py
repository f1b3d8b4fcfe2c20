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
import types
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from operator import attrgetter, itemgetter, methodcaller
from typing import TYPE_CHECKING, Any

from ..._C.libtriton import field_names, sha256
from ..._utils import is_namedtuple
from .host_code import kernel_names, string_names
from .host_imports import package_in
from .host_walk import HostWalk
from .libraries import is_well_known, package_of
from .scopes import ClosureScope, Scope, sort_key

if TYPE_CHECKING:
    from ..callable import JITCallable

_SCALARS = (int, float, str, bool, bytes, complex, type(None))

# Special attributes of a class that are no functions but matter to kernels.
_MEANINGFUL = frozenset(["__aggregate_fields__", "__aggregate_defaults__"])

# (name, id of the scope that it was found in) -> (value, that scope)
UsedGlobals = dict[tuple[str, int], tuple[Any, Any]]


def _is_definition(value: Any) -> bool:
    """Functions, classes, constants, and tables of them: names that an edited module binds anew."""
    from ...language.core import constexpr, dtype
    from ..callable import JITCallable

    if isinstance(value, (tuple, list)):
        return any(map(_is_definition, value))
    if isinstance(value, (dict, types.SimpleNamespace)):
        members = value if isinstance(value, dict) else vars(value)
        return any(map(_is_definition, list(members.values())))
    if isinstance(value, (constexpr, dtype)):
        return True
    kinds = (JITCallable, types.FunctionType, functools.partial, type)
    return isinstance(value, kinds) and not is_well_known(getattr(value, "__module__", None))


def _host_function_of(member: Any) -> Any:
    """The function of a method of any kind; other objects unchanged."""
    if isinstance(member, (staticmethod, classmethod)):
        return member.__func__
    if isinstance(member, property):
        return member.fget
    return member.func if isinstance(member, functools.cached_property) else member


class DependencyWalk(HostWalk):
    """Collects one line of text per dependency, and the constants whose change must be noticed.
    Starts at a function or at a class.
    """

    def __init__(self, root: JITCallable | type, plain_globals: bool):
        self.root = root
        self.plain_globals = plain_globals  # globals that are not constexpr may be read
        # Functions that call each other reach the same set; the root makes their texts differ.
        super().__init__(isinstance(root, type))
        self.lines.append(f"root {root.__module__}.{root.__qualname__} {plain_globals}")
        self.used: UsedGlobals = {}
        self.bindings: UsedGlobals = {}  # whose change makes a new kernel
        self.watches_closure = False
        self._any_name = False  # whether a kernel reads attributes by computed names
        self._functions: deque[JITCallable] = deque()
        if isinstance(root, type):
            self._class("root", root)
        else:
            self._enqueue(root)
        self._finish()

    def key(self) -> str:
        return sha256("\n".join(self.lines).encode("utf-8"))

    def _finish(self) -> None:
        """Functions found in a scope may name attributes of one that was read before."""
        while self._values or self._functions or self._read_scopes():
            while self._values:
                self._visit(*self._values.popleft())
            if self._functions:
                self._function(self._functions.popleft())

    def _read_scopes(self) -> bool:
        for scope in self._scopes:
            for name in scope.unread(self._names, self._any_name):
                self._value(f"{scope.where}.{name}", _host_function_of(scope.members[name]))
        return bool(self._values)

    # --- Kernels -----------------------------------------------------------------------------

    def _enqueue(self, fn: JITCallable) -> None:
        self._read_packages.add(package_of(fn.__module__))
        if self._first_visit(fn):
            self._functions.append(fn)

    def _function(self, fn: JITCallable) -> None:
        from ..callable import ConstexprFunction

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
                self._bind_module(value, names, set())
            elif (name, id(scope)) not in self.used and isinstance(scope, dict):
                self._bind(name, scope, _is_definition(value))
            self._value(f"{where} {name}", value)
        if isinstance(fn, ConstexprFunction) and fn.fn is not None:
            self._imports(where, fn.fn.__code__, package_in(fn.__globals__ or {}))

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
        from ...language.core import constexpr, dtype

        plain = self.plain_globals and isinstance(value, _SCALARS)
        if not plain and not isinstance(value, (constexpr, dtype)):
            return
        if isinstance(scope, ClosureScope):
            self.watches_closure = True
            if isinstance(value, constexpr):
                value = constexpr(value.value)  # the object may be assigned another value
        self.used[(name, id(scope))] = (value, scope)

    def _bind(self, name: str, scope: dict[str, Any], is_read: bool) -> None:
        if is_read:
            self.bindings[(name, id(scope))] = (scope[name], scope)

    def _bind_module(self, module: types.ModuleType, names: frozenset[str], seen: set[int]) -> None:
        """The attributes that the function itself names; `importlib.reload` binds them anew."""
        if is_well_known(module.__name__) or id(module) in seen:
            return
        seen.add(id(module))
        scope = vars(module)
        for name in sorted((names | {"__getattr__"}) & scope.keys()):
            if isinstance(scope[name], types.ModuleType):
                self._bind_module(scope[name], names, seen)
            else:
                is_read = isinstance(scope[name], _SCALARS) or _is_definition(scope[name])
                self._bind(name, scope, is_read)

    # --- Values ------------------------------------------------------------------------------

    def _visit(self, where: str, value: Any) -> None:
        from ...language.builtin import Builtin
        from ...language.core import base_type, constexpr
        from ..callable import JITCallable

        while isinstance(value, constexpr):
            value = value.value
        if isinstance(value, JITCallable):
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
            items = enumerate(sorted(container, key=sort_key))
        elif isinstance(container, (dict, types.MappingProxyType)):
            items = container.items()
        for key, item in list(items):
            self._value(f"{where}[{sort_key(key)}]", item)
        if isinstance(container, defaultdict):
            self._value(f"{where} default", container.default_factory)
        if type(container).__module__ not in ("builtins", "collections"):
            self._object(where, container, visited=True)

    def _module(self, where: str, module: types.ModuleType) -> None:
        self.lines.append(f"{where} = module {module.__name__}")
        self._is_library(where, module.__name__)  # one may hold kernels all the same
        if not is_well_known(module.__name__) and self._first_visit(module):
            self._scopes.append(Scope(module.__name__, vars(module)))
            if "__getattr__" in vars(module):  # gives attributes that are not there
                self._value(f"{module.__name__}.__getattr__", vars(module)["__getattr__"])

    def _class(self, where: str, cls: type, whole: bool = False) -> None:
        """The whole class, or the attributes that are named; methods that Python calls itself count
        always.
        """
        fields = getattr(cls, "_fields", "")
        self.lines.append(f"{where} = class {self._named(cls, cls.__qualname__)} {fields}")
        is_library = self._is_library(where, cls.__module__) and not self._holds_kernels(cls)
        if is_library or not self._first_visit(cls):
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
    def _holds_kernels(cls: type) -> bool:
        from ..callable import JITCallable

        members = (
            member
            for base in cls.__mro__
            if not is_well_known(base.__module__)
            for member in vars(base).values()
        )
        return any(isinstance(_host_function_of(member), JITCallable) for member in members)

    @staticmethod
    def _matters(name: str, member: Any, whole: bool) -> bool:
        from ..callable import JITCallable

        if name.startswith("__") and name.endswith("__"):
            return name in _MEANINGFUL or isinstance(member, (types.FunctionType, JITCallable))
        return whole and name != "_abc_impl"  # differs in every process

    def _callable(self, where: str, value: Any) -> bool:
        """Functions of Python's and what wraps them."""
        from ..callable import BoundConstexprMethod
        from ..jit import KernelInterface

        if isinstance(value, types.FunctionType):
            self._host_function(where, value)
        elif isinstance(value, (types.BuiltinFunctionType, types.MethodWrapperType)):
            self.lines.append(f"{where} = {value.__qualname__}")
            self._value(f"{where} object", value.__self__)
        elif isinstance(value, (attrgetter, itemgetter, methodcaller)):
            self.lines.append(f"{where} = {value!r}")
            self._names |= string_names(value.__reduce__()[1])
        elif isinstance(value, functools.partial):
            self.lines.append(f"{where} = partial")
            self._value(f"{where} function", value.func)
            self._value(f"{where} arguments", (value.args, value.keywords))
        elif isinstance(value, (types.MethodType, BoundConstexprMethod)):
            self._value(f"{where} function", value.__func__)
            self._value(f"{where} object", value.__self__)
        elif isinstance(value, KernelInterface):  # an autotuner around a kernel
            self._value(f"{where} kernel", getattr(value, "fn", None))
        elif isinstance(value, functools._lru_cache_wrapper):
            self._value(f"{where} wrapped", value.__wrapped__)
        elif isinstance(value, (staticmethod, classmethod, property)):
            self._value(where, _host_function_of(value))
        else:
            return False
        return True
