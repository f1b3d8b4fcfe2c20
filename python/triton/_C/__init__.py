"""Holds the native module `libtriton`; if it is missing or another package's, the error names the
command that repairs the installation.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import os
import types

_FOREIGN = (
    "another `triton` package is installed in the same folder as nereid-triton ({where}); "
    "each has overwritten files of the other. Repair it with: "
    "python -m pip uninstall -y triton nereid-triton && "
    "python -m pip install --no-cache-dir --force-reinstall nereid-triton"
)


def _check_folder() -> None:
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    # Upstream's package has this file, this one does not.
    if os.path.exists(os.path.join(package, "backends", "nvidia", "driver.c")):
        raise ImportError(_FOREIGN.format(where=package))


_check_folder()
try:
    from . import libtriton
except ImportError as error:
    raise ImportError(
        f"the native module of nereid could not be loaded: {error}. In a clone of the "
        "repository, `./dev build` makes it; "
        "an installed package is repaired by: python -m pip install --force-reinstall nereid-triton"
    ) from error
if not getattr(libtriton, "is_nereid", False):
    raise ImportError(_FOREIGN.format(where=os.path.dirname(os.path.abspath(__file__))))


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
