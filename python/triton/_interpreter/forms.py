"""Forms: the arguments of a call with the operands replaced by placeholders. One kernel computes
all calls of equal form.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import builtins
import inspect
import types
from collections.abc import Iterator
from typing import Any

from .._C.libtriton import field_names
from .._utils import is_namedtuple
from ..language.aggregate import aggregate_value
from ..language.values import constexpr, tensor
from ..language.values import tuple as tl_tuple
from ..runtime.callable import JITCallable
from ..runtime.dependencies import class_key
from ..runtime.jit import JITFunction
from .values import HostArgument, Tensor, kind_of


class Placeholder:
    """The position of an operand in a form."""

    def __init__(self, kind: Any):
        self.kind = kind

    def __hash__(self) -> int:
        return hash(self.kind)

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, Placeholder) and self.kind == other.kind

    def __repr__(self) -> str:
        return f"<{self.kind}>"


class _LambdaFunction(JITFunction):
    """A lambda of a program, compiled from the source text attached to it."""

    def _read_source(self) -> None:
        code = self.fn.__code__
        self.signature = inspect.signature(self.fn)
        self._src = self.fn.kernel_text
        self.raw_src = self._src.splitlines(keepends=True)
        self.file_name = code.co_filename
        self.starting_line_number = self.def_file_line_number = code.co_firstlineno
        self.def_file_col_number = 0


def _compiled_function(function: Any) -> Any:
    """The compiler's object for a function that a program defines, such as a `combine_fn`."""
    return (_LambdaFunction if hasattr(function, "kernel_text") else JITFunction)(function)


# --- Forms: the arguments of a call with the operands taken out ------------------------------------


def form_of(value: Any, operands: list[Any]) -> Any:
    """The form of a value. One kernel computes all calls of equal form. The operands are appended
    to the list, in order.
    """
    if isinstance(value, constexpr):
        value = value.value
    if isinstance(value, Tensor):
        operands.append(value)
        return Placeholder(value.kind)
    if isinstance(value, HostArgument):
        operands.append(value)
        return Placeholder(("host", value.signature))
    kind = type(value)
    if kind in (int, bool, str, bytes) or value is None:
        return ("constant", kind, value)
    if kind is float:
        return ("float", value.hex())
    if kind is builtins.slice:
        return ("slice", form_of((value.start, value.stop, value.step), operands))
    if isinstance(value, tl_tuple):
        return ("tuple", tuple, tuple(form_of(item, operands) for item in value))
    if isinstance(value, (tuple, list)):
        cls = kind if is_namedtuple(value) else tuple
        return ("tuple", cls, tuple(form_of(item, operands) for item in value))
    if kind is dict:
        return ("dict", form_of(tuple(value.items()), operands))
    names = field_names(kind)
    if names is not None:
        return ("object", kind, tuple(form_of(getattr(value, name), operands) for name in names))
    if kind is types.FunctionType and not hasattr(value, "__triton_builtin__"):
        return ("constant", kind, _compiled_function(value))
    if isinstance(value, tensor):  # `tl.tensor(x.handle, tl.uint32)`: the same bits as another type
        operands.append(Tensor(value.handle, kind_of(value.type)))
        return Placeholder(operands[-1].kind)
    return ("constant", kind, value)


def rebuilt(form: Any, operands: Iterator[Any]) -> Any:
    """The value of a form with these operands."""
    if isinstance(form, Placeholder):
        return next(operands)
    tag, *content = form
    if tag == "constant":
        return content[1]
    if tag == "float":
        return float.fromhex(content[0])
    if tag == "slice":
        return builtins.slice(*rebuilt(content[0], operands))
    if tag == "dict":
        return dict(rebuilt(content[0], operands))
    cls, forms = content
    items = [rebuilt(item, operands) for item in forms]
    if tag == "tuple":
        return tuple(items) if cls is tuple else cls(*items)
    if issubclass(cls, aggregate_value):
        return cls._from_fields(items)
    made = object.__new__(cls)
    for name, item in zip(field_names(cls), items, strict=True):
        object.__setattr__(made, name, item)
    return made


def text_of(form: Any) -> str:
    """A text that identifies a form in every process."""
    if isinstance(form, tuple):
        return f"({', '.join(map(text_of, form))})"
    if isinstance(form, JITCallable):
        return f"{form.__module__}.{form.__qualname__} {form.cache_key}"
    if isinstance(form, type):
        return class_key(form)
    return repr(form)
