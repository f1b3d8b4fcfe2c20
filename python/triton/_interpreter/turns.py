"""Programs of a launch by turns: one that waits lets others run, each on a thread of its own."""

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

# The same address read so often from the same line, with nothing written in between, means a wait.
_READS_OF_WAIT = 64
# Each needs a thread.
_MOST_STARTED = 1024

Program = tuple[int, int, int]


class Cancelled(BaseException):
    """Ends a program of a launch that has failed."""


class _Runner:
    """A thread that runs programs, only while it has the turn."""

    def __init__(self) -> None:
        self.turn = threading.Semaphore(0)
        self.thread: threading.Thread | None = None  # none: the launching one
        self.program: Program = (0, 0, 0)
        self.read: Any = None  # the line and the addresses of the last read
        self.reads = 0


class Turns:
    """Runs each program once. Only one thread runs at a time, so that the order is always the same."""

    def __init__(self, session: Any, programs: Iterable[Program], run: Callable[[], None]):
        self._session, self._run = session, run
        self._programs = iter(programs)
        self._main = self._running = _Runner()
        self._ready: deque[_Runner] = deque()  # in the order of their turns
        self._started = 1
        self._hands = 0  # since a program has ended or come to another wait
        self._since = time.monotonic()
        self._failure: BaseException | None = None
        self._is_over = False

    def run(self) -> None:
        try:
            self._take_programs()
            while self._ready and self._failure is None:
                self._hand_to(self._ready.popleft())
        except Cancelled:
            pass  # `_failure` says why
        finally:
            self._is_over = True
            while self._ready:
                runner = self._ready.popleft()
                if runner.thread is not None:
                    runner.turn.release()
                    runner.thread.join()
        if self._failure is not None:
            raise self._failure

    def _take_programs(self) -> None:
        for program in self._programs:
            self._running.program = self._session.program = program
            self._run()
            self._note_progress()

    # --- Waits -------------------------------------------------------------------------------------

    def note_read(self, pointer: Any) -> None:
        """A program reads what other programs may write."""
        if self._is_over:  # the launching thread has been interrupted
            raise Cancelled
        runner = self._running
        read = (self._line(), pointer.handle.raw if isinstance(pointer, Tensor) else pointer)
        if read != runner.read:
            runner.read, runner.reads = read, 0
            self._note_progress()
        runner.reads += 1
        if runner.reads >= _READS_OF_WAIT:
            self._let_others_run()

    def note_write(self) -> None:
        self._running.read = None

    def _note_progress(self) -> None:
        self._hands, self._since = 0, time.monotonic()

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
        self._hands += 1
        if program is not None:
            self._start(program)
        else:
            self._ready.popleft().turn.release()
        self._await_turn(runner)

    def _check_progress(self) -> None:
        limit = knobs.runtime.cpu_wait_limit
        waiting = len(self._ready) + 1
        if limit <= 0 or self._hands < 2 * waiting or time.monotonic() - self._since < limit:
            return
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
        runner = _Runner()
        runner.program = program
        runner.thread = threading.Thread(target=self._body, args=(runner,), daemon=True)
        self._started += 1
        self._running = runner
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
        self._started -= 1
        following = self._main
        if self._failure is None and self._ready:
            following = self._ready.popleft()
        elif self._main in self._ready:
            self._ready.remove(self._main)
        following.turn.release()

    def _hand_to(self, following: _Runner) -> None:
        following.turn.release()
        self._await_turn(self._main)

    def _await_turn(self, runner: _Runner) -> None:
        runner.turn.acquire()
        self._running, self._session.program = runner, runner.program
        if self._is_over or self._failure is not None:
            raise Cancelled
