"""The classes of Gluon's kernels."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import knobs
from ...compiler.sources import ASTSource
from ...runtime.jit import JITFunction, constexpr_function

__all__ = ["GluonASTSource", "GluonJITFunction", "constexpr_function", "jit"]


class GluonJITFunction(JITFunction[Any]):
    """A kernel, or a function that kernels call, in Gluon's language."""

    def is_gluon(self) -> bool:
        return True


class GluonASTSource(ASTSource):
    """A kernel in Gluon's language, the type of every parameter, the values of its constants."""

    def __init__(self, fn: Any, signature: Any, constexprs: Any = None, attrs: Any = None):
        if not fn.is_gluon():
            raise TypeError(f"{fn!r} is a kernel of Triton's language; its source is an ASTSource")
        super().__init__(fn, signature, constexprs, attrs)


class _NotInterpreted(GluonJITFunction):
    """A kernel that is defined while TRITON_INTERPRET is set."""

    def run(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(
            f"{self.file_name}:{self.def_file_line_number}: `{self.__name__}` is a kernel in Gluon, "
            "which TRITON_INTERPRET does not run; TRITON_DEVICE=sim runs it without a GPU"
        )

    def __getitem__(self, grid: Any) -> Any:
        return self.run


def jit(fn: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Makes a GluonJITFunction of `fn`; with only options, returns a decorator."""
    if fn is None:
        return lambda function: jit(function, **options)
    return (_NotInterpreted if knobs.runtime.interpret else GluonJITFunction)(fn, **options)
