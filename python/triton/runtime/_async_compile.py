"""Compiles on other threads: inside an `AsyncCompileMode` block `warmup` returns a kernel whose
compilation is still running.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar, Token
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from concurrent.futures import Executor, Future


class FutureKernel:
    """A kernel that is being compiled; any access waits for it. One whose compilation was cancelled
    before it began is compiled by `make` then.
    """

    def __init__(
        self,
        finish: Callable[[Any], Any],
        fail: Callable[[], Any],
        future: Future[Any],
        make: Callable[[], Any],
    ):
        self._finish = finish
        self._make = make
        self._fail = fail
        self._future = future
        self._kernel: Any = None

    def result(self, ignore_errors: bool = False) -> Any:
        if self._kernel is None:
            try:
                kernel = self._wait()
            except Exception:
                self._fail()
                if ignore_errors:
                    return None
                raise
            self._kernel = self._finish(kernel)
        return self._kernel

    def _wait(self) -> Any:
        from concurrent.futures import CancelledError

        try:
            return self._future.result()
        except CancelledError:
            return self._make()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.result(), name)

    def __getitem__(self, grid: Any) -> Any:
        return self.result()[grid]


class AsyncCompileMode:
    """Context: kernels are compiled on `executor`; leaving it waits for all of them."""

    def __init__(self, executor: Executor, *, ignore_errors: bool = False):
        self.executor = executor
        self.ignore_errors = ignore_errors
        self._pending: dict[str, FutureKernel] = {}
        self._token: Token[Any] | None = None

    def submit(
        self,
        key: str,
        make: Callable[[], Any],
        finish: Callable[[Any], Any],
        fail: Callable[[], Any],
    ) -> FutureKernel:
        """Calls `finish(kernel)` when the kernel is compiled and first used, `fail()` if
        compilation fails.
        """
        if key not in self._pending:
            self._pending[key] = FutureKernel(finish, fail, self.executor.submit(make), make)
        return self._pending[key]

    def __enter__(self) -> AsyncCompileMode:
        if active_mode.get() is not None:
            raise RuntimeError("Another AsyncCompileMode is already active")
        self._token = active_mode.set(self)
        return self

    def __exit__(self, *exception: Any) -> None:
        assert self._token is not None
        active_mode.reset(self._token)
        for kernel in self._pending.values():
            kernel.result(self.ignore_errors)


active_mode: ContextVar[AsyncCompileMode | None] = ContextVar("active_mode", default=None)
