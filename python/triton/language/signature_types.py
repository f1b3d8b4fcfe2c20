"""The text form of argument types ("*fp32", "i32", "constexpr") and their type objects."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from . import dtypes as t
from .values import constexpr, constexpr_type, tensor_descriptor_type, tuple_type

_BY_TEXT = {
    "fp8e4nv": t.float8e4nv,
    "fp8e4b8": t.float8e4b8,
    "fp8e5": t.float8e5,
    "fp8e5b16": t.float8e5b16,
    "fp8e4b15": t.float8e4b15,
    "fp16": t.float16,
    "bf16": t.bfloat16,
    "fp32": t.float32,
    "fp64": t.float64,
    "i1": t.int1,
    "i8": t.int8,
    "i16": t.int16,
    "i32": t.int32,
    "i64": t.int64,
    "u1": t.int1,
    "u8": t.uint8,
    "u16": t.uint16,
    "u32": t.uint32,
    "u64": t.uint64,
    "B": t.int1,
}

# Spellings of other packages and of annotations.
_OTHER_SPELLINGS = {
    "bool": "u1",
    "int1": "u1",
    "uint1": "u1",
    "i1": "u1",
    "float8_e4m3fn": "fp8e4nv",
    "float8e4nv": "fp8e4nv",
    "float8_e5m2": "fp8e5",
    "float8e5": "fp8e5",
    "float8_e4m3fnuz": "fp8e4b8",
    "float8e4b8": "fp8e4b8",
    "float8_e5m2fnuz": "fp8e5b16",
    "float8e5b16": "fp8e5b16",
    "float8e4b15": "fp8e4b15",
    "half": "fp16",
    "float16": "fp16",
    "bfloat16": "bf16",
    "float": "fp32",
    "float32": "fp32",
    "double": "fp64",
    "float64": "fp64",
    "int": "i32",
    **{
        f"{sign}int{bits}": f"{sign or 'i'}{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)
    },
}


def canonical_name(dtype: Any) -> str:
    """'fp32' for `torch.float32`, `numpy.float32`, "float32", `tl.float32` and so on."""
    text = str(dtype).split(".")[-1].rstrip("'>")
    return _OTHER_SPELLINGS.get(text, text)


def is_scalar_name(text: str) -> bool:
    return text in _BY_TEXT


def str_to_ty(name: Any, c: Any) -> Any:
    """The type for a signature entry; `c` is the value of a constexpr entry (or of those inside a
    tuple).
    """
    if isinstance(name, tuple):
        values: Any = c if isinstance(c, (tuple, list)) else [c] * len(name)
        return tuple_type(
            [str_to_ty(item, value) for item, value in zip(name, values, strict=True)],
            getattr(name, "_fields", None),
        )
    if name == "constexpr":
        return constexpr_type(c.value if isinstance(c, constexpr) else c)
    if name.startswith("*"):
        read_only = name.startswith("*k")
        return t.pointer_type(str_to_ty(name[2 if read_only else 1 :], c), 1, read_only)
    if name.startswith("tensordesc<"):
        element, shape = next(_descriptor_fields(name))
        rank = len(shape)
        return tensor_descriptor_type(
            t.block_type(str_to_ty(element, None), shape),
            tuple_type([t.int32] * rank),
            tuple_type([t.int64] * rank),
        )
    if name in _BY_TEXT:
        return _BY_TEXT[name]
    raise KeyError(f"unknown type `{name}` in a signature")


def _descriptor_fields(name: str) -> Iterator[tuple[str, list[int]]]:
    """'tensordesc<fp16[128, 64]>' -> ('fp16', [128, 64])."""
    inner = name[len("tensordesc<") : name.rindex(">")]
    element, _, rest = inner.partition("[")
    yield element, [int(extent) for extent in rest[: rest.index("]")].split(",")]
