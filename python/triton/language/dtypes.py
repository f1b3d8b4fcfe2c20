"""The types of values in kernels, as host objects: scalar types, pointers, blocks, tuples,
descriptors.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import enum
import math
from collections.abc import Callable, Sequence
from typing import Any

from .._C import libtriton

TRITON_MAX_TENSOR_NUMEL = 1048576

# name: (kind, bits, mantissa bits, exponent bias, spelling in Python)
_SCALARS: dict[str, tuple[str, int, int, int, str]] = {
    name: (kind, bits, mantissa, bias, spellings[1])
    for name, spellings, kind, bits, mantissa, bias in libtriton.element_types()
}


class base_type:
    """Base class of all types."""

    def mangle(self) -> str:
        raise NotImplementedError(f"{type(self).__name__} has no mangled form")

    def is_block(self) -> bool:
        return False

    def is_ptr(self) -> bool:
        return False


def _named(name: str) -> Callable[[Any], bool]:
    """The predicate of the type of this name."""

    def is_named(self: Any) -> bool:
        return self.name == name

    return is_named


class dtype(base_type):
    """A scalar type. There is one object per name; `dtype("fp32") is triton.language.float32`."""

    SINT_TYPES = ["int8", "int16", "int32", "int64"]
    UINT_TYPES = ["int1", "uint8", "uint16", "uint32", "uint64"]
    FP_TYPES = [name for name, row in _SCALARS.items() if row[0] == "float"]
    STANDARD_FP_TYPES = ["fp16", "bf16", "fp32", "fp64"]
    OTHER_TYPES = ["void"]

    class SIGNEDNESS(enum.Enum):
        SIGNED = 0
        UNSIGNED = 1

    class KIND(enum.Enum):
        BOOLEAN = 0
        INTEGRAL = 1
        FLOATING = 2

    _instances: dict[str, dtype] = {}

    def __new__(cls, name: Any = None, *args: Any, **kwargs: Any) -> Any:
        if cls is not dtype:
            return object.__new__(cls)
        name = getattr(name, "value", name)
        if name not in _SCALARS:
            raise AssertionError(f"unknown type name {name!r}")
        if name not in cls._instances:
            cls._instances[name] = object.__new__(cls)
        return cls._instances[name]

    def __init__(self, name: Any):
        self.name = getattr(name, "value", name)
        kind, bits, mantissa, bias, _ = _SCALARS[self.name]
        self.primitive_bitwidth = bits
        self.itemsize = bits // 8
        if kind in ("int", "uint"):
            self.int_bitwidth = bits
            self.int_signedness = (
                dtype.SIGNEDNESS.SIGNED if kind == "int" else dtype.SIGNEDNESS.UNSIGNED
            )
        elif kind == "float":
            self.fp_mantissa_width = mantissa
            self.exponent_bias = bias

    # The predicates that kernels use on types.
    def is_fp8(self) -> bool:
        return "fp8" in self.name

    is_fp8e4nv = _named("fp8e4nv")
    is_fp8e4b8 = _named("fp8e4b8")
    is_fp8e4b15 = _named("fp8e4b15")
    is_fp8e5 = _named("fp8e5")
    is_fp8e5b16 = _named("fp8e5b16")
    is_fp16 = _named("fp16")
    is_bf16 = _named("bf16")
    is_fp32 = _named("fp32")
    is_fp64 = _named("fp64")
    is_int1 = _named("int1")
    is_int8 = _named("int8")
    is_int16 = _named("int16")
    is_int32 = _named("int32")
    is_int64 = _named("int64")
    is_uint8 = _named("uint8")
    is_uint16 = _named("uint16")
    is_uint32 = _named("uint32")
    is_uint64 = _named("uint64")

    def is_floating(self) -> bool:
        return self.name in dtype.FP_TYPES

    def is_standard_floating(self) -> bool:
        return self.name in dtype.STANDARD_FP_TYPES

    def is_int_signed(self) -> bool:
        return self.name in dtype.SINT_TYPES

    def is_int_unsigned(self) -> bool:
        return self.name in dtype.UINT_TYPES

    def is_int(self) -> bool:
        return self.is_int_signed() or self.is_int_unsigned()

    def is_bool(self) -> bool:
        return self.is_int1()

    def is_void(self) -> bool:
        return self.name == "void"

    def is_const(self) -> bool:
        return False

    @staticmethod
    def is_dtype(type_str: str) -> bool:
        return type_str in _SCALARS

    def kind(self) -> dtype.KIND:
        if self.is_bool():
            return dtype.KIND.BOOLEAN
        if self.is_int():
            return dtype.KIND.INTEGRAL
        if self.is_floating():
            return dtype.KIND.FLOATING
        raise AssertionError(f"{self.name} has no kind")

    def get_int_max_value(self) -> int:
        signed = self.int_signedness == dtype.SIGNEDNESS.SIGNED
        return 2 ** (self.int_bitwidth - 1) - 1 if signed else 2**self.int_bitwidth - 1

    def get_int_min_value(self) -> int:
        return (
            -(2 ** (self.int_bitwidth - 1)) if self.int_signedness == dtype.SIGNEDNESS.SIGNED else 0
        )

    @property
    def scalar(self) -> dtype:
        return self

    @property
    def cache_key_part(self) -> str:
        return self.name

    def codegen_name(self) -> str:
        return _SCALARS[self.name][4]

    def mangle(self) -> str:
        if self.is_int():
            return f"{'i' if self.is_int_signed() else 'u'}{self.int_bitwidth}"
        return self.name if self.is_floating() else "V"

    def __eq__(self, other: Any) -> bool:
        other = getattr(other, "value", other)
        return type(other) is dtype and self.name == other.name

    def __ne__(self, other: Any) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((self.name,))

    def __str__(self) -> str:
        return self.name

    def __repr__(self) -> str:
        return f"triton.language.{self.codegen_name()}"

    def __reduce__(self) -> tuple[Any, ...]:
        return dtype, (self.name,)


class pointer_type(dtype):
    """Pointer to elements of one type."""

    def __init__(self, element_ty: dtype, address_space: int = 1, const: bool = False):
        element_ty = getattr(element_ty, "value", element_ty)
        if not isinstance(element_ty, dtype):
            raise TypeError(f"element_ty has type `{type(element_ty).__name__}`; expected `dtype`.")
        self.element_ty = element_ty
        self.address_space = address_space
        self.const = const
        self.name = f"{'const_' if const else ''}pointer<{element_ty}>"
        self.primitive_bitwidth = 64
        self.itemsize = 8

    def is_ptr(self) -> bool:
        return True

    def is_const(self) -> bool:
        return self.const

    @property
    def cache_key_part(self) -> str:
        return f"*{'k' if self.const else ''}{self.element_ty.cache_key_part}"

    def codegen_name(self) -> str:
        return f"pointer_type({self.element_ty!r}, {self.address_space}, {self.const})"

    def mangle(self) -> str:
        return f"P{self.element_ty.mangle()}"

    def _identity(self) -> tuple[Any, ...]:
        return self.element_ty, self.address_space, self.const

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, pointer_type) and self._identity() == other._identity()

    def __hash__(self) -> int:
        return hash(self._identity())

    def __reduce__(self) -> tuple[Any, ...]:
        return pointer_type, self._identity()


class block_type(dtype):
    """A tile: an element type and extents that are powers of two."""

    def __init__(self, element_ty: dtype, shape: Sequence[Any]):
        self.element_ty = element_ty
        self.shape = tuple(getattr(extent, "value", extent) for extent in shape)
        if not self.shape:
            raise TypeError("0d block_type is forbidden")
        for position, extent in enumerate(self.shape):
            if not isinstance(extent, int):
                raise TypeError(
                    f"Shape element {position} must have type `constexpr[int]`, got "
                    f"`{type(extent).__name__}`"
                )
            if extent < 1 or extent & (extent - 1):
                raise ValueError(f"Shape element {position} must be a power of 2")
        self._describe()
        if self.numel > TRITON_MAX_TENSOR_NUMEL:
            raise ValueError(
                f"numel ({self.numel}) exceeds triton maximum tensor numel "
                f"({TRITON_MAX_TENSOR_NUMEL})"
            )

    @classmethod
    def of_tile(cls, element_ty: dtype, shape: Sequence[int]) -> block_type:
        """The type of an existing tile, with unchecked extents."""
        created = cls.__new__(cls)
        created.element_ty, created.shape = element_ty, tuple(shape)
        created._describe()
        return created

    def _describe(self) -> None:
        element_ty = self.element_ty
        self.numel = math.prod(self.shape)
        self.name = f"<{self.shape}, {element_ty}>"
        self.primitive_bitwidth = element_ty.primitive_bitwidth
        self.itemsize = element_ty.itemsize

    @property
    def nbytes(self) -> int:
        return self.numel * self.element_ty.primitive_bitwidth // 8

    @property
    def scalar(self) -> dtype:
        return self.element_ty

    def is_block(self) -> bool:
        return True

    def get_block_shapes(self) -> tuple[int, ...]:
        return self.shape

    def with_element_ty(self, scalar_ty: dtype) -> block_type:
        return block_type(scalar_ty, self.shape)

    def codegen_name(self) -> str:
        return f"block_type({self.element_ty!r}, {list(self.shape)})"

    def mangle(self) -> str:
        return f"{self.element_ty.mangle()}S{'_'.join(map(str, self.shape))}S"

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, block_type) and (self.element_ty, self.shape) == (
            other.element_ty,
            other.shape,
        )

    def __hash__(self) -> int:
        return hash((self.element_ty, self.shape))

    def __str__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[Any, ...]:
        return block_type, (self.element_ty, self.shape)


void = dtype("void")
int1 = dtype("int1")
int8 = dtype("int8")
int16 = dtype("int16")
int32 = dtype("int32")
int64 = dtype("int64")
uint8 = dtype("uint8")
uint16 = dtype("uint16")
uint32 = dtype("uint32")
uint64 = dtype("uint64")
float8e5 = dtype("fp8e5")
float8e5b16 = dtype("fp8e5b16")
float8e4nv = dtype("fp8e4nv")
float8e4b8 = dtype("fp8e4b8")
float8e4b15 = dtype("fp8e4b15")
float16 = dtype("fp16")
bfloat16 = dtype("bf16")
float32 = dtype("fp32")
float64 = dtype("fp64")
pi32_t = pointer_type(int32)


def get_int_dtype(bitwidth: int, signed: bool) -> dtype:
    """The integer type of a width and signedness; one bit is `int1` for both."""
    bitwidth, signed = getattr(bitwidth, "value", bitwidth), getattr(signed, "value", signed)
    name = "int1" if bitwidth == 1 else f"{'' if signed else 'u'}int{bitwidth}"
    if name not in dtype.SINT_TYPES + dtype.UINT_TYPES:
        raise ValueError(f"Unsupported bitwidth {bitwidth} and signedness {signed}")
    return dtype(name)
