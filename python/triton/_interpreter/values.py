"""The values of an interpreted program: numbers and tiles in memory, block pointers, descriptors.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import builtins
import ctypes
import functools
import math
import struct
from typing import Any

from .. import language
from .._C import libtriton
from ..language import dtypes
from ..language.signature_types import canonical_name, str_to_ty
from ..language.values import active_semantic, base_value, constexpr, tensor, tensor_descriptor
from ..language.values import tuple as tl_tuple

# The type of a value as a signature spells it, and its extents: () for a number.
Kind = tuple[str, tuple[int, ...]]

_FORMATS = {
    "u1": "?",
    "i8": "b",
    "i16": "h",
    "i32": "i",
    "i64": "q",
    "u8": "B",
    "u16": "H",
    "u32": "I",
    "u64": "Q",
    "fp16": "e",
    "fp32": "f",
    "fp64": "d",
}
_MOST_SHOWN = 1024  # elements of a tile that is printed whole


@functools.cache
def type_of(kind: Kind) -> Any:
    """The type object for a kind."""
    text, shape = kind
    scalar = str_to_ty(text, None)
    return dtypes.block_type.of_tile(scalar, shape) if shape else scalar


def kind_of(type_object: Any) -> Kind:
    """The kind for a type object."""
    shape = tuple(type_object.shape) if type_object.is_block() else ()
    scalar = type_object.scalar
    if scalar.is_ptr():
        return f"*{'k' if scalar.const else ''}{canonical_name(scalar.element_ty.name)}", shape
    return canonical_name(scalar.name), shape


@functools.cache
def bytes_of(kind: Kind) -> int:
    text, shape = kind
    width = 64 if text.startswith("*") else type_of((text, ())).primitive_bitwidth
    return max(width // 8, 1) * math.prod(shape)


class Tensor(tensor):
    """A number or a tile with its elements, row-major, in `handle`: memory of its own."""

    __iter__ = None  # type: ignore[assignment]

    def __init__(self, memory: Any, kind: Kind):
        self.handle, self.kind = memory, kind

    @classmethod
    def empty(cls, kind: Kind) -> Tensor:
        return cls(ctypes.create_string_buffer(bytes_of(kind)), kind)

    @classmethod
    def number(cls, value: Any, text: str) -> Tensor:
        """A scalar of a type that corresponds to a Python number."""
        made = cls.empty((text, ()))
        struct.pack_into(f"={_FORMATS[text]}", made.handle, 0, value)
        return made

    @classmethod
    def pointer(cls, address: int, text: str) -> Tensor:
        made = cls.empty((text, ()))
        struct.pack_into("=Q", made.handle, 0, address)
        return made

    @property
    def address(self) -> int:
        return ctypes.addressof(self.handle)

    @property
    def type(self) -> Any:  # type: ignore[override]
        return type_of(self.kind)

    @property
    def dtype(self) -> Any:  # type: ignore[override]
        return type_of((self.kind[0], ()))

    @property
    def shape(self) -> Any:  # type: ignore[override]
        return tl_tuple([constexpr(extent) for extent in self.kind[1]])

    @property
    def numel(self) -> Any:  # type: ignore[override]
        return constexpr(math.prod(self.kind[1]))

    @property
    def T(self) -> Any:  # noqa: N802  (the language's name)
        return self.trans()

    def numbers(self) -> list[Any]:
        """All elements as Python's numbers, in row-major order."""
        text = self.kind[0]
        count = math.prod(self.kind[1])
        if text.startswith("*"):
            return list(struct.unpack_from(f"={count}Q", self.handle))
        if text in _FORMATS:
            return list(struct.unpack_from(f"={count}{_FORMATS[text]}", self.handle))
        return self.to(dtypes.float32).numbers()  # types that only the compiler can read

    def scalar(self) -> Any:
        """The one element; Python calls this for a number or a truth value."""
        if math.prod(self.kind[1]) != 1:
            raise ValueError(
                f"Boolean value of Tensor with more than one value is ambiguous: it has shape {list(self.kind[1])}"
            )
        return self.numbers()[0]

    def __pos__(self) -> Any:
        return active_semantic()._native.unary("+", self)

    def __bool__(self) -> bool:
        return bool(self.scalar())

    def __int__(self) -> int:
        return int(self.scalar())

    def __float__(self) -> float:
        return float(self.scalar())

    def __index__(self) -> int:
        if not self.dtype.is_int():
            raise TypeError(f"a number of type {self.dtype} is no integer")
        return int(self.scalar())

    def __str__(self) -> str:
        values = [_shown(value, self.kind[0]) for value in self.numbers()]
        return _nested(values, self.kind[1]) if self.kind[1] else values[0]

    def __repr__(self) -> str:
        return f"tensor({self}, {self.type})"

    def __format__(self, spec: str) -> str:
        return format(self.scalar(), spec) if spec else str(self)

    __hash__ = object.__hash__  # type: ignore[assignment]


