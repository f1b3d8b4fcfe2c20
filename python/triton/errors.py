"""The root of every exception that this package raises on purpose."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import sys
from typing import Any


class TritonError(Exception):
    """Base class of all Triton exceptions."""


# The modules that print exceptions with the chain of their causes.
_PRINTERS = frozenset(["traceback", "_pytest._code.code", "IPython.core.ultratb", "rich.traceback"])


class WrappingError(TritonError):
    """An error whose text has all that its cause says. Code finds the cause in `__cause__`, as in Triton; what prints
    exceptions finds another one there, or none, so that a user reads the message once.
    """

    _wrapped: BaseException | None = None
    _shown: BaseException | None = None

    @property
    def __cause__(self) -> BaseException | None:  # type: ignore[override]
        shown = BaseException.__cause__.__get__(self)  # type: ignore[attr-defined]
        if self._wrapped is None or shown is not self._shown:  # other code has set one
            return shown
        return shown if sys._getframe(1).f_globals.get("__name__") in _PRINTERS else self._wrapped

    @__cause__.setter
    def __cause__(self, cause: Any) -> None:
        BaseException.__cause__.__set__(self, cause)  # type: ignore[attr-defined]

    def _wrap(self, cause: BaseException | None, shown: BaseException | None = None) -> None:
        """Sets the cause for code, and the one that is printed."""
        from . import knobs

        self._wrapped = cause
        self._shown = cause if knobs.compilation.front_end_debugging else shown
        self.__cause__ = self._shown
