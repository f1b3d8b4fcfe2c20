"""The custom calls of `triton.jax`, registered where jax is imported: a program that another process
exported has them, too.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import functools
from typing import Any

from . import handlers

# (platform, whether kernels are timed first) -> (name of the custom call, its handler)
TARGETS = {
    ("cpu", False): ("nereid_triton_call", handlers.CPU),
    ("cpu", True): ("nereid_triton_call", handlers.CPU),
    ("cuda", False): ("nereid_triton_call", handlers.CUDA),
    ("cuda", True): ("nereid_triton_call_autotuned", handlers.CUDA_AUTOTUNED),
}


@functools.cache
def _register(name: str, handler: str, platform: str) -> None:
    import jax.ffi

    jax.ffi.register_ffi_target(
        name, handlers.capsule(handler), platform="CUDA" if platform == "cuda" else platform
    )


def register_all(module: Any = None) -> None:
    """Called with `jax` once it has been imported, and by `triton.jax`."""
    if module is not None and not hasattr(module, "ffi"):
        return  # a version before 0.5, which `triton.jax` refuses
    for (platform, _), (name, handler) in TARGETS.items():
        _register(name, handler, platform)
