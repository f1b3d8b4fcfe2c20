"""Measures the phases of a compilation."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .._hook_types import CompileTimes

# The native compiler's name of the phase that makes IR from a kernel's text.
_FRONT_END = "sema"


class CompileTimer:
    """Starts when created. The native compiler measures the phases; Python measures the rest."""

    def __init__(self) -> None:
        self.start = time.perf_counter()
        self.phases: dict[str, float] = {}  # microseconds, in order
        self.is_hit = False
        self.code_end = self.start

    def compiled(self, code: Any) -> None:
        """Records the end of compilation; the time after it is spent on storing."""
        self.phases, self.is_hit = code.times, code.cache_hit
        self.code_end = time.perf_counter()

    def end(self) -> CompileTimes:
        from .._hook_types import CompileTimes

        now = time.perf_counter()
        if self.is_hit:  # the whole time is the cache lookup
            return CompileTimes(_microseconds(now - self.start), [], 0)
        stages = [(name, int(took)) for name, took in self.phases.items() if name != _FRONT_END]
        whole = _microseconds(self.code_end - self.start)
        return CompileTimes(
            max(0, whole - sum(took for _, took in stages)),
            stages,
            _microseconds(now - self.code_end),
        )


def _microseconds(seconds: float) -> int:
    return int(seconds * 1e6)
