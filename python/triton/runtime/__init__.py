"""Decorating, specialising, launching and tuning kernels."""

# SPDX-License-Identifier: MIT
from typing import Any

from ._allocation import set_allocator
from ._async_compile import AsyncCompileMode, FutureKernel
from .autotuner import Autotuner, Config, Heuristics, autotune, heuristics
from .cache import CacheManager

# The object replaces the module as an attribute of this package; both spellings are in use.
from .driver import driver
from .errors import AutotunerError, InterpreterError, OutOfResources, PTXASError
from .jit import JITFunction, KernelInterface, MockTensor, TensorWrapper, reinterpret

__all__ = [
    "AsyncCompileMode",
    "Autotuner",
    "AutotunerError",
    "CacheManager",
    "Config",
    "FutureKernel",
    "Heuristics",
    "InterpreterError",
    "JITFunction",
    "KernelInterface",
    "MockTensor",
    "OutOfResources",
    "PTXASError",
    "RedisRemoteCacheBackend",
    "RemoteCacheBackend",
    "TensorWrapper",
    "autotune",
    "driver",
    "heuristics",
    "reinterpret",
    "set_allocator",
]


def __getattr__(name: str) -> Any:
    """Imports modules that few programs need at their first use."""
    if name in ("RedisRemoteCacheBackend", "RemoteCacheBackend"):
        from . import remote_cache

        return getattr(remote_cache, name)
    if name == "build":
        import importlib

        return importlib.import_module(f"{__name__}.build")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
