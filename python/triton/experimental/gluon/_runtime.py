"""The classes of Gluon's kernels, which cannot be made."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from typing import Any

from ...compiler.sources import ASTSource
from ...runtime.jit import JITFunction

_MESSAGE = "Gluon is not part of nereid; kernels are written in triton.language and decorated with triton.jit"


class GluonJITFunction(JITFunction[Any]):
    """A kernel in Gluon."""

    def __init__(self, *args: Any, **kwargs: Any):
        raise NotImplementedError(_MESSAGE)


class GluonASTSource(ASTSource):
    """A kernel in Gluon with its signature."""

    def __init__(self, *args: Any, **kwargs: Any):
        raise NotImplementedError(_MESSAGE)


def jit(*args: Any, **kwargs: Any) -> Any:
    raise NotImplementedError(_MESSAGE)
