"""Nereid, the compiler behind `import triton`: its version, and whether a module `triton` is its own."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from types import ModuleType

from ._version import __version__

__all__ = ["__version__", "is_nereid"]


def is_nereid(triton: ModuleType) -> bool:
    """Whether this module `triton` is Nereid's; `triton.__nereid__` is then Nereid's version."""
    return getattr(triton, "__nereid__", None) is not None