def _shown(value: Any, text: str) -> str:
    if isinstance(value, float) and text != "fp64" and math.isfinite(value):
        # The fewest digits that identify the float32.
        for digits in range(6, 10):
            short = f"{value:.{digits}g}"
            if struct.pack("f", float(short)) == struct.pack("f", value):
                return repr(float(short))
    return hex(value) if text.startswith("*") else repr(value)


def _nested(values: list[str], shape: tuple[int, ...]) -> str:
    if len(shape) == 1:
        if len(values) > _MOST_SHOWN:
            values = [*values[:3], "...", *values[-3:]]
        return f"[{', '.join(values)}]"
    step = len(values) // shape[0]
    rows = [_nested(values[at : at + step], shape[1:]) for at in range(0, len(values), step)]
    if len(values) > _MOST_SHOWN and len(rows) > 6:
        rows = [*rows[:3], "...", *rows[-3:]]
    return f"[{', '.join(rows)}]"


def natural(value: Any) -> Tensor:
    """A constant number as a tensor of its natural type."""
    text = libtriton.natural_type(value)
    if text is None:
        raise ValueError(f"integer {value} does not fit in 64 bits; no Triton type holds it")
    return Tensor.number(value, text)


def decayed(value: Any) -> Any:
    """The value that an assignment binds: constant numbers become tensors, also in tuples."""
    if isinstance(value, constexpr):
        value = value.value
    if isinstance(value, (bool, int, float)) and type(value) in (bool, int, float):
        return natural(value)
    if isinstance(value, (builtins.tuple, list)) and (type(value) in (builtins.tuple, list)):
        return type(value)(map(decayed, value))
    if isinstance(value, builtins.tuple) and hasattr(value, "_fields"):
        return type(value)(*map(decayed, value))  # type: ignore[call-arg]
    return value


def decayed_but(value: Any, kept: Any) -> Any:
    """The same for an assignment to several names; `kept` is True for those that hold constants."""
    if kept is True:
        return value
    if isinstance(kept, builtins.tuple) and len(kept) == len(value):
        return builtins.tuple(map(decayed_but, value, kept))
    return decayed(value)


class BlockPointer(base_value):
    """The fields from which operations on a block rebuild its pointer."""

    def __init__(self, base: Any, shape: Any, strides: Any, offsets: Any, block_shape: Any, order: Any):
        self.base, self.shape, self.strides = base, shape, strides
        self.offsets, self.block_shape, self.order = offsets, block_shape, order

    @property
    def type(self) -> Any:  # type: ignore[override]
        return dtypes.pointer_type(
            dtypes.block_type(self.base.dtype.element_ty, list(self.block_shape))
        )

    @property
    def dtype(self) -> Any:
        return self.type

    def load(self, *args: Any, **keywords: Any) -> Any:
        return language.load(self, *args, **keywords)

    def store(self, *args: Any, **keywords: Any) -> Any:
        return language.store(self, *args, **keywords)

    def advance(self, offsets: Any) -> Any:
        return language.advance(self, offsets)

    @property
    def parts(self) -> tuple[Any, ...]:
        return (self.base, self.shape, self.strides, self.offsets, self.block_shape, self.order)


class Descriptor(tensor_descriptor):
    """A tensor descriptor: the fields from which operations rebuild it, or the host's own
    descriptor.
    """

    def __init__(self, parts: tuple[Any, ...], shape: Any, strides: Any, block_type: Any):
        super().__init__(None, shape, strides, block_type)
        self.parts = parts


class HostArgument:
    """An argument of the launch as operations receive it, with its type in a signature."""

    def __init__(self, value: Any, signature: Any):
        self.value, self.signature = value, signature
