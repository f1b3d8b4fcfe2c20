"""The classes of Gluon's kernels."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...compiler.sources import ASTSource
from ...runtime.jit import JITFunction, constexpr_function

__all__ = ["GluonASTSource", "GluonJITFunction", "constexpr_function", "jit"]


class GluonJITFunction(JITFunction[Any]):
    """A kernel, or a function that kernels call, in Gluon's language."""

    def is_gluon(self) -> bool:
        return True


class GluonASTSource(ASTSource):
    """A kernel in Gluon's language, the type of every parameter, the values of its constants."""

    ext = "ttgir"

    @property
    def language(self) -> Any:
        from ...backends.compiler import Language

        return Language.GLUON


def jit(fn: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Makes a GluonJITFunction of `fn`; with only options, returns a decorator."""
    if fn is None:
        return lambda function: GluonJITFunction(function, **options)
    return GluonJITFunction(fn, **options)
