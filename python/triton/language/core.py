"""`triton.language.core`: the module from which other packages import types, values and built-ins."""

# SPDX-License-Identifier: MIT
# ruff: noqa: F401
from __future__ import annotations

from types import FunctionType
from typing import Any

from .._C import libtriton
from .aggregate import _aggregate, aggregate_replace, aggregate_type, aggregate_value
from .builtin import (
    Builtin,
    _tensor_member_fn,
    builtin,
    dispatch,
    extern,
    is_builtin,
    must_use_result,
)
from .dtypes import *  # noqa: F403
from .dtypes import (
    TRITON_MAX_TENSOR_NUMEL,
    base_type,
    block_type,
    dtype,
    get_int_dtype,
    pi32_t,
    pointer_type,
)
from .signature_types import str_to_ty
from .values import (
    PropagateNan,
    _tensor_type,
    _unwrap_if_constexpr,
    base_value,
    const,
    constexpr,
    constexpr_type,
    slice,
    slice_type,
    tensor,
    tensor_descriptor,
    tensor_descriptor_base,
    tensor_descriptor_base_type,
    tensor_descriptor_type,
    tuple,
    tuple_type,
)

# Generated code imports these types from their `__module__`, and some programs read that name.
for _type in [*globals().values()]:
    if (
        isinstance(_type, (type, FunctionType))
        and _type.__module__.startswith(f"{__package__}.")
        and _type is not str_to_ty
    ):
        _type.__module__ = __name__

CONSTEXPR_0 = constexpr(0)  # other packages use it as a default value


def _load_table() -> dict[str, dict[str, Builtin]]:
    """module -> name -> object, for every entry of the compiler's table; members become methods of
    `tensor` or `tensor_descriptor`.
    """
    table: dict[str, dict[str, Builtin]] = {}
    for entry in (*libtriton.builtins(), *libtriton.stdlib()):
        function = Builtin(entry)
        table.setdefault(entry["module"], {})[entry["name"]] = function
        if entry["module"] == f"triton.language.{tensor_descriptor.__name__}":
            setattr(tensor_descriptor, entry["name"], function)
        elif entry["member"] and entry["module"].startswith("triton.language"):
            setattr(tensor, entry["name"], function)
    return table


BUILTINS = _load_table()


def bind_names(
    namespace: dict[str, Any], module: str, table_module: str | None = None
) -> list[str]:
    """Adds the built-ins of one table module to a Python module's namespace; returns their names."""
    names = BUILTINS.get(table_module or module, {})
    namespace.update(names)
    return sorted(names)


bind_names(globals(), __name__, "triton.language")


def __getattr__(name: str) -> Any:
    """Looks up rarely imported names at their first use."""
    if name.startswith("__"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from . import imported_names

    return getattr(imported_names, name)
