"""Compiles a kernel's function to Python code with its own lines and names, rewritten where the
language differs from Python.

An assignment of a constant number makes a tensor; `and`, `or`, `not` take tiles; `range`, `min` and
`max` take tensors.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import ast
import builtins
import operator
import sys
import types
from collections.abc import Callable
from typing import Any

from ..language.aggregate import is_aggregate
from ..language.values import constexpr, tensor
from . import values
from .rewriting import PREFIX, Rewriter

# --- What rewritten code calls ---------------------------------------------------------------------


def _both(operation: str, thunks: tuple[Callable[[], Any], ...]) -> Any:
    """`and` or `or`: short-circuits on constants, evaluates all tensors."""
    stops = operation == "logical_or"
    result = thunks[0]()
    for thunk in thunks[1:]:
        if isinstance(result, tensor):
            result = getattr(result, operation)(thunk())
        elif bool(result) is stops:
            return result
        else:
            result = thunk()
    return result


def _logical_and(*thunks: Callable[[], Any]) -> Any:
    return _both("logical_and", thunks)


def _logical_or(*thunks: Callable[[], Any]) -> Any:
    return _both("logical_or", thunks)


def _chained(names: tuple[str, ...], left: Any, *thunks: Callable[[], Any]) -> Any:
    """`a < b <= c`: each operand is evaluated once."""
    result: Any = True
    for name, thunk in zip(names, thunks, strict=False):
        right = thunk()
        holds = _COMPARISONS[name](left, right)
        result = (
            holds if result is True else _logical_and(lambda old=result: old, lambda new=holds: new)
        )
        if not isinstance(result, tensor) and not result:
            return result
        left = right
    return result


def _named_lambda(function: Any, text: str) -> Any:
    """Attaches the source text that the compiler reads if an operation takes the function."""
    function.kernel_text = text
    return function


def _callee(function: Any) -> Any:
    """The callable of a call: an aggregate, or a built-in that others wrote in Python, is passed
    `_semantic`.
    """
    is_builtin = isinstance(function, types.FunctionType) and hasattr(
        function, "__triton_builtin__"
    )
    if not is_builtin and not is_aggregate(function):
        return function
    from .session import as_constant, current

    def call(*args: Any, **keywords: Any) -> Any:
        named = {name: as_constant(item) for name, item in keywords.items()}
        return function(*map(as_constant, args), _semantic=current().semantic, **named)

    return call


def _negated(value: Any) -> Any:
    from .session import current

    return current().unary("not", value) if isinstance(value, tensor) else not value


def _is(left: Any, right: Any) -> bool:
    return getattr(left, "value", left) is getattr(right, "value", right)


def _value(holder: Any) -> Any:
    """`X.value` of a compile-time parameter, which is a plain value here."""
    return holder.value if hasattr(holder, "value") else holder


def _checked(condition: Any, message: Any = "") -> None:
    """The statement `assert`."""
    from .. import language

    language.device_assert(condition, message)


def _loop(place: Any, frame: types.FrameType) -> Any:
    return frame.f_code, id(frame), place


def _enter(place: Any) -> None:
    from .session import current

    current().scheduler.enter_loop(_loop(place, sys._getframe(1)))


def _iterate(place: Any, names: tuple[str, ...]) -> None:
    """The condition of a `while` is about to be evaluated, which `names` decide on."""
    from .session import current

    frame = sys._getframe(1)
    current().scheduler.iterate(_loop(place, frame), map(frame.f_locals.get, names))


def _tested(place: Any, _: None, condition: Any) -> bool:
    from .session import current

    holds = bool(condition)
    if not holds:
        current().scheduler.leave_loop(_loop(place, sys._getframe(1)))
    return holds


_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "Eq": operator.eq,
    "NotEq": operator.ne,
    "Lt": operator.lt,
    "LtE": operator.le,
    "Gt": operator.gt,
    "GtE": operator.ge,
    "Is": _is,
    "IsNot": lambda left, right: not _is(left, right),
    "In": lambda left, right: left in right,
    "NotIn": lambda left, right: left not in right,
}

_SUPPORT = {
    "callee": _callee,
    "chained": _chained,
    "lambda": _named_lambda,
    "decayed": values.decayed,
    "decayed_but": values.decayed_but,
    "and": _logical_and,
    "or": _logical_or,
    "not": _negated,
    "is": _is,
    "value": _value,
    "assert": _checked,
    "enter": _enter,
    "iterate": _iterate,
    "tested": _tested,
}


# --- Code ------------------------------------------------------------------------------------------


def _shift_locations(tree: ast.AST, line: int, column: int) -> None:
    """Shifts every node to its position in the file."""
    for node in ast.walk(tree):
        if hasattr(node, "lineno"):
            node.lineno += line - 1
            node.end_lineno += line - 1
            node.col_offset += column
            node.end_col_offset += column


def _code_named(code: types.CodeType, name: str) -> types.CodeType:
    return next(
        item for item in code.co_consts if isinstance(item, types.CodeType) and item.co_name == name
    )


def code_of(function: Any) -> types.CodeType:
    """The code of an interpreted function. An enclosing function defines the names of its closure.
    Without source text it is Python's own code.
    """
    if not function.src:
        return function.fn.__code__
    tree = ast.parse(function.src)
    definition: Any = tree.body[0]
    definition.decorator_list = []
    # Defaults and annotations belong to the function object.
    definition.returns = None
    given = definition.args
    for argument in (*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg):
        if argument is not None:
            argument.annotation = None
    given.defaults = [ast.copy_location(ast.Constant(None), item) for item in given.defaults]
    _shift_locations(definition, function.def_file_line_number, function.def_file_col_number)
    definition.body = _rewritten(definition)
    # A distinct name: a name that the body reads then does not resolve to the function itself.
    definition.name = PREFIX + "body"
    free = function.fn.__code__.co_freevars
    outer: list[ast.stmt] = [definition]
    if free:
        outer.insert(
            0, ast.Assign([ast.Name(name, ast.Store()) for name in free], ast.Constant(None))
        )
    around = ast.FunctionDef(
        PREFIX + "scope", ast.arguments([], [], None, [], [], None, []), outer, [], None
    )
    if "type_params" in ast.FunctionDef._fields:
        around.type_params = []
    module = ast.Module([ast.copy_location(around, definition)], [])
    whole = compile(ast.fix_missing_locations(module), function.file_name, "exec")
    code = _code_named(_code_named(whole, around.name), definition.name)
    names = {"co_name": function.__name__}
    if hasattr(code, "co_qualname"):
        names["co_qualname"] = function.__qualname__
    return code.replace(**names)


def _rewritten(definition: Any) -> list[ast.stmt]:
    rewriter = Rewriter()
    module = ast.Module(definition.body, [])
    return rewriter.generic_visit(module).body


class Body:
    """The code of an interpreted function, compiled once."""

    def __init__(self, function: Any):
        self.function = function
        self.code = code_of(function)

    def bound(self) -> Callable[..., Any]:
        """A Python function with the current globals and closure."""
        fn = self.function.fn
        scope = {**fn.__globals__, **{PREFIX + name: item for name, item in _SUPPORT.items()}}
        scope["__builtins__"] = {**vars(builtins), **_BUILTINS}
        cells = dict(zip(fn.__code__.co_freevars, fn.__closure__ or (), strict=False))
        closure = tuple(cells[name] for name in self.code.co_freevars)
        made = types.FunctionType(self.code, scope, fn.__name__, fn.__defaults__, closure)
        made.__kwdefaults__ = fn.__kwdefaults__
        return made


# --- Names of Python that mean more in a kernel ----------------------------------------------------


def _range(*bounds: Any) -> Any:
    from .session import current

    return current().loop_values(bounds)


def _extreme(name: str, otherwise: Callable[..., Any]) -> Callable[..., Any]:
    def choose(*args: Any, **keywords: Any) -> Any:
        if not any(isinstance(arg, tensor) for arg in args):
            return otherwise(
                *(arg.value if isinstance(arg, constexpr) else arg for arg in args), **keywords
            )
        from .. import language

        result = args[0]
        for arg in args[1:]:
            result = getattr(language, name)(result, arg)
        return result

    return choose


_BUILTINS = {"range": _range, "min": _extreme("minimum", min), "max": _extreme("maximum", max)}
