"""Names that other packages import from `triton.language.core` and that kernels do not use."""

# SPDX-License-Identifier: MIT
#
# `core` imports these names from here at their first use.
from __future__ import annotations

import builtins
import math
import warnings
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from .. import knobs
from .._C.libtriton import ir
from .._utils import get_primitive_bitwidth, validate_block_shape
from .._warnings import CAT_CAN_REORDER_WARNING, RESHAPE_CAN_REORDER_WARNING, warn_once
from ..runtime.callable import JITCallable
from .builtin import builtin
from .values import _unwrap_if_constexpr, constexpr, tensor

if TYPE_CHECKING:
    from typing import dataclass_transform

__all__ = [
    "CAT_CAN_REORDER_WARNING",
    "RESHAPE_CAN_REORDER_WARNING",
    "TRITON_BUILTIN",
    "JITCallable",
    "T",
    "binary_op_type_legalization",
    "builtin_max",
    "builtin_min",
    "check_bit_width",
    "dataclass_transform",
    "get_primitive_bitwidth",
    "ir",
    "is_negative_zero",
    "item",
    "knobs",
    "validate_block_shape",
    "warn_once",
]

T = TypeVar("T", bound=Callable[..., Any])
TRITON_BUILTIN = "__triton_builtin__"  # the mark of functions that kernels may call


def __getattr__(name: str) -> Any:
    if name == "dataclass_transform":  # needs Python 3.11
        import typing

        return getattr(typing, name, lambda **_: lambda cls: cls)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def is_negative_zero(x: float) -> bool:
    return x == 0.0 and math.copysign(1.0, x) < 0


def check_bit_width(value: Any, shift_value: Any) -> None:
    """Warns if a shift amount is at least the bit width."""
    if isinstance(value, tensor) and isinstance(shift_value, constexpr):
        width = value.type.scalar.primitive_bitwidth
        if shift_value.value >= width:
            warnings.warn(
                f"Value {shift_value.value} exceeds the maximum bitwidth ({width}) for type "
                f"'{value.dtype}'. This may result in undefined behavior.",
                stacklevel=2,
            )


def binary_op_type_legalization(lhs: Any, rhs: Any, semantic: Any) -> tuple[Any, Any]:
    """Both operands converted to the type and shape of the operation's result."""
    shape = semantic.broadcast_impl_value(lhs, rhs)
    dtype = semantic.add(lhs, rhs).dtype
    return tuple(
        each if each.dtype == dtype else each.to(dtype, _semantic=semantic) for each in shape
    )  # type: ignore[return-value]


def item(input: Any, _semantic: Any = None) -> Any:  # noqa: A002
    """The value of a tensor of one element."""
    return tensor.item(input, _semantic=_semantic)  # type: ignore[attr-defined]


item.__triton_builtin__ = True  # type: ignore[attr-defined]


def _extreme(args: tuple[Any, ...], of_constants: Any, name: str, semantic: Any) -> Any:
    plain = [_unwrap_if_constexpr(arg) for arg in args]
    if not any(isinstance(arg, tensor) for arg in plain):
        return constexpr(of_constants(plain))
    result = plain[0]
    for arg in plain[1:]:
        result = semantic.call_builtin("triton.language", name, (result, arg), {})
    return result


@builtin
def builtin_max(*args: Any, _semantic: Any = None) -> Any:
    """Python's `max` in a kernel."""
    return _extreme(args, builtins.max, "maximum", _semantic)


@builtin
def builtin_min(*args: Any, _semantic: Any = None) -> Any:
    """Python's `min` in a kernel."""
    return _extreme(args, builtins.min, "minimum", _semantic)
