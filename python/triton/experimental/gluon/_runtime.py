"""The classes of Gluon's kernels, which can be decorated and recognised, not run."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...compiler.sources import ASTSource
from ...runtime.jit import JITFunction

_MESSAGE = "Gluon is not part of nereid; kernels are written in triton.language and decorated with triton.jit"


class GluonJITFunction(JITFunction[Any]):
    """A kernel in Gluon: modules that define such kernels can be imported; running one is an error.
    """

    def is_gluon(self) -> bool:
        return True

    def run(self, *args: Any, **kwargs: Any) -> Any:
        """Raises NotImplementedError, which names the kernel and its location."""
        location = f"{self.file_name}:{self.def_file_line_number}"
        raise NotImplementedError(f"{location}: `{self.__name__}` is a kernel in Gluon. {_MESSAGE}")

    def reject_contradictions(self) -> None:
        self.run()

    def __getitem__(self, grid: Any) -> Any:
        return self.run

    def preload(self, specialization_data: str) -> Any:
        return self.run(specialization_data)


class GluonASTSource(ASTSource):
    """A kernel in Gluon with its signature."""

    def __init__(self, *args: Any, **kwargs: Any):
        raise NotImplementedError(_MESSAGE)


def jit(fn: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Makes a GluonJITFunction of `fn`; with only options, returns a decorator."""
    if fn is None:
        return lambda function: GluonJITFunction(function, **options)
    return GluonJITFunction(fn, **options)
