"""Tensor descriptors made on the host as launch arguments: each is passed as the fields that a
kernel takes.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from .._utils import find_paths_if

_DESCRIPTOR = re.compile(r"tensordesc(?:_im2col)?<([^[>]*)\[([^\]]*)\]")
_RANK = re.compile(r",input_rank=(\d+)")


def _is_descriptor(kind: Any) -> bool:
    return isinstance(kind, str) and kind.startswith("tensordesc")


def decompose_descriptor(arg: Any) -> list[Any]:
    """Base, extents, strides, two flags, then extents and strides again."""
    return [
        arg.base,
        *arg.shape,
        *arg.strides,
        arg.padding == "nan",
        arg.round_f32_to_tf32,
        *arg.shape,
        *arg.strides,
    ]


def _types_of_fields(kind: str, has_map: bool, map_type: str) -> list[str]:
    match = _DESCRIPTOR.match(kind)
    if match is None:
        raise ValueError(f"Malformed tensor descriptor type: {kind}")
    given = _RANK.search(kind)
    rank = int(given[1]) if given else match[2].count(",") + 1
    head = [map_type] if has_map else [f"*{match[1]}", *["i64"] * (2 * rank), "i1", "i1"]
    return [*head, *["i32"] * rank, *["i64"] * rank]


def expand_signature(signature: Any, tensordesc_meta: Any, descriptor_type: str) -> list[Any]:
    """Types as launched: a descriptor is replaced by its fields; with `tensordesc_meta` the first
    of them is a tensor map of `descriptor_type`.
    """
    expanded: list[Any] = []
    for kind in signature:
        if _is_descriptor(kind):
            expanded += _types_of_fields(kind, bool(tensordesc_meta), descriptor_type)
        elif isinstance(kind, tuple):
            expanded.append(tuple(expand_signature(kind, tensordesc_meta, descriptor_type)))
        else:
            expanded.append(kind)
    return expanded


def make_tensordesc_arg(arg: Any, metadata: Any, _: Any = None) -> list[Any]:
    """The fields of one descriptor. Kernels build their TMA tensor maps themselves, so no metadata
    is needed.
    """
    if metadata is not None:
        raise NotImplementedError(
            "kernels of Nereid take the fields of a tensor descriptor; there is no tensor map to pass"
        )
    return decompose_descriptor(arg)


def make_tensordesc_args(
    args: Any,
    signature: Any,
    relevant_paths: Any,
    tensordesc_meta: Any,
    base_args: Any,
    make_tensordesc_arg: Callable[..., Any],  # noqa: F811
) -> list[Any]:
    """Arguments with each descriptor replaced by its fields, also in tuples."""
    metadata = iter(tensordesc_meta or ())

    def expand(values: Any, kinds: Any) -> list[Any]:
        result: list[Any] = []
        for value, kind in zip(values, kinds, strict=True):
            if _is_descriptor(kind):
                result += make_tensordesc_arg(value, next(metadata, None), base_args)
            elif isinstance(kind, tuple):
                result.append(tuple(expand(value, kind)))
            else:
                result.append(value)
        return result

    return expand(args, signature)


def wrap_handle_tensordesc_impl(
    launcher: Callable[..., Any],
    signature: dict[Any, Any],
    tensordesc_meta: Any,
    make_tensordesc_arg: Callable[..., Any],  # noqa: F811
) -> Callable[..., Any]:
    """Wraps a launcher so that its last argument, the kernel's arguments, may contain descriptors.
    """
    kinds = tuple(signature.values())
    if not find_paths_if(kinds, lambda _, kind: _is_descriptor(kind)):
        return launcher

    def launch(*args: Any) -> Any:
        *base, arguments = args
        parts = make_tensordesc_args(
            arguments, kinds, None, tensordesc_meta, tuple(base), make_tensordesc_arg
        )
        return launcher(*base, parts)

    return launch
