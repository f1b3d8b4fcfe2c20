"""`TRITON_BACKGROUND`: a generic variant serves a launch while the one for its arguments compiles."""

# SPDX-License-Identifier: MIT
#
# The generic variant of a launch is that of parameters which are all in `do_not_specialize`: constants, None and types
# are those of the launch, integers and addresses have no classes.
from __future__ import annotations

import contextlib
import os
import queue
import threading
import warnings
from collections.abc import Callable
from typing import Any

from .. import knobs
from .._C import libtriton
from ._async_compile import active_mode
from .binder import Binder
from .errors import JitForbidden, JitWarning
from .params import KernelParam
from .variants import jit_policy


def serve(
    function: Any,
    key: str,
    bound: dict[str, Any],
    specialization: list[Any],
    options: dict[str, Any],
    caches: tuple[Any, Any, Any, Binder, Any],
) -> Any:
    """The launch's own variant where a cache has it; else the generic one, while its own is compiled on
    a thread. None where the launch has to wait for its own.
    """
    if jit_policy.wants_own_variants() or active_mode.get() is not None:
        return None
    kernels, target, backend, binder, device = caches
    generic = _generic(binder, bound)
    generic_key = function._key_of(generic, options, backend, binder)
    if generic_key == key or (os.getpid(), generic_key) in binder.failed:
        return None

    def compile_variant(key: str, specialization: list[Any]) -> Any:
        info = (key, bound, specialization, options, target, backend, False, kernels, device)
        return function._compile_for(*info)

    with jit_policy.cached_only(), contextlib.suppress(jit_policy.NotCached):
        return compile_variant(key, specialization)
    kernel = kernels.get(generic_key)
    if kernel is None:
        try:
            kernel = compile_variant(generic_key, generic)
        except JitForbidden:
            return None  # the error of the launch's own variant says what is missing
        except Exception:  # it needs what the classes tell; if not, the launch's own fails alike
            binder.failed.add((os.getpid(), generic_key))
            return None
    if kernel is not None and knobs.runtime.jit != "forbid":
        _jobs.add(binder, key, function, lambda: compile_variant(key, specialization))
    return kernel


def _generic(binder: Binder, bound: dict[str, Any]) -> list[Any]:
    """The specialisation of parameters that are not to be specialised."""
    return [
        binder._specialize_one(
            param if param.is_constexpr else _Unspecialized(param), bound[param.name]
        )
        for param in binder.params
    ]


class _Unspecialized:
    """A run-time parameter as if it were in `do_not_specialize`."""

    do_not_specialize = do_not_specialize_on_alignment = True
    is_constexpr = False

    def __init__(self, param: KernelParam):
        self.name, self.is_const = param.name, param.is_const
        self.annotation_type = param.annotation_type


class _Jobs:
    """Compilations that nobody waits for, one after another on one thread. The end of the program waits
    for the one that runs, not for those that have not begun.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._reset()
        os.register_at_fork(after_in_child=self._after_fork)

    def _reset(self) -> None:
        self._queue: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    def _after_fork(self) -> None:
        self._lock._at_fork_reinit()  # type: ignore[attr-defined]
        self._reset()
        libtriton.bump_epoch()  # what the parent began has to begin again

    def add(self, binder: Binder, key: str, function: Any, work: Callable[[], Any]) -> None:
        """Each key once in a process, also after an error."""
        with self._lock:
            if (os.getpid(), key) in binder.in_background:
                return
            binder.in_background.add((os.getpid(), key))
            self._queue.put((function, work, jit_policy.caller()))
            if self._thread is None:
                self._thread = threading.Thread(target=self._work, name="triton background")
                self._thread.start()

    def _next(self) -> Any:
        """A job; None at the end of the work, or of the program."""
        with self._lock:
            if self._queue.empty() or not threading.main_thread().is_alive():
                self._thread = None
                return None
            return self._queue.get()

    def _work(self) -> None:
        while (job := self._next()) is not None:
            function, work, site = job
            jit_policy.called_from(site)
            try:
                work()
            except JitForbidden:
                continue  # the policy has changed meanwhile
            except Exception as error:
                _warn(function, error, *(site or ("<unknown>", 1)))
            else:
                libtriton.bump_epoch()  # launches that took the generic variant look again

    def wait(self) -> None:
        """Returns when no compilation runs in the background or is to come."""
        while (thread := self._thread) is not None:
            thread.join()


def _warn(function: Any, error: Exception, file: str, line: int) -> None:
    text = (
        f"a variant of `{function.__name__}` could not be compiled in the background, and its generic "
        f"variant goes on serving: {type(error).__name__}: {error}"
    )
    warnings.warn_explicit(text, JitWarning, file, line)


_jobs = _Jobs()
wait = _jobs.wait
