"""Compiles one operation of the language to a kernel at its first use; cached by the operation and
the types of its operands.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import ctypes
import hashlib
import math
import os
import re
from typing import Any

from .._utils import is_namedtuple
from ..language.aggregate import aggregate_value
from ..language.builtin import builtin
from ..language.signature_types import str_to_ty
from ..language.values import constexpr, tensor
from ..language.values import tuple as tl_tuple
from ..runtime.jit import JITFunction
from .forms import Placeholder, form_of, rebuilt, text_of
from .values import HostArgument, Kind, Tensor, bytes_of, kind_of

# ("builtin", module, name), ("binary", "+"), ("function", <JITFunction>) ...
Operation = tuple[Any, ...]

# A location in this file within a message of a running kernel, which means nothing to the user.
LOCATION = re.compile(re.escape(os.path.basename(__file__)).join([r"\S*", r":\d+: "]))


# --- The kernel of one operation -------------------------------------------------------------------


class Call:
    """The computation of the kernel of one operation: the constant by which such kernels differ."""

    def __init__(self, operation: Operation, arguments: Any, keywords: Any, kinds: list[Any]):
        self.operation, self.arguments, self.keywords = operation, arguments, keywords
        self.kinds = kinds  # of the operands
        self.results: Any = None  # form of the result, once it is known
        self.failure: Exception | None = None
        text = text_of((operation, arguments, keywords))
        self.cache_key = hashlib.sha256(text.encode()).hexdigest()

    def __repr__(self) -> str:
        name = self.operation[-1]
        return f"<call {getattr(name, '__name__', name)}>"

    def perform(self, semantic: Any, operands: list[Any]) -> Any:
        values = iter(operands)
        args = rebuilt(self.arguments, values)
        keywords = {name: rebuilt(form, values) for name, form in self.keywords}
        what, *which = self.operation
        if what == "builtin":
            return semantic.call_builtin(*which, args, keywords)
        if what == "function":
            return semantic.call_function(which[0], args, keywords)
        if what == "value":
            return args[0]
        native = semantic._native
        return getattr(native, what)(*which, *args)


def _loaded(semantic: Any, pointer: Any, kind: Kind) -> Any:
    text, shape = kind
    count = math.prod(shape)
    at = semantic.add(pointer, semantic.arange(0, count)) if shape else pointer
    value = semantic.load(at)
    if text.startswith("*"):
        value = semantic.cast(value, str_to_ty(text, None))
    return semantic.reshape(value, list(shape)) if len(shape) > 1 else value


def _stored(semantic: Any, pointer: Any, value: Any) -> None:
    count = math.prod(value.type.shape) if value.type.is_block() else 0
    if value.dtype.is_ptr():
        value = semantic.cast(value, str_to_ty("i64", None))
    if count:
        value = semantic.reshape(value, [count])
        pointer = semantic.add(pointer, semantic.arange(0, count))
    semantic.store(pointer, value)


def _result_form(value: Any, leaves: list[Any]) -> Any:
    if isinstance(value, constexpr):
        value = value.value
    if isinstance(value, tensor):
        leaves.append(value)
        return Placeholder(kind_of(value.type))
    if isinstance(value, (tl_tuple, tuple)):
        cls = type(value) if is_namedtuple(value) else tuple
        return ("tuple", cls, tuple(_result_form(item, leaves) for item in value))
    if isinstance(value, aggregate_value):
        fields = [_result_form(getattr(value, name), leaves) for name in type(value).__aggregate_fields__]
        return ("object", type(value), tuple(fields))
    return ("constant", type(value), value)


@builtin
def _emit(inputs: Any, outputs: Any, call: Any, _semantic: Any = None) -> None:
    """Reads the operands, performs the call, and writes its results to the output pointers."""
    call = getattr(call, "value", call)
    try:
        operands = [
            item if kind[0] == "host" else _loaded(_semantic, item, kind) for item, kind in zip(inputs, call.kinds, strict=False)
        ]
        leaves: list[Any] = []
        call.results = _result_form(call.perform(_semantic, operands), leaves)
        for pointer, leaf in zip(outputs, leaves, strict=False):
            _stored(_semantic, pointer, leaf)
    except Exception as error:
        call.failure = error
        raise


def _operation(inputs, outputs, CALL):  # noqa: N803
    _emit(inputs, outputs, CALL)


_kernel = JITFunction(_operation)


def _memory_signature(kind: Any) -> Any:
    if kind[0] == "host":
        return kind[1]
    return "*i64" if kind[0].startswith("*") else f"*{kind[0]}"


def _result_kinds(form: Any) -> list[Kind]:
    if isinstance(form, Placeholder):
        return [form.kind]
    return [kind for item in form[2] for kind in _result_kinds(item)] if form[0] in ("tuple", "object") else []


class CompiledOperation:
    """The kernel of one operation, for operands of certain types."""

    def __init__(self, call: Call, target: Any, options: dict[str, Any]):
        self.call = call
        inputs = tuple(map(_memory_signature, call.kinds))
        self._describe(inputs, target, options)
        self.results = call.results
        self.kinds = _result_kinds(self.results)
        outputs = tuple(map(_memory_signature, self.kinds))
        self.kernel = self._compiled(inputs, outputs, target, options)
        self.sizes = [bytes_of(kind) for kind in self.kinds]

    def _source(self, inputs: Any, outputs: Any) -> Any:
        from ..compiler import ASTSource

        signature = {"inputs": inputs, "outputs": outputs, "CALL": "constexpr"}
        return ASTSource(_kernel, signature, {(2,): self.call})

    def _describe(self, inputs: Any, target: Any, options: dict[str, Any]) -> None:
        """Determines the types of the results, by making the kernel's IR without outputs."""
        from .._C import libtriton
        from ..compiler import make_backend

        parsed = make_backend(target).parse_options(options)
        try:
            self._source(inputs, ()).make_ir(target, parsed, None, None, libtriton.ir.context())
        except Exception as error:
            raise (self.call.failure or error) from None

    def _compiled(self, inputs: Any, outputs: Any, target: Any, options: dict[str, Any]) -> Any:
        from ..compiler import compile  # noqa: A004

        kernel = compile(self._source(inputs, outputs), target=target, options=options, _folder_view=False)
        kernel._init_handles()
        return kernel.function

    def run(self, grid: Any, program: Any, operands: list[Any]) -> Any:
        given = tuple(
            item.value if isinstance(item, HostArgument) else item.address for item in operands
        )
        memories = [ctypes.create_string_buffer(size) for size in self.sizes]
        addresses = tuple(map(ctypes.addressof, memories))
        self.kernel.launch_program(grid, program, (given, addresses, self.call))
        return rebuilt(self.results, map(Tensor, memories, self.kinds))


_made: dict[Any, CompiledOperation] = {}


def compiled_operation(
    operation: Operation,
    args: Any,
    keywords: dict[str, Any],
    target: Any,
    options: dict[str, Any],
) -> tuple[CompiledOperation, list[Any]]:
    """The kernel for a call of an operation, and the operands in its arguments."""
    operands: list[Any] = []
    arguments = form_of(tuple(args), operands)
    named = tuple((name, form_of(value, operands)) for name, value in keywords.items())
    key = (operation, arguments, named, tuple(sorted(options.items())))
    made = _made.get(key)
    if made is None:
        kinds = [
            item.kind if isinstance(item, Tensor) else ("host", item.signature) for item in operands
        ]
        made = _made[key] = CompiledOperation(Call(operation, arguments, named, kinds), target, options)
    return made, operands
