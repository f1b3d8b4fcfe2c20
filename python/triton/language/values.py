"""Host objects that represent values of kernels: constexpr, tuple, tensor."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import builtins
import contextlib
import enum
import operator
import threading
from collections.abc import Callable, Iterator
from typing import Any

from .dtypes import base_type, block_type, dtype, int32, int64, pointer_type

OUTSIDE_OF_KERNEL = (
    "Did you forget to add @triton.jit ? "
    "(`_semantic` argument must be provided outside of JIT functions.)"
)


class _Active(threading.local):
    semantic: Any = None


_active = _Active()


def active_semantic() -> Any:
    """The object that executes operations for Python code of this thread that runs a kernel's body;
    None elsewhere.
    """
    return _active.semantic


@contextlib.contextmanager
def semantic_for_host(semantic: Any) -> Iterator[None]:
    """Operations of this thread without a `_semantic` argument use this one."""
    before, _active.semantic = _active.semantic, semantic
    try:
        yield
    finally:
        _active.semantic = before


class PropagateNan(enum.IntEnum):
    """The operand that a minimum or maximum returns when one of them is NaN."""

    NONE = 0
    ALL = 0xFFFF


class const:
    """Annotation of a pointer parameter that the kernel only reads."""


class base_value:
    """Base class of all values."""

    type: base_type


class constexpr_type(base_type):
    """The type of one compile-time value."""

    def __init__(self, value: Any):
        self.value = value

    def mangle(self) -> str:
        return f"c{self.value.mangle() if hasattr(self.value, 'mangle') else repr(self.value)}"

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, constexpr_type) and self.value == other.value

    def __hash__(self) -> int:
        return hash(self.value)

    def __repr__(self) -> str:
        return f"constexpr_type[{self.value}]"


class constexpr(base_value):
    """A value known while a kernel is compiled."""

    def __init__(self, value: Any):
        while isinstance(value, constexpr):
            value = value.value
        self.value: Any = value
        self.type = constexpr_type(value)

    def __repr__(self) -> str:
        return f"constexpr[{self.value}]"

    def __hash__(self) -> int:
        return hash((self.value, self.type))

    def __bool__(self) -> bool:
        return bool(self.value)

    def __index__(self) -> int:
        return operator.index(self.value)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.value)

    def __len__(self) -> int:
        return len(self.value)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.value(*args, **kwargs)

    def __getitem__(self, index: Any) -> Any:
        return self.value[_unwrap_if_constexpr(index)]

    def __neg__(self) -> constexpr:
        return constexpr(-self.value)

    def __pos__(self) -> constexpr:
        return constexpr(+self.value)

    def __invert__(self) -> constexpr:
        return constexpr(~self.value)

    def logical_and(self, other: Any) -> constexpr:
        return constexpr(self.value and _unwrap_if_constexpr(other))

    def logical_or(self, other: Any) -> constexpr:
        return constexpr(self.value or _unwrap_if_constexpr(other))

    def not_(self) -> constexpr:
        return constexpr(not self.value)


def _forward(function: Callable[[Any, Any], Any]) -> Callable[[constexpr, Any], constexpr]:
    return lambda self, other: constexpr(function(self.value, _unwrap_if_constexpr(other)))


def _reflected(function: Callable[[Any, Any], Any]) -> Callable[[constexpr, Any], constexpr]:
    return lambda self, other: constexpr(function(_unwrap_if_constexpr(other), self.value))


_ARITHMETIC = {
    "add": operator.add,
    "sub": operator.sub,
    "mul": operator.mul,
    "truediv": operator.truediv,
    "mod": operator.mod,
    "floordiv": operator.floordiv,
    "pow": operator.pow,
    "and": operator.and_,
    "or": operator.or_,
    "xor": operator.xor,
    "lshift": operator.lshift,
    "rshift": operator.rshift,
}
for _name, _function in _ARITHMETIC.items():
    setattr(constexpr, f"__{_name}__", _forward(_function))
    setattr(constexpr, f"__r{_name}__", _reflected(_function))
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(constexpr, f"__{_name}__", _forward(getattr(operator, _name)))


def _unwrap_if_constexpr(value: Any) -> Any:
    """The plain Python value of a constexpr, also inside lists and tuples; else the value."""
    if isinstance(value, constexpr):
        return value.value
    if isinstance(value, list):
        return [_unwrap_if_constexpr(item) for item in value]
    if isinstance(value, builtins.tuple):
        items = [_unwrap_if_constexpr(item) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else builtins.tuple(items)
    if isinstance(value, tuple):
        return builtins.tuple(_unwrap_if_constexpr(item) for item in value.values)
    return value


class tuple_type(base_type):
    """Types of a tuple's elements, with field names for a namedtuple."""

    def __init__(self, types: list[Any], fields: Any = None):
        self.types = list(types)
        self.fields = list(fields or [""] * len(types))
        self.name = "[" + ",".join(str(item) for item in types) + "]"

    def mangle(self) -> str:
        return "T" + "_".join(item.mangle() for item in self.types) + "T"

    def __iter__(self) -> Iterator[Any]:
        return iter(self.types)

    def __getitem__(self, index: int) -> Any:
        return self.types[index]

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, tuple_type) and (self.types, self.fields) == (
            other.types,
            other.fields,
        )

    def __hash__(self) -> int:
        return hash((builtins.tuple(self.types), builtins.tuple(self.fields)))

    def __str__(self) -> str:
        return self.name

    __repr__ = __str__


