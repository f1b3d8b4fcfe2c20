"""Names, line numbers and keys of functions, under Triton's names."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Any, TypeVar

T = TypeVar("T")
R = TypeVar("R")
U = TypeVar("U")

TRITON_MODULE = "triton.language"
GLUON_MODULE = "triton.experimental.gluon.language"
INDENT_PATTERN = re.compile(r"^(?P<indent>[ \t]*)def\s+\w+\s*\(", re.MULTILINE)

# Environment variables that change the generated code.
_INVALIDATING = (
    "DISABLE_PTXAS_OPT",
    "PTXAS_OPTIONS",
    "TRITON_ALLOW_NON_CONSTEXPR_GLOBALS",
    "TRITON_CPU_ARCH",
    "TRITON_DEBUG",
    "TRITON_DEFAULT_FP_FUSION",
    "TRITON_F32_DEFAULT",
    "TRITON_FORCE_DISABLE_FP_FUSION",
    "TRITON_INSTRUMENTATION_MODE",
    "TRITON_LAUNCH_ABI",
    "TRITON_OVERRIDE_ARCH",
    "TRITON_SANITIZE",
)


def __getattr__(name: str) -> Any:
    if name == "P":  # needs a newer `typing` than the other names
        from typing import ParamSpec

        return ParamSpec("P")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def get_cache_invalidating_env_vars() -> dict[str, str]:
    return {name: os.environ[name] for name in _INVALIDATING if name in os.environ}


def get_full_name(fn: Any) -> str:
    return f"{fn.__module__}.{fn.__qualname__}"


def get_def_line_number(raw_src: list[str], starting_line_number: int) -> int:
    """The line of `def`, which may follow decorators."""
    for index, line in enumerate(raw_src):
        if line.strip().startswith("def "):
            return starting_line_number + index
    return starting_line_number


def get_def_col_number(raw_src_str: str) -> int:
    """The column of `def`, from 1."""
    definition = INDENT_PATTERN.search(raw_src_str)
    if definition is None:
        raise ValueError("No function definition found for kernel")
    return len(definition["indent"]) + 1


def convert_to_tuple_if_list(item: Any) -> Any:
    """Lists, also nested ones, as tuples."""
    return tuple(map(convert_to_tuple_if_list, item)) if isinstance(item, list) else item


def compute_cache_key(kernel_key_cache: dict[Any, str], specialization: Any, options: Any) -> str:
    """The key of a kernel in `device_caches`, kept for the next call with the same arguments."""
    key = (tuple(specialization), str(options))
    if key not in kernel_key_cache:
        kernel_key_cache[key] = str(_with_hashes(specialization)) + str(options)
    return kernel_key_cache[key]


def _with_hashes(value: Any) -> Any:
    """Functions are replaced by the hashes of their sources: an edited one has another key."""
    from .runtime.callable import JITCallable

    if isinstance(value, (list, tuple)):
        parts = [_with_hashes(item) for item in value]
        return type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    return value.cache_key if isinstance(value, JITCallable) else value


def create_function_from_signature(sig: Any, kparams: Any, backend: Any) -> Callable[..., Any]:
    """A function `(*args, **kwargs)` that returns the bound arguments, their specialisation, and
    the keywords that are options.
    """
    from .runtime.binder import Binder

    binder = Binder("kernel", kparams, backend)
    return lambda *args, **kwargs: binder(args, kwargs)


def serialize_specialization_data(
    name: str, signature: Any, constants: Any, attrs: Any, options: Any, key: str, target: Any
) -> str:
    """The text that `JITFunction.preload` accepts."""
    from .runtime.jit_hooks import preload_text

    return preload_text(name, signature, constants, attrs, options, key, target)
