"""The text form of argument types ("*fp32", "i32", "constexpr") and their type objects."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .._C import libtriton
from .._dtype_names import type_canonicalisation_dict
from . import dtypes as t
from .values import constexpr, constexpr_type, tensor_descriptor_type, tuple_type

_BY_TEXT = {spellings[0]: t.dtype(name) for name, spellings, *_ in libtriton.element_types()}
_BY_TEXT.update({"i1": t.int1, "B": t.int1})
del _BY_TEXT["void"]


def canonical_name(dtype: Any) -> str:
    """'fp32' for `torch.float32`, `numpy.float32`, "float32", `tl.float32` and so on."""
    text = str(dtype).split(".")[-1].rstrip("'>")
    return type_canonicalisation_dict.get(text, text)


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
