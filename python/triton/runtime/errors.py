"""Exceptions of launching and tuning."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from typing import Any

from ..errors import TritonError, WrappingError

_NEW_LINE = "\n"  # no backslash may be in an f-string's expression before Python 3.12
_MOST_SHOWN = 5


class InterpreterError(WrappingError):
    """A kernel failed in interpreter mode."""

    def __init__(self, error_message: str | None = None):
        self.error_message = error_message
        super().__init__(error_message or "")


class OutOfResources(TritonError):
    """A kernel needs more of a resource than the device has."""

    def __init__(self, required: int, limit: int, name: str):
        self.required = required
        self.limit = limit
        self.name = name
        super().__init__(
            f"out of resource: {name}, Required: {required}, Hardware limit: {limit}. "
            "Reducing block sizes or `num_stages` may help."
        )

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.required, self.limit, self.name)


class SanitizerError(TritonError, RuntimeError):
    """A sanitizer found an error in a kernel; the text gives location, program and element."""


class PTXASError(TritonError):
    """ptxas rejected a kernel."""

    def __init__(self, error_message: str | None = None):
        self.error_message = error_message or ""
        super().__init__(f"PTXAS error: {self.error_message}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.error_message,)


class JitForbidden(TritonError, RuntimeError):
    """Under `TRITON_JIT=forbid` a kernel would have been compiled, or tuned."""


class CompileAllError(TritonError):
    """Some variants of a domain could not be compiled: `failures` has them with their errors, `kernels`
    the kernels of the others.
    """

    def __init__(self, failures: list[tuple[Any, Exception]], kernels: list[Any]):
        self.failures = failures
        self.kernels = kernels
        count = len(failures) + len(kernels)
        lines = [
            f"  {variant}: {type(error).__name__}: {str(error).strip().partition(_NEW_LINE)[0]}"
            for variant, error in failures[:_MOST_SHOWN]
        ]
        if len(failures) > _MOST_SHOWN:
            lines.append(f"  and {len(failures) - _MOST_SHOWN} more")
        text = _NEW_LINE.join(lines)
        super().__init__(f"{len(failures)} of {count} variants could not be compiled:\n{text}")


class JitWarning(UserWarning):
    """Under `TRITON_JIT=warn` a kernel is compiled, or tuned."""


class AutotunerError(TritonError):
    """No configuration was usable."""

    def __init__(self, error_message: str | None = None):
        self.error_message = error_message or ""
        super().__init__(f"Autotuner error: {self.error_message}")

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.error_message,)
