"""Holds the native module `libtriton`; if it is missing or another package's, the error names the
command that repairs the installation.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import types

_REPAIR = (
    "In a clone of the repository `./dev build` makes it; an installed package is repaired by installing its wheel "
    "again: python -m pip install --force-reinstall --no-deps nereid_triton-VERSION-*.whl"
)

try:
    from . import libtriton
except ImportError as error:
    raise ImportError(
        f"the native module of nereid could not be loaded: {error}. {_REPAIR}"
    ) from error
if not getattr(libtriton, "is_nereid", False):
    raise ImportError(f"the native module {libtriton.__file__} is another package's. {_REPAIR}")


class _Nvidia(types.ModuleType):
    """`triton._C.libtriton.nvidia`: the parts of Triton's bindings for this vendor that programs
    outside of Triton use.
    """

    def __getattr__(self, name: str) -> types.ModuleType:
        if name != "cublas":
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        from ..backends.nvidia import cublas

        return cublas


libtriton.nvidia = _Nvidia("triton._C.libtriton.nvidia")
