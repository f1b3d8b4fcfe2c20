"""Holds the native module `libtriton`; a missing or foreign one is an error that names the mending
command.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import os

_FOREIGN = (
    "another `triton` package is installed in the same folder as nereid-triton ({where}); "
    "each has overwritten files of the other. Mend it with: "
    "python -m pip uninstall -y triton nereid-triton && "
    "python -m pip install --no-cache-dir --force-reinstall nereid-triton"
)


def _check_folder() -> None:
    package = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    # Upstream's package has this file, ours has not.
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
