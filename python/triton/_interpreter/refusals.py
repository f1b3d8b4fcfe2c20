"""Reports what compilation refuses in a kernel that interpreter mode runs."""

# SPDX-License-Identifier: MIT
#
# Python accepts more than the compiler, and programs in interpreter mode use that to debug: `breakpoint()`, `print` of
# f-strings. The compiler's front end therefore reads each kernel for the types of its launch, and its errors become
# warnings.
from __future__ import annotations

import ast
import types
import warnings
from typing import Any

from ..compiler.errors import CompilationError, Diagnostic
from ..language.builtin import is_builtin
from ..runtime.callable import JITCallable

# Python's own means to look at a running kernel: `breakpoint()`, `print(f"{x}")`.
_DEBUGGING = ("breakpoint is not defined", "Cannot evaluate f-string")
_HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE: the type is made by Python code


class RefusedWhenCompiled(UserWarning):
    """A kernel that runs in interpreter mode, and that compilation refuses."""


def _object(scope: dict[str, Any], path: ast.expr) -> Any:
    if isinstance(path, ast.Name):
        return scope.get(path.id)
    if isinstance(path, ast.Attribute):
        holder = _object(scope, path.value)
        return getattr(holder, path.attr, None) if isinstance(holder, types.ModuleType) else None
    return None


def _is_native(function: Any) -> bool:
    """Whether it is a function in C such as `math.exp` and `numpy.exp`."""
    is_of_python = isinstance(function, (types.FunctionType, types.MethodType))
    return not is_of_python and not type(function).__flags__ & _HEAP_TYPE


def _may_act(function: Any, call: ast.Call) -> bool:
    """Whether a function that the front end would call may do more than compute a value: stop in a debugger, print."""
    if function is None or isinstance(function, (JITCallable, type)) or is_builtin(function):
        return getattr(function, "__name__", "") == "static_print"
    if str(getattr(function, "__module__", "")).startswith("triton."):
        return False
    return not (_is_native(function) and call.args)


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


def warn(refused: list[Diagnostic]) -> None:
    for each in refused:
        if each.message.startswith(_DEBUGGING):
            continue
        text = f"interpreter mode runs this, compilation refuses it: {each.message} [{each.code}]"
        warnings.warn_explicit(text, RefusedWhenCompiled, each.file or "<kernel>", each.line)


def code_at(refused: list[Diagnostic], location: tuple[str, int] | None) -> str:
    """The code of the error that compilation has at a line where interpreter mode fails, as messages end with it."""
    codes = [each.code for each in refused if (each.file, each.line) == location]
    return f" [{codes[0]}]" if codes else ""
