"""What a Python function's code says: the names that it reads, and a text that changes when it does."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import re
import types
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..callable import JITCallable

_IDENTIFIER = re.compile(r"[^\W\d]\w*")

# Functions and attributes that take the name of an attribute as a string.
_BY_STRING = {"getattr", "hasattr", "vars", "globals", "__dict__", "attrgetter"}


def string_names(constant: Any) -> set[str]:
    if isinstance(constant, str):
        return {constant} if constant.isidentifier() else set(constant.split("."))
    if isinstance(constant, (tuple, frozenset)):
        return set().union(*map(string_names, constant))
    return set()


def code_names(code: types.CodeType) -> set[str]:
    """Names that a function reads from outside, and all attribute names."""
    names = set(code.co_names) | set(code.co_freevars)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= code_names(constant)
    if names & _BY_STRING:
        for constant in code.co_consts:
            names |= string_names(constant)
    return names


def code_text(code: types.CodeType) -> str:
    """Equal for functions that do the same; neither file nor line is part of it. Names are: two
    functions that call different ones have the same instructions.
    """
    constants = [_constant_text(constant) for constant in code.co_consts]
    names = (code.co_names, code.co_varnames, code.co_freevars, code.co_argcount)
    table = getattr(code, "co_exceptiontable", b"")
    return f"{code.co_code.hex()} {table.hex()} {names} {constants}"


def _constant_text(constant: Any) -> str:
    if isinstance(constant, types.CodeType):
        return code_text(constant)
    if isinstance(constant, frozenset):  # iteration order differs between processes
        return f"frozenset{sorted(map(_constant_text, constant))}"
    if isinstance(constant, tuple):
        return f"({', '.join(map(_constant_text, constant))})"
    return repr(constant)


def _read_before_assigned(fn: JITCallable, names: set[str]) -> set[str]:
    """Names that a kernel reads as globals before it assigns them, which Python would not do."""
    import ast

    assigned: set[str] = set()
    found: set[str] = set()
    try:
        waiting: list[ast.AST] = [fn.parse()]
    except RecursionError:  # the compiler says where such a text is nested too deeply
        return names
    while waiting:
        node = waiting.pop()
        target = node.target if isinstance(node, ast.AugAssign) else node
        if isinstance(target, ast.Name):
            is_read = target is not node or isinstance(target.ctx, ast.Load)
            if not is_read:
                assigned.add(target.id)
            elif target.id in names and target.id not in assigned:
                found.add(target.id)
        children = list(ast.iter_child_nodes(node))
        children.sort(key=lambda child: isinstance(getattr(child, "ctx", None), ast.Store))
        waiting += reversed(children)  # targets after the assigned values
    return found


def kernel_names(fn: JITCallable) -> set[str]:
    """The names that a kernel, or a function that kernels call, reads."""
    if fn.fn is None or fn.source_was_replaced:
        return set(_IDENTIFIER.findall(fn.src))
    code = fn.fn.__code__
    own = set(code.co_varnames[code.co_argcount :]) & (fn.__globals__ or {}).keys()
    return code_names(code) | (_read_before_assigned(fn, own) if own else set())
