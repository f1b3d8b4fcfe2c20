"""Functions whose source text is compiled: the common part of kernels and compile-time functions."""
# SPDX-License-Identifier: MIT

from __future__ import annotations

import os
from _thread import RLock
from collections.abc import Callable
from typing import Any, TypeVar

from .. import knobs
from .._C import libtriton
from .dependencies import DependencyWalk, UsedGlobals
from .source import FunctionSource

T = TypeVar("T")

# One lock for all functions: hashing one of them hashes those that it calls. After a fork the thread that holds it does
# not exist in the child, which creates a new one.
_hashing = RLock()
os.register_at_fork(after_in_child=_hashing._at_fork_reinit)  # type: ignore[attr-defined]


class JITCallable:
    """A function whose source text is compiled."""

    def __init__(self, fn: Callable[..., Any]):
        self.fn: Any = fn
        self.source_was_replaced = False
        self._fn_name = f"{fn.__module__}.{fn.__qualname__}"
        self.hash: str | None = None
        self._plain_globals = False
        self.used_global_vals: UsedGlobals | None = {}
        self._bindings: UsedGlobals = {}
        self._watches_closure = False
        self._hash_lock: Any = _hashing
        self.__name__ = fn.__name__
        self.__qualname__ = fn.__qualname__
        self.__module__ = str(fn.__module__)  # None where `exec` was given no `__name__`
        self.__doc__ = fn.__doc__
        self.__globals__ = fn.__globals__
        self._read_source()

    def _read_source(self) -> None:
        import inspect  # takes as long as all of this package

        source = FunctionSource(self.fn)
        self.signature = inspect.signature(self.fn)
        self.raw_src = source.raw_lines
        self.file_name = source.file_name
        self.starting_line_number = source.first_line
        self.def_file_line_number = source.def_line
        self.def_file_col_number = source.def_column
        self._src = source.text

    @property
    def nonlocals(self) -> dict[str, Any]:
        """Names of enclosing functions, with their current values."""
        if self.fn is None or not self.fn.__closure__:
            return {}
        found = {}
        for name, cell in zip(self.fn.__code__.co_freevars, self.fn.__closure__, strict=True):
            try:
                found[name] = cell.cell_contents
            except ValueError:  # not assigned yet
                continue
        return found

    def is_gluon(self) -> bool:
        """Whether it is written in Gluon's language."""
        return False

    def get_capture_scope(self) -> dict[str, Any]:
        return {**(self.__globals__ or {}), **self.nonlocals}

    @property
    def cache_key(self) -> str:
        """Hash of the text, of all functions it calls and of the constants they read."""
        plain_globals = knobs.compilation.allow_non_constexpr_globals
        if self._is_outdated():
            self.hash = None
        if self.hash is not None and self._plain_globals == plain_globals:
            return self.hash
        with self._hash_lock or _hashing:
            if self.hash is None or self._plain_globals != plain_globals:
                walk = DependencyWalk(self, plain_globals)
                self.used_global_vals, self._bindings = walk.used, walk.bindings
                self._watches_closure = walk.watches_closure
                self._plain_globals = plain_globals
                self.hash = walk.key()
            return self.hash

    def _is_outdated(self) -> bool:
        """Whether something that it reads was bound anew since it was hashed."""
        return any(
            scope.get(name) is not value for (name, _), (value, scope) in self._bindings.items()
        )

    def __hash__(self) -> int:
        return hash((self._fn_name, self._src))

    def __eq__(self, other: Any) -> bool:
        return self is other

    @property
    def type(self) -> Any:
        from ..language.core import constexpr_type

        return constexpr_type(self)

    def parse(self) -> Any:
        """The text as Python's own syntax tree; the compiler does not use it."""
        import ast

        return ast.parse(self._src)

    def _unsafe_update_src(self, new_src: str) -> None:
        """Replaces the text; the function object stays the same."""
        self._original_src = getattr(self, "_original_src", self._src)
        self._src = new_src
        self.source_was_replaced = new_src != self._original_src
        self.hash = None
        libtriton.bump_epoch()  # kernels that have this function as a constant

    def _set_src(self, value: str) -> None:
        raise AttributeError(
            "Cannot set attribute 'src' directly. Use '_unsafe_update_src()' and manually clear "
            "`.hash` of all callers instead."
        )

    src = property(fget=lambda self: self._src, fset=_set_src)

    def __copy__(self) -> Any:
        return self  # as functions do

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        return self

    def __getstate__(self) -> dict[str, Any]:
        """The state for another process: the text and values derived from it, no live objects."""
        dropped = {"fn": None, "__globals__": None, "used_global_vals": None, "_hash_lock": None}
        dropped["_bindings"] = {}
        key = self.hash if self.__globals__ is None else self.cache_key
        return {**self.__dict__, "hash": key, **dropped}


class ConstexprFunction(JITCallable, libtriton.PlainCall):  # type: ignore[misc]
    """A Python function that runs while a kernel is compiled. Grid functions call such functions at each launch:
    the native base type calls `fn` at once where no argument can be a constexpr, else `__call__`.
    """

    __triton_builtin__ = True

    def _read_source(self) -> None:
        super()._read_source()
        self.__signature__ = self.signature

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else BoundConstexprMethod(instance, self)

    def __call__(self, *args: Any, _semantic: Any = None, **kwargs: Any) -> Any:
        from ..language.core import _unwrap_if_constexpr, constexpr

        plain = [_unwrap_if_constexpr(arg) for arg in args]
        plain_kwargs = {name: _unwrap_if_constexpr(value) for name, value in kwargs.items()}
        result = self.fn(*plain, **plain_kwargs)
        return result if _semantic is None or isinstance(result, constexpr) else constexpr(result)


libtriton.call_natively(ConstexprFunction)


class PackageFunction(ConstexprFunction):
    """A function of this package: its file does not change, so its text is read at first use."""

    _FROM_SOURCE = frozenset(
        [
            "signature",
            "__signature__",
            "raw_src",
            "file_name",
            "starting_line_number",
            "def_file_line_number",
            "def_file_col_number",
            "_src",
        ]
    )

    def _read_source(self) -> None:
        pass

    def __getattr__(self, name: str) -> Any:
        if name not in self._FROM_SOURCE:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        super()._read_source()
        return self.__dict__[name]


libtriton.call_natively(PackageFunction)


class BoundConstexprMethod:
    """A constexpr function of a class, with its object."""

    __triton_builtin__ = True

    def __init__(self, instance: Any, function: ConstexprFunction):
        self.__self__ = instance
        self.__func__ = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.__func__(self.__self__, *args, **kwargs)


def package_function(fn: Callable[..., T]) -> Callable[..., T]:
    """`constexpr_function` for functions of this package."""
    return PackageFunction(fn)  # type: ignore[return-value]


def constexpr_function(fn: Callable[..., T]) -> Callable[..., T]:
    """Makes a Python function callable from kernels, where it runs at compile time on constants."""
    return ConstexprFunction(fn)  # type: ignore[return-value]