class tuple(base_value):  # noqa: A001  (the language's name)
    """Several values as one."""

    def __init__(self, args: Any, type: Any = None):  # noqa: A002
        self.values = [item for item in args]
        self.type = type or tuple_type(
            [getattr(item, "type", constexpr_type(item)) for item in self.values]
        )

    def __getitem__(self, index: Any) -> Any:
        index = _unwrap_if_constexpr(index)
        if isinstance(index, (builtins.slice, slice)):
            return tuple(self.values[builtins.slice(index.start, index.stop, index.step)])
        return self.values[index]

    def __getattr__(self, name: str) -> Any:
        fields = self.__dict__["type"].fields if "type" in self.__dict__ else ()
        if name in fields:
            return self.values[list(fields).index(name)]
        raise AttributeError(name)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.values)

    def __len__(self) -> int:
        return len(self.values)

    def __add__(self, other: Any) -> tuple:
        return tuple(self.values + list(other))

    def __mul__(self, other: Any) -> tuple:
        return tuple(self.values * _unwrap_if_constexpr(other))

    def __eq__(self, other: Any) -> Any:
        if not isinstance(other, (tuple, builtins.tuple, list)):
            return NotImplemented
        return constexpr(list(self) == list(other))

    def __hash__(self) -> int:
        return hash(builtins.tuple(self.values))

    def __repr__(self) -> str:
        return f"({', '.join(str(item) for item in self.values)})"


class slice_type(base_type):
    """Of a `slice`."""

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, slice_type)

    def __hash__(self) -> int:
        return hash("slice_type")

    def __str__(self) -> str:
        return "slice_type"


class slice:  # noqa: A001  (the language's name)
    """`start:stop:step` in a subscript."""

    def __init__(self, start: Any, stop: Any, step: Any):
        self.start, self.stop, self.step = start, stop, step
        self.type = slice_type()


class tensor(base_value):
    """A value of a kernel under compilation. Built-ins written in Python receive it while they run;
    it is invalid afterwards.
    """

    def __init__(self, handle: Any, type: Any):  # noqa: A002
        self.handle = handle
        self.type = type
        self.shape = tuple(
            [constexpr(extent) for extent in (type.shape if type.is_block() else ())]
        )
        self.numel = constexpr(type.numel if type.is_block() else 1)
        self.dtype = type.scalar

    def __str__(self) -> str:
        return f"{self.dtype}[{', '.join(str(extent) for extent in self.shape)}]"


def _needs_semantic(name: str) -> Callable[..., Any]:
    def apply(self: tensor, *args: Any, _semantic: Any = None) -> Any:
        _semantic = _semantic or active_semantic()
        if _semantic is None:
            raise ValueError(OUTSIDE_OF_KERNEL)
        return _semantic.call_builtin("triton.language.tensor", name, (self, *args), {})

    apply.__name__ = name
    return apply


for _name in [
    f"__{prefix}{name}__" for name in _ARITHMETIC if name != "pow" for prefix in ("", "r")
]:
    setattr(tensor, _name, _needs_semantic(_name))
for _name in ("eq", "ne", "lt", "le", "gt", "ge", "neg", "invert", "getitem"):
    setattr(tensor, f"__{_name}__", _needs_semantic(f"__{_name}__"))
for _name in ("to", "logical_and", "logical_or"):
    setattr(tensor, _name, _needs_semantic(_name))
tensor.__hash__ = object.__hash__  # type: ignore[method-assign]


class tensor_descriptor_base_type(base_type):
    """A described region of memory: its block."""

    def __init__(self, block_type: block_type):
        self.block_type = block_type

    def mangle(self) -> str:
        return f"TD{self.block_type.mangle()}"

    def __eq__(self, other: Any) -> bool:
        return type(other) is type(self) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash(self.mangle())

    def __str__(self) -> str:
        return f"tensor_descriptor<{self.block_type}>"


class tensor_descriptor_type(tensor_descriptor_base_type):
    """The block, and the types of shape and strides."""

    def __init__(self, block_type: block_type, shape_type: tuple_type, strides_type: tuple_type):
        super().__init__(block_type)
        self.shape_type, self.strides_type = shape_type, strides_type


class tensor_descriptor_base(base_value):
    """Base class of all descriptors, those made on the host and those of a kernel."""

    block_type: block_type


class tensor_descriptor(tensor_descriptor_base):
    """A tensor descriptor inside a kernel."""

    def __init__(self, handle: Any, shape: Any, strides: Any, block_type: block_type):
        self.handle, self.shape, self.strides, self.block_type = handle, shape, strides, block_type
        rank = len(block_type.shape)
        self.type = tensor_descriptor_type(
            block_type, tuple_type([int32] * rank), tuple_type([int64] * rank)
        )

    @property
    def block_shape(self) -> tuple:
        return tuple(self.block_type.shape)

    @property
    def dtype(self) -> dtype:
        return self.block_type.element_ty


def _tensor_type(name: str, shape: Any, pointee: bool, read_only: bool) -> dtype:
    """The type object for a value of the compiler. Called by the native module."""
    scalar = dtype(name)
    if pointee:
        scalar = pointer_type(scalar, 1, read_only)
    return block_type.of_tile(scalar, shape) if shape else scalar
