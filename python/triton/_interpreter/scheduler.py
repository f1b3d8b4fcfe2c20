"""Runs the programs of a launch: one that waits lets others run, each on a thread of its own."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable
from typing import Any

from .. import knobs
from ..language import values as language_values
from .values import Tensor
from .waits import Waits

# Each needs a thread.
_MOST_STARTED = 1024

Program = tuple[int, int, int]


class Cancelled(BaseException):
    """Ends a program of a launch that has failed or was interrupted."""


class _Runner:
    """A thread that runs programs, one at a time with others."""

    def __init__(self) -> None:
        self.resumes = threading.Semaphore(0)
        self.thread: threading.Thread | None = None  # none: the launching one
        self.program: Program = (0, 0, 0)
        self.waits = Waits()


class ProgramScheduler:
    """Runs each program once. Only one thread runs at a time, so that the order is always the same."""

    def __init__(self, session: Any, programs: Iterable[Program], run: Callable[[], None]):
        self._session, self._run = session, run
        self._programs = iter(programs)
        self._main = self._running = _Runner()
        self._ready: deque[_Runner] = deque()  # in the order in which they go on
        self._threads: list[_Runner] = []
        self._started = 1
        self._version = 0  # of the memory: how often a write has changed it
        self._switches = 0  # since a program has ended or changed memory
        self._since = time.monotonic()
        self._failure: BaseException | None = None
        self._is_over = False

    def run(self) -> None:
        try:
            self._take_programs()
            while self._ready and self._failure is None:
                self._switch_to(self._ready.popleft())
        except Cancelled:
            pass  # `_failure` says why
        finally:
            self._is_over = True
            while self._threads:  # a thread that runs may start another before it sees this
                runner = self._threads.pop()
                runner.resumes.release()
                if runner.thread is not None and runner.thread.ident is not None:
                    runner.thread.join()
        if self._failure is not None:
            raise self._failure

    def _take_programs(self) -> None:
        while not self._is_over:
            program = next(self._programs, None)
            if program is None:
                return
            self._running.program = self._session.program = program
            self._running.waits = Waits()
            self._run()
            self._note_progress()
        raise Cancelled

    # --- Waits -------------------------------------------------------------------------------------

    def check(self) -> None:
        """Ends the program where the launching thread has been interrupted."""
        if self._is_over:
            raise Cancelled

    def note_read(self, pointer: Any) -> None:
        """A program reads what other programs may write."""
        read = (self._line(), pointer.handle.raw if isinstance(pointer, Tensor) else pointer)
        if self._running.waits.read(read):
            self._let_others_run()

    def write(self, contents: Callable[[], Any], perform: Callable[[], Any]) -> Any:
        """Performs a write to memory that has these contents. To know whether it changes memory matters only to a program that repeats itself."""
        if not any(runner.waits.repeats for runner in (self._running, *self._ready)):
            self._note_change()
            return perform()
        before = contents()
        result = perform()
        if before is None or before != contents():
            self._note_change()
        return result

    def enter_loop(self, loop: Any) -> None:
        self._running.waits.enter(loop)

    def leave_loop(self, loop: Any) -> None:
        self._running.waits.leave(loop)

    def iterate(self, loop: Any, values: Iterable[Any]) -> None:
        """The condition of a `while` is about to be evaluated; `values` are what its end depends on."""
        self.check()
        if self._running.waits.iterate(loop, values, self._version):
            self._let_others_run()

    def _note_change(self) -> None:
        self._running.waits.wrote()
        self._version += 1
        self._note_progress()

    def _note_progress(self) -> None:
        self._switches, self._since = 0, time.monotonic()

    def _line(self) -> Any:
        frame, codes = sys._getframe(), self._session.codes
        while frame is not None and frame.f_code not in codes:
            frame = frame.f_back  # type: ignore[assignment]
        return frame and (frame.f_code, frame.f_lineno)

    def _let_others_run(self) -> None:
        runner = self._running
        self._check_progress()
        program = next(self._programs, None) if self._started < _MOST_STARTED else None
        if program is None and not self._ready:
            return
        self._ready.append(runner)
        self._switches += 1
        if program is not None:
            self._start(program)
        else:
            self._ready.popleft().resumes.release()
        self._await_switch(runner)

    def _check_progress(self) -> None:
        limit = knobs.runtime.cpu_wait_limit
        waiting = len(self._ready) + 1
        if (
            limit <= 0
            or self._switches < 2 * (waiting - 1)
            or time.monotonic() - self._since < limit
        ):
            return
        if not all(each.waits.is_stalled(self._version) for each in (self._running, *self._ready)):
            return  # a loop that counts ends by itself
        raise RuntimeError(
            f"the launch cannot go on: this program waits, and so do {waiting - 1} more; "
            f"{self._left()}; TRITON_CPU_WAIT_LIMIT is how many seconds they may wait [launch-deadlock]"
        )

    def _left(self) -> str:
        left = sum(1 for _ in self._programs)
        if not left:
            return "all programs have started"
        return f"{left} programs have not started, as at most {_MOST_STARTED} run at a time"

    # --- Threads -----------------------------------------------------------------------------------

    def _start(self, program: Program) -> None:
        self.check()
        runner = _Runner()
        runner.program = program
        runner.thread = threading.Thread(target=self._body, args=(runner,), daemon=True)
        self._started += 1
        self._running = runner
        self._threads.append(runner)
        runner.thread.start()

    def _body(self, runner: _Runner) -> None:
        self._session.program = runner.program
        with language_values.semantic_for_host(self._session.semantic):
            try:
                self._run()
                self._note_progress()
                self._take_programs()
            except Cancelled:
                return
            except BaseException as error:  # noqa: BLE001  (raised again by the launching thread)
                self._failure = error
        if self._is_over:
            return
        self._started -= 1
        following = self._main
        if self._failure is None and self._ready:
            following = self._ready.popleft()
        elif self._main in self._ready:
            self._ready.remove(self._main)
        following.resumes.release()

    def _switch_to(self, following: _Runner) -> None:
        following.resumes.release()
        self._await_switch(self._main)

    def _await_switch(self, runner: _Runner) -> None:
        runner.resumes.acquire()
        self._running, self._session.program = runner, runner.program
        if self._is_over or self._failure is not None:
            raise Cancelled
