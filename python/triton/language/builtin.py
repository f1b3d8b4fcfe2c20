"""The Python names of the compiler's built-in functions, and the decorators for built-ins that
others write in Python.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .values import OUTSIDE_OF_KERNEL, _unwrap_if_constexpr, active_semantic, tensor

if TYPE_CHECKING:
    import inspect


class Builtin:
    """One function of the kernel language, as the compiler's own table describes it.

    Kernels call it by name; host code may call it only while a kernel is compiled, with that
    compilation's `_semantic`.
    """

    __triton_builtin__ = True

    def __init__(self, entry: dict[str, Any]):
        self.__name__ = entry["name"]
        self.__qualname__ = entry["name"]
        self.__module__ = entry["module"]
        self.__doc__ = entry["doc"]
        self._params = entry["params"]

    def __call__(self, *args: Any, _semantic: Any = None, **kwargs: Any) -> Any:
        _semantic = _semantic or active_semantic()
        if _semantic is None:
            raise ValueError(OUTSIDE_OF_KERNEL)
        return _semantic.call_builtin(self.__module__, self.__name__, args, kwargs)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else functools.partial(self, instance)

    @functools.cached_property
    def __signature__(self) -> inspect.Signature:
        import inspect

        kind = inspect.Parameter
        parameters = []
        for name, default in self._params:
            if name.startswith("*"):
                parameters.append(kind(name[1:], kind.VAR_POSITIONAL))
                continue
            after_star = any(parameter.kind == kind.VAR_POSITIONAL for parameter in parameters)
            value = kind.empty if default is None else _default_value(default)
            parameters.append(
                kind(
                    name,
                    kind.KEYWORD_ONLY if after_star else kind.POSITIONAL_OR_KEYWORD,
                    default=value,
                )
            )
        parameters.append(kind("_semantic", kind.KEYWORD_ONLY, default=None))
        return inspect.Signature(parameters)

    def __reduce__(self) -> tuple[Any, ...]:
        return _named, (self.__module__, self.__name__)

    def __repr__(self) -> str:
        return f"<function {self.__module__}.{self.__name__}>"


def _named(module: str, name: str) -> Any:
    import importlib

    return getattr(importlib.import_module(module), name)


def _default_value(text: str) -> Any:
    """The object for a default's text: a literal, or a name of the language such as `float32`."""
    import ast

    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        from .. import language

        return functools.reduce(getattr, text.removeprefix("tl.").split("."), language)


def builtin(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Marks a Python function as callable from kernels; the compilation is passed as `_semantic`.
    """

    @functools.wraps(fn)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        if kwargs.get("_semantic") is None:
            kwargs["_semantic"] = active_semantic()
            if kwargs["_semantic"] is None:
                raise ValueError(OUTSIDE_OF_KERNEL)
        return fn(*args, **kwargs)

    wrapper.__triton_builtin__ = True  # type: ignore[attr-defined]
    return wrapper


def extern(fn: Callable[..., Any]) -> Callable[..., Any]:
    """As `builtin`, for functions that end in `dispatch` or `extern_elementwise`."""
    return builtin(fn)


def is_builtin(fn: Any) -> bool:
    return getattr(fn, "__triton_builtin__", False) is True


def _tensor_member_fn(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Makes `fn(x, ...)` available as `x.fn(...)` as well."""
    setattr(tensor, fn.__name__, fn)
    return fn


def must_use_result(message_or_fn: Any, is_error: bool = True) -> Any:
    """Makes dropping the result of a call an error; the message says what to do instead."""
    if isinstance(message_or_fn, str):

        def decorate(fn: Any) -> Any:
            fn._must_use_result = message_or_fn
            return fn

        return decorate
    message_or_fn._must_use_result = is_error
    return message_or_fn


def dispatch(
    func: Any,
    lib_name: str,
    lib_path: str,
    args: list[Any],
    arg_type_symbol_dict: dict[Any, Any],
    ret_type: Any = None,
    is_pure: bool = True,
    _semantic: Any = None,
) -> Any:
    """Calls an external function chosen by the arguments' types (the form that extension modules
    use).
    """
    _semantic = _semantic or active_semantic()
    if _semantic is None:
        raise ValueError(OUTSIDE_OF_KERNEL)
    call = (
        lib_name,
        lib_path,
        [_unwrap_if_constexpr(arg) for arg in args],
        arg_type_symbol_dict,
        is_pure,
    )
    return _semantic.call_builtin("triton.language", "extern_elementwise", call, {})
