"""The versions of jaxlib that are known to work."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import functools

import jaxlib.version

FIRST, BEYOND = (0, 10), (0, 13)


@functools.cache
def check_jaxlib() -> None:
    """Raises an error for a version whose interface has not been checked."""
    version = jaxlib.version.__version__
    known = tuple(map(int, version.split(".")[:2]))
    if not FIRST <= known < BEYOND:
        raise RuntimeError(
            f"jaxlib {version} is installed; triton.jax supports versions 0.{FIRST[1]} to "
            f"0.{BEYOND[1] - 1}"
        )
