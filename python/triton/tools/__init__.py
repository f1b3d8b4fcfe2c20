"""Host-side helpers that kernels' callers use."""

# SPDX-License-Identifier: MIT
from typing import Any

from .._C.libtriton import LinearLayout

__all__ = ["LinearLayout"]


def __getattr__(name: str) -> Any:
    """Modules are imported when they are first asked for."""
    import importlib

    try:
        return importlib.import_module(f"{__name__}.{name}")
    except ModuleNotFoundError as error:
        if error.name != f"{__name__}.{name}":  # a module that the one asked for imports
            raise
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from error
