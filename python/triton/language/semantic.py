"""The `_semantic` argument of built-ins written in Python: the compilation that called them."""

# SPDX-License-Identifier: MIT
#
# Every method calls a built-in or an operator of the compiler; none implements semantics itself.
from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

from .._lazy import lazy_names
from .values import constexpr, tensor

_BINARY = {
    "add": "+",
    "sub": "-",
    "mul": "*",
    "truediv": "/",
    "floordiv": "//",
    "mod": "%",
    "and": "&",
    "or": "|",
    "xor": "^",
    "lshift": "<<",
    "rshift": ">>",
}
_COMPARE = {"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">="}
_UNARY = {"neg": "-", "pos": "+", "invert": "~", "not": "not"}

# Names under which extensions call operators.
_ALIASES = {
    "and_": "and",
    "or_": "or",
    "xor_": "xor",
    "shl": "lshift",
    "ashr": "rshift",
    "lshr": "rshift",
    "equal": "eq",
    "not_equal": "ne",
    "less_than": "lt",
    "less_equal": "le",
    "greater_than": "gt",
    "greater_equal": "ge",
    "minus": "neg",
    "plus": "pos",
    "not_": "not",
}


class IncompatibleTypeErrorImpl(Exception):
    """Two types that no operation accepts together."""

    def __init__(self, type_a: Any, type_b: Any):
        self.type_a, self.type_b = type_a, type_b
        self.message = f"invalid operands of type {type_a!r} and {type_b!r}"
        super().__init__(self.message)


class Semantic:
    """The compiler during one call. It is invalid once that call has returned."""

    tensor = tensor

    def __init__(self, native: Any):
        self._native = native

    @property
    def builder(self) -> Any:
        """Has only the options of the compilation; IR is created through built-ins."""
        return SimpleNamespace(options=SimpleNamespace(**self._native.options()))

    def call_builtin(self, module: str, name: str, args: Any, kwargs: dict[str, Any]) -> Any:
        """A function of the language by the module and name of its table entry."""
        if module == "triton.language.tensor" and name.startswith("__"):
            return self._operator(name.strip("_"), args)
        return self._native.call_builtin(module, name, tuple(args), kwargs)

    def call_function(self, fn: Any, args: Any = (), kwargs: Any = None) -> Any:
        """A function decorated with `triton.jit`."""
        return self._native.call_function(fn, tuple(args), kwargs or {})

    call_JitFunction = call_function  # noqa: N815  (as extensions call it on `_generator`)

    def _operator(self, name: str, args: Any) -> Any:
        if name == "getitem":
            held, index = args
            return self._native.item(held, (None,) if index is None else index)
        if name in _UNARY:
            return self._native.unary(_UNARY[name], *args)
        if name in _COMPARE:
            return self._native.compare(_COMPARE[name], *args)
        left, right = args
        if name not in _BINARY:
            name, left, right = name.removeprefix("r"), right, left
        return self._native.binary(_BINARY[name], left, right)

    def to_tensor(self, x: Any, check_type: bool = True) -> Any:
        return self.call_builtin("triton.language", "to_tensor", (x,), {})

    def scalar_constant(self, value: Any, dtype: Any) -> Any:
        return self.full([], value, dtype)

    make_scalar = scalar_constant

    def splat(self, value: Any, shape: Any) -> Any:
        return self.call_builtin("triton.language", "broadcast_to", (value, list(shape)), {})

    def broadcast_impl_shape(self, x: Any, shape: Any) -> Any:
        return self.splat(x, shape)

    def broadcast_impl_value(self, x: Any, y: Any) -> Any:
        return self.call_builtin("triton.language", "broadcast", (x, y), {})

    def bitcast(self, x: Any, dtype: Any) -> Any:
        return self.call_builtin("triton.language", "cast", (x, dtype), {"bitcast": True})

    def logical_and(self, x: Any, y: Any) -> Any:
        return self._operator("and", (self._as_bool(x), self._as_bool(y)))

    def logical_or(self, x: Any, y: Any) -> Any:
        return self._operator("or", (self._as_bool(x), self._as_bool(y)))

    def _as_bool(self, x: Any) -> Any:
        known = isinstance(x, tensor) and x.dtype.is_int1()
        return x if known else self._operator("ne", (x, 0))

    def __getattr__(self, name: str) -> Callable[..., Any]:
        from . import core

        operator = _ALIASES.get(name, name)
        if operator in _BINARY or operator in _COMPARE or operator in _UNARY:
            # A flag such as `sanitize_overflow` may follow; it does not change the result.
            count = 1 if operator in _UNARY else 2
            return lambda *args, **_: self._operator(operator, args[:count])
        if name in core.BUILTINS["triton.language"]:
            return lambda *args, **kwargs: self.call_builtin("triton.language", name, args, kwargs)
        raise AttributeError(
            f"`_semantic` has no method `{name}`; it has the names of `triton.language`"
        )


def _wrapped(value: Any) -> Any:
    """Wraps constants for Python code that was written for kernels. Called by the native module."""
    if value is None or isinstance(value, (bool, int, float, str)):
        return constexpr(value)
    return value


__getattr__ = lazy_names(
    __name__,
    {
        "triton.language.semantic": "TritonSemantic=Semantic TensorTy=tensor",
        "triton._function_names": "T",
        "triton.runtime.driver": "driver",
        "triton._C.libtriton": "ir",
        "triton.language": "tl=",
    },
)
