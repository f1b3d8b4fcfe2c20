"""The dependencies of a kernel beyond its own text: the functions and constants that it names, and
theirs in turn; and those of its arguments' classes.
"""

# SPDX-License-Identifier: MIT
#
# The walk follows names, so it may find more than a compilation reads; that costs at most a cache miss. It must never
# find less.
from __future__ import annotations

import enum
import functools
import re
import sys
import types
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from .. import knobs
from .._C.libtriton import field_names
from .._utils import FieldTypes, is_namedtuple

if TYPE_CHECKING:
    from .callable import JITCallable

_IDENTIFIER = re.compile(r"[^\W\d]\w*")
_SCALARS = (int, float, str, bool, bytes, complex, type(None))

# Attributes of a class whose objects are values of kernels.
_MEANINGFUL = ("__aggregate_fields__", "__aggregate_defaults__", "__aggregate_init__")
_MEANINGFUL += ("__getitem__", "__add__", "__sub__", "__mul__", "__enter__", "__exit__", "__init__")

_LIBRARIES = sys.stdlib_module_names | {"triton"}


class ClosureScope:
    """The current values of the names in the functions around a kernel."""

    def __init__(self, fn: JITCallable):
        self._fn = fn

    def get(self, name: str, default: Any = None) -> Any:
        return self._fn.nonlocals.get(name, default)


# (name, id of the scope it was found in) -> (value, that scope)
UsedGlobals = dict[tuple[str, int], tuple[Any, Any]]


def _host_function_of(member: Any) -> Any:
    """The function of a method of any kind; other objects unchanged."""
    if isinstance(member, (staticmethod, classmethod)):
        return member.__func__
    if isinstance(member, property):
        return member.fget
    return member.func if isinstance(member, functools.cached_property) else member


def _code_names(code: types.CodeType) -> set[str]:
    """Names that a function reads from outside, and all attribute names."""
    names = set(code.co_names) | set(code.co_freevars)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _code_names(constant)
    return names


