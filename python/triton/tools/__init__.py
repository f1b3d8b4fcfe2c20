"""Functions for host code that calls kernels."""

# SPDX-License-Identifier: MIT
from typing import Any

from .._C.libtriton import LinearLayout

__all__ = ["LinearLayout"]


def __getattr__(name: str) -> Any:
    """Imports modules at their first use."""
    import importlib

    try:
        return importlib.import_module(f"{__name__}.{name}")
    except ModuleNotFoundError as error:
        if error.name != f"{__name__}.{name}":  # a module that the requested one imports
            raise
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}") from error
