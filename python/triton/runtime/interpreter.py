"""`TRITON_INTERPRET=1`: kernels are to run as Python. Not available yet; a launch says so."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .errors import InterpreterError
from .jit import KernelInterface
from .source import FunctionSource

__all__ = ["InterpretedFunction", "InterpreterError"]


class InterpretedFunction(KernelInterface[Any]):
    """What `triton.jit` returns in interpreter mode."""

    def __init__(self, fn: Callable[..., Any], **options: Any):
        source = FunctionSource(fn)
        self.fn = fn
        self.options = options
        self.src = source.text
        self.__name__ = fn.__name__
        self.__qualname__ = fn.__qualname__
        self.__module__ = fn.__module__
        self.__doc__ = fn.__doc__
        self._place = f"{source.file_name}:{source.def_line}"
        self.arg_names = list(fn.__code__.co_varnames[: fn.__code__.co_argcount])

    def run(self, *args: Any, **kwargs: Any) -> Any:
        raise NotImplementedError(
            f"{self._place}: cannot run `{self.__name__}`: interpreter mode (TRITON_INTERPRET=1) "
            "is not available in this "
            "version; unset TRITON_INTERPRET to compile the kernel"
        )

    def warmup(self, *args: Any, **kwargs: Any) -> None:
        """Nothing is compiled in interpreter mode."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.run(*args, **kwargs)
