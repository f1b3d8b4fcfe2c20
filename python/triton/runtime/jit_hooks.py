"""Describes a kernel to the jit hooks, and restores a compilation from that description."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .variants.constant_text import decode, decode_kind, encode, encode_kind


@dataclass
class JitFunctionInfo:
    module: str
    name: str
    jit_function: Any


def _info(function: Any) -> JitFunctionInfo:
    """The names as they are at the launch: programs assign those of the decorated function."""
    host = function if function.fn is None else function.fn  # none after unpickling
    return JitFunctionInfo(host.__module__, host.__qualname__, function)


def call_hook(
    hook: Callable[..., Any],
    function: Any,
    key: str,
    signature: dict[str, Any],
    target: Any,
    bound: dict[str, Any],
    options: Any,
    specialization: list[Any],
    is_warmup: bool,
    device: Any = None,
    already_compiled: bool = False,
) -> Any:
    """Calls a jit hook for a kernel of `device`, a key of `device_caches`; a true result of the cache hook prevents the compilation."""
    types = {name: kind for name, kind in signature.items() if kind != "constexpr"}
    constants = {name: bound[name] for name, kind in signature.items() if kind == "constexpr"}
    shown = ", ".join(f"{name}: {kind}" for name, kind in types.items())
    options_shown = {name: getattr(options, name, None) for name in _SHOWN_OPTIONS}
    settings = ", ".join(f"{name}={value}" for name, value in options_shown.items())
    details = {
        "key": key,
        "signature": types,
        "device": target.backend if device is None else device,
        "constants": constants,
        **options_shown,
        "extern_libs": getattr(options, "extern_libs", None),
        "configs": [dict(zip(signature, specialization, strict=True))],
        "specialization_data": encode_specialization(
            function, key, signature, target, bound, options, specialization
        ),
        "is_warmup": is_warmup,
    }
    return hook(
        key=key,
        repr=f"{function.__name__}[{settings}]({shown})",
        compile=details,
        is_manual_warmup=is_warmup,
        fn=_info(function),
        already_compiled=already_compiled,
    )


_SHOWN_OPTIONS = (
    "num_warps",
    "num_ctas",
    "num_stages",
    "enable_fp_fusion",
    "launch_cooperative_grid",
)


def encode_specialization(
    function: Any,
    key: str,
    signature: dict[str, Any],
    target: Any,
    bound: dict[str, Any],
    options: Any,
    specialization: list[Any],
) -> str | None:
    """A text from which `JITFunction.preload` compiles the same kernel; None if a constant, or the
    class of a parameter, has no text.
    """
    from .jit import _describe

    if any(_names_class(kind) for kind in signature.values()):
        return None

    _, constants, attrs = _describe(bound, specialization, _backend_of(target))
    try:
        return preload_text(function._fn_name, signature, constants, attrs, options, key, target)
    except TypeError:
        return None


def preload_text(
    name: str, signature: Any, constants: Any, attrs: Any, options: Any, key: str, target: Any
) -> str:
    """The text that `JITFunction.preload` accepts; TypeError if a constant has no text."""
    return json.dumps(
        {
            "name": name,
            "key": key,
            "target": target.__dict__,
            "signature": {name: encode_kind(kind) for name, kind in signature.items()},
            "constant_keys": [list(path) for path in constants],
            "constant_vals": [encode(value) for value in constants.values()],
            "attrs_keys": [list(path) for path in attrs],
            "attrs_vals": list(attrs.values()),
            "options": options.__dict__,
        }
    )


def _names_class(kind: Any) -> bool:
    """Whether a type is that of a namedtuple or an object, or contains one."""
    return isinstance(kind, tuple) and (type(kind) is not tuple or any(map(_names_class, kind)))


def _backend_of(target: Any) -> Any:
    from ..compiler import make_backend

    return make_backend(target)


def decode_specialization(
    function: Any, text: str, target: Any
) -> tuple[str, Any, Any, Any, dict[str, Any]]:
    """(key, signature, constants, attributes, options) from `encode_specialization`'s text."""
    data = json.loads(text)
    if data["name"] != function._fn_name:
        raise RuntimeError(
            f"Specialization data is for {data['name']} but trying to preload for "
            f"{function._fn_name}"
        )
    if data["target"] != json.loads(json.dumps(target.__dict__)):
        raise RuntimeError(
            f"Specialization data is for {data['target']} but trying to preload for {target}"
        )
    constants = dict(
        zip(map(tuple, data["constant_keys"]), map(decode, data["constant_vals"]), strict=True)
    )
    attrs = dict(zip(map(tuple, data["attrs_keys"]), data["attrs_vals"], strict=True))
    signature = {name: decode_kind(kind) for name, kind in data["signature"].items()}
    options = {name: _tuples(value) for name, value in data["options"].items()}
    return data["key"], signature, constants, attrs, options


def _tuples(value: Any) -> Any:
    return tuple(map(_tuples, value)) if isinstance(value, list) else value