def _read_before_assigned(fn: JITCallable, names: set[str]) -> set[str]:
    """Names that a kernel reads as globals before it assigns them, which Python would not do."""
    import ast

    assigned: set[str] = set()
    found: set[str] = set()

    def visit(node: ast.AST) -> None:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            if node.id in names and node.id not in assigned:
                found.add(node.id)
        elif isinstance(node, ast.Name):
            assigned.add(node.id)
        elif isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
            visit(ast.Name(node.target.id, ast.Load()))
        children = list(ast.iter_child_nodes(node))
        children.sort(key=lambda child: isinstance(getattr(child, "ctx", None), ast.Store))
        for child in children:  # targets after the assigned values
            visit(child)

    visit(fn.parse())
    return found


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
        self._modules = {root.__module__}  # modules whose host functions are followed
        if isinstance(root, type):
            self._class("root", root, frozenset())
        else:
            self._function(root)

    def key(self) -> str:
        import hashlib

        return hashlib.sha256("\n".join(self.lines).encode("utf-8")).hexdigest()

    def _first_visit(self, value: Any) -> bool:
        if id(value) in self._seen:
            return False
        self._seen[id(value)] = len(self._seen)
        self._keep.append(value)
        return True

    def _named(self, value: Any, name: str) -> str:
        """The name, with a number that distinguishes objects of equal name."""
        return f"{value.__module__}.{name} #{self._seen.get(id(value), len(self._seen))}"

    def _function(self, fn: JITCallable) -> None:
        if not self._first_visit(fn):
            return
        where = f"{fn.__module__}.{fn.__qualname__}"
        flags = f"{getattr(fn, 'noinline', None)}:{fn.starting_line_number}"
        self.lines.append(f"function {where} {flags} {fn.src!r}")
        for index, default in enumerate(getattr(fn.fn, "__defaults__", None) or ()):
            self._value(f"{where} default {index}", default, frozenset())
        names = frozenset(self._names_of(fn))
        for name, value, scope in self._lookups(fn, names):
            self._track(name, value, scope)
            self._value(f"{where} {name}", value, names)

    @staticmethod
    def _names_of(fn: JITCallable) -> set[str]:
        if fn.fn is None or fn.source_was_replaced:
            return set(_IDENTIFIER.findall(fn.src))
        code = fn.fn.__code__
        own = set(code.co_varnames[code.co_argcount :]) & (fn.__globals__ or {}).keys()
        early = _read_before_assigned(fn, own) if own else set()
        return _code_names(code) | early

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

    def _value(self, where: str, value: Any, names: frozenset[str]) -> None:
        from ..language.builtin import Builtin
        from ..language.core import base_type, constexpr
        from .callable import JITCallable

        if isinstance(value, constexpr):
            self._value(where, value.value, names)
        elif isinstance(value, JITCallable):
            self.lines.append(f"{where} = {self._named(value, value.__qualname__)}")
            self._function(value)
        elif isinstance(value, (base_type, Builtin, enum.Enum, *_SCALARS)):
            self.lines.append(f"{where} = {type(value).__name__} {value!r}")
        elif isinstance(value, (tuple, list)):
            self._container(where, enumerate(value), value, names)
        elif isinstance(value, (set, frozenset)):  # iteration order differs between processes
            self._container(where, enumerate(sorted(value, key=repr)), value, names)
        elif isinstance(value, dict):
            self._container(where, value.items(), value, names)
        elif isinstance(value, types.ModuleType):
            self._module(where, value, names)
        elif isinstance(value, type):
            self._class(where, value, names)
        elif callable(value):
            self._host_function(where, value, names)
        else:
            self.lines.append(
                f"{where} = {type(value).__module__}.{type(value).__qualname__} {value!r}"
            )

    def _container(self, where: str, items: Any, container: Any, names: frozenset[str]) -> None:
        if self._first_visit(container):
            for key, item in list(items):
                self._value(f"{where}[{key!r}]", item, names)

    def _module(self, where: str, module: types.ModuleType, names: frozenset[str]) -> None:
        """Of a module only the attributes count that the function names."""
        self.lines.append(f"{where} = module {module.__name__}")
        if module.__name__.partition(".")[0] != "triton" and self._first_visit(module):
            scope = vars(module)
            for name in sorted(names & scope.keys()):
                self._track(name, scope[name], scope)
                self._value(f"{module.__name__}.{name}", scope[name], names)

    def _class(self, where: str, cls: type, names: frozenset[str], is_base: bool = False) -> None:
        self.lines.append(
            f"{where} = class {self._named(cls, cls.__qualname__)} {getattr(cls, '_fields', '')}"
        )
        if (
            (is_base and cls.__module__.partition(".")[0] not in _LIBRARIES)
            or cls.__module__ == self.root.__module__
            or is_namedtuple(cls)
            or field_names(cls) is not None
        ) and self._first_visit(cls):
            self._modules.add(cls.__module__)
            for name, member in sorted(vars(cls).items(), key=lambda item: item[0]):
                inner = _host_function_of(member)
                if self._matters(name, inner):
                    self._value(f"{cls.__qualname__}.{name}", inner, names)
            for base in cls.__bases__:
                self._class(f"{cls.__qualname__} base", base, names, is_base=True)

    @staticmethod
    def _matters(name: str, member: Any) -> bool:
        from .callable import JITCallable

        if name.startswith("__"):
            return name in _MEANINGFUL or isinstance(member, (types.FunctionType, JITCallable))
        return name != "_abc_impl"  # differs in every process

    def _host_function(self, where: str, fn: Any, names: frozenset[str]) -> None:
        """A function that runs at compile time. Its text counts; so do the functions that it calls
        within the followed modules.
        """
        name = (
            f"{getattr(fn, '__module__', '')}.{getattr(fn, '__qualname__', type(fn).__qualname__)}"
        )
        self.lines.append(f"{where} = function {name}")
        code = getattr(fn, "__code__", None)
        if code is None or not self._first_visit(fn):
            return
        constants = [item for item in code.co_consts if isinstance(item, _SCALARS)]
        self.lines.append(f"code {name} {code.co_code.hex()} {constants}")
        for default in (*(fn.__defaults__ or ()), *(fn.__kwdefaults__ or {}).values()):
            if isinstance(default, _SCALARS):
                self._value(f"{name} default", default, names)
        for cell in fn.__closure__ or ():  # such as the function that a decorator wraps
            try:
                inner_fn = cell.cell_contents
            except ValueError:  # not assigned yet
                continue
            if callable(inner_fn) or isinstance(inner_fn, _SCALARS):
                self._value(f"{name} closure", inner_fn, names)
        if fn.__module__ in self._modules:
            inner = frozenset(_code_names(code))
            for key in sorted(inner & fn.__globals__.keys()):
                self._value(f"{name} {key}", fn.__globals__[key], inner)


# --- Classes of arguments ------------------------------------------------------------------------


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
    from ..language.core import constexpr

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


def class_keys(value: Any) -> str:
    """The keys of all classes in a specialisation; usually ""."""
    return "".join(f" {class_key(cls)}" for cls in classes_in(value))
