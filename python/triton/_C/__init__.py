"""Holds the native module `libtriton`; if it is missing or another package's, the error names the
command that repairs the installation.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import sys
import types

_REPAIR = (
    "In a clone of the repository `./dev build` makes it; an installed package is repaired by installing its wheel "
    "again: python -m pip install --force-reinstall --no-deps nereid_triton-VERSION-*.whl"
)


def keep_modules() -> None:
    """Remembers the modules of the imported package. The native module is tied to their classes: if a program drops
    them from `sys.modules` and imports the package again, it gets the same ones.
    """
    kept = {
        name: module
        for name, module in sys.modules.items()
        if name == "triton" or name.startswith("triton.")
    }
    sys.__dict__["_nereid_modules"] = kept


sys.modules.update(sys.__dict__.get("_nereid_modules", {}))
try:
    from . import libtriton
except ImportError as error:
    if "subinterpreter" in str(error):
        raise
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
