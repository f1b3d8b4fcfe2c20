"""`kernel.compile_all(domain)`: compiles the variants of a domain on threads, for the launches to come."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from .. import _async_compile
from ..errors import CompileAllError
from ..progress import Progress, bar
from . import jit_policy
from .specializations import Listed, list_variants

_PATIENCE = 0.5  # seconds; who calls it expects to wait


def compile_all(
    kernel: Any, domain: Any, target: Any, workers: int | None, options: dict[str, Any]
) -> list[Any]:
    """See KernelInterface.compile_all."""
    listed = list_variants(kernel, domain, target, options)
    if _async_compile.active_mode.get() is not None:  # of the caller, who waits for it
        return [made for each in listed if (made := _start(each)) is not None]
    return _Batch(listed).compile(workers or _processors())


def _processors() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _start(listed: Listed) -> Any:
    """The kernel from memory, or one whose compilation runs; None where a hook prevents it."""
    kernels, target, backend, device = listed.caches
    known = kernels.get(listed.variant.key)
    if known is not None:
        return known
    return listed.variant.function._compile_for(
        listed.variant.key,
        listed.bound,
        listed.specialization,
        listed.options,
        target,
        backend,
        True,
        kernels,
        device,
    )


class _Batch:
    """Variants that are compiled at one time."""

    def __init__(self, listed: list[Listed]):
        self.listed = listed
        self.done = 0
        self._counting = threading.Lock()

    def compile(self, workers: int) -> list[Any]:
        names = sorted({each.variant.function.__name__ for each in self.listed})
        executor = ThreadPoolExecutor(
            workers, "triton compile", jit_policy.called_from, (jit_policy.caller(),)
        )
        progress = Progress(f"compiling {', '.join(names)}", _PATIENCE)
        count = self._counter(progress)
        with progress:
            try:
                with _async_compile.AsyncCompileMode(executor, ignore_errors=True):
                    started = [_start(each) for each in self.listed]
                    for kernel in started:
                        if isinstance(kernel, _async_compile.FutureKernel):
                            kernel._future.add_done_callback(count)
                        else:
                            count(None)
            finally:
                executor.shutdown(wait=True, cancel_futures=True)
        return self._results(started)

    def _counter(self, progress: Progress) -> Callable[[Any], None]:
        total = len(self.listed)
        progress.step(f", 0 of {total} variants", bar(0, total))

        def count(_: Any) -> None:
            with self._counting:
                self.done += 1
                progress.step(f", {self.done} of {total} variants", bar(self.done, total))

        return count

    def _results(self, started: list[Any]) -> list[Any]:
        """The kernels; CompileAllError where some have none."""
        kernels, failures = [], []
        for each, kernel in zip(self.listed, started, strict=True):
            try:
                if isinstance(kernel, _async_compile.FutureKernel):
                    kernel = kernel.result()
            except Exception as error:
                failures.append((each.variant, error))
                continue
            if kernel is not None:
                kernels.append(kernel)
        if failures:
            raise CompileAllError(failures, kernels) from failures[0][1]
        return kernels
