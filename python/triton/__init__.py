"""The Triton language and compiler, by Nereid."""

# SPDX-License-Identifier: MIT
__version__ = "3.9.0"

if __name__ != "triton":  # two copies of its classes and native module would not know each other
    raise ImportError(f"this package is imported as `triton`, not as `{__name__}`")

from typing import Any

from . import backends, compiler, errors, knobs, language, runtime
from ._C import keep_modules as _keep_modules
from ._installation import nereid_version as __nereid__
from .compiler import CompilationError, compile
from .errors import TritonError
from .inductor import enable_cpu_backend
from .language.aggregate import aggregate
from .language.builtin import must_use_result
from .runtime import (
    AsyncCompileMode,
    Autotuner,
    Config,
    FutureKernel,
    Heuristics,
    InterpreterError,
    JITFunction,
    KernelInterface,
    MockTensor,
    OutOfResources,
    TensorWrapper,
    autotune,
    heuristics,
    reinterpret,
    set_allocator,
)
from .runtime.callable import package_function as _package_function
from .runtime.jit import constexpr_function, jit
from .runtime.tuning.keys import bounds_class, multiple_class, pow2_class
from .xla_imports import watch_imports as _watch_imports

__all__ = [
    "AsyncCompileMode",
    "Autotuner",
    "CompilationError",
    "Config",
    "FutureKernel",
    "Heuristics",
    "InterpreterError",
    "JITFunction",
    "KernelInterface",
    "MockTensor",
    "OutOfResources",
    "TensorWrapper",
    "TritonError",
    "aggregate",
    "autotune",
    "backends",
    "bounds_class",
    "cdiv",
    "compile",
    "compiler",
    "constexpr_function",
    "descriptor",
    "enable_cpu_backend",
    "errors",
    "heuristics",
    "jit",
    "knobs",
    "language",
    "load_pack",
    "multiple_class",
    "must_use_result",
    "next_power_of_2",
    "pointer",
    "pow2_class",
    "preload",
    "reinterpret",
    "runtime",
    "sanitizer",
    "set_allocator",
    "testing",
    "tools",
]


def __getattr__(name: str) -> Any:
    """Imports modules that few programs need at their first use."""
    if name in ("sanitizer", "testing", "tools"):
        import importlib

        return importlib.import_module(f"{__name__}.{name}")
    if name in ("descriptor", "pointer"):
        from .runtime.variants import domains

        return getattr(domains, name)
    if name == "load_pack":
        from .runtime.packs import load_pack

        return load_pack
    if name == "preload":
        from .runtime.packs.preloading import preload

        return preload
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


@_package_function
def cdiv(x, y):  # noqa: ANN001, ANN201
    """The quotient of two positive integers, rounded up."""
    return (x + y - 1) // y


@_package_function
def next_power_of_2(n):  # noqa: ANN001, ANN201
    """The smallest power of two that is at least `n`."""
    n -= 1
    for shift in (1, 2, 4, 8, 16, 32):
        n |= n >> shift
    return n + 1


_watch_imports()
_keep_modules()
