"""Reports what compilation refuses in a kernel that interpreter mode runs."""

# SPDX-License-Identifier: MIT
#
# Python accepts more than the compiler, and programs in interpreter mode use that to debug: `breakpoint()`, `print` of
# f-strings. The compiler's front end therefore reads each kernel for the types of its launch, and its errors become
# warnings.
from __future__ import annotations

import ast
import linecache
import re
import types
import warnings
from typing import Any

from .._C.libtriton import is_native, reads_state
from ..compiler.errors import CompilationError, Diagnostic
from ..language.builtin import is_builtin
from ..runtime.callable import JITCallable
from ..runtime.dependencies.libraries import is_well_known, package_of


class RefusedWhenCompiled(UserWarning):
    """A kernel that runs in interpreter mode, and that compilation refuses."""


def _object(scope: dict[str, Any], path: ast.expr) -> Any:
    if isinstance(path, ast.Name):
        return scope.get(path.id)
    if isinstance(path, ast.Attribute):
        holder = _object(scope, path.value)
        return getattr(holder, path.attr, None) if isinstance(holder, types.ModuleType) else None
    return None


def _may_act(function: Any, call: ast.Call) -> bool:
    """Whether a function that the front end would call may do more than compute a value: stop in a debugger, print."""
    if function is None or isinstance(function, (JITCallable, type)) or is_builtin(function):
        return getattr(function, "__name__", "") == "static_print"
    module = getattr(function, "__module__", None)
    if package_of(module) == "triton" or reads_state(function, bool(call.args or call.keywords)):
        return False  # of the latter the front end calls none
    return not call.args or not (is_native(function) or is_well_known(module))


def _can_be_read(function: Any, seen: set[int]) -> bool:
    """Whether reading the kernel, and the functions that it calls, has no effect that a user sees."""
    if id(function) in seen:
        return True
    seen.add(id(function))
    if not function.src:
        return False
    from ..runtime.interpreter import InterpretedFunction

    scope = function.get_capture_scope()
    for node in ast.walk(ast.parse(function.src)):
        if not isinstance(node, ast.Call):
            continue
        called = _object(scope, node.func)
        if isinstance(node.func, ast.Attribute) and _may_act(called, node):
            return False
        if isinstance(called, InterpretedFunction) and not _can_be_read(called, seen):
            return False
    return True


def _errors_of(function: Any, described: Any, target: Any, options: Any) -> list[Diagnostic]:
    from .._C import libtriton
    from ..compiler import ASTSource

    try:
        source = ASTSource(function, *described)
        source.make_ir(target, options, None, None, libtriton.ir.context())
    except CompilationError as error:
        return [each for each in error.diagnostics if each.severity == "error"]
    return []


class Refusals:
    """The errors of compilation of one kernel, by the types of its launches."""

    def __init__(self, function: Any):
        self._function = function
        self._known: dict[str, list[Diagnostic]] = {}
        self._is_readable: bool | None = None

    def of(self, described: Any, target: Any, options: Any) -> list[Diagnostic]:
        if self._is_readable is None:
            self._is_readable = _can_be_read(self._function, set())
        key = str(described)
        if key not in self._known and self._is_readable:
            self._known[key] = _errors_of(self._function, described, target, options)
        return self._known.get(key, [])


def _debugs(refused: Diagnostic) -> bool:
    """Whether it is Python's own means to look at a running kernel: `breakpoint()`, `print(f"{x}")`."""
    if refused.code == "format-not-constant":
        line = linecache.getline(refused.file, refused.line)
        return re.search(r"(?<![\w.])print\(", line) is not None
    return refused.message.startswith("breakpoint is not defined")


def warn(refused: list[Diagnostic]) -> None:
    for each in refused:
        if _debugs(each):
            continue
        text = f"interpreter mode runs this, compilation refuses it: {each.message} [{each.code}]"
        warnings.warn_explicit(text, RefusedWhenCompiled, each.file or "<kernel>", each.line)


def at(refused: list[Diagnostic], file: str, first: int, last: int) -> Diagnostic | None:
    """The error that compilation has at the lines of an expression where interpreter mode fails: it knows what the user
    wrote, and Python's own message speaks of the objects of this mode.
    """
    found = (each for each in refused if each.file == file and first <= each.line <= last)
    return min(found, key=lambda each: each.line, default=None)
