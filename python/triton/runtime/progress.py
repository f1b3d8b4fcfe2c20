"""Tells the user what takes long: one line on stderr, rewritten while it goes on."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import contextlib
import os
import sys
import threading
import time
from typing import Any

from .. import knobs

# Seconds of silence: most tuning and nearly every compilation end before.
PATIENCE = 5.0
_INTERVAL = 1.0  # between two versions of the line

# Held by the one that is shown: what it consists of, on whatever thread, has no line of its own.
_line = threading.Lock()
os.register_at_fork(after_in_child=_line._at_fork_reinit)  # type: ignore[attr-defined]


def is_shown() -> bool:
    """By default only where a person looks at stderr."""
    wanted = knobs.runtime.progress
    if wanted != "auto":
        return wanted == "on"
    try:
        return sys.stderr.isatty()
    except (AttributeError, ValueError):  # there is no stderr, or it is closed
        return False


class Progress:
    """Used as `with Progress(...) as progress`; writes nothing in the first seconds."""

    def __init__(self, what: str, patience: float | None = None):
        self.what = what
        self._step = self._bar = ""
        self._patience = PATIENCE if patience is None else patience
        self._end = threading.Event()
        self._thread: threading.Thread | None = None
        self._is_written = False

    def step(self, text: str, bar: str = "") -> None:
        """`bar` is shown on terminals alone."""
        self._step, self._bar = text, bar

    def __enter__(self) -> Progress:
        if is_shown() and _line.acquire(blocking=False):
            self._start = time.monotonic()
            thread = threading.Thread(target=self._watch, daemon=True, name="triton progress")
            try:
                thread.start()
                self._thread = thread
            except RuntimeError:  # the system gives no more threads
                _line.release()
        return self

    def __exit__(self, *error: Any) -> None:
        self._end.set()
        if self._thread is not None:
            self._thread.join()
            with contextlib.suppress(RuntimeError):  # in a child that was forked meanwhile
                _line.release()
        if self._is_written and _rewrites():
            _write("\r\x1b[K")

    def _watch(self) -> None:
        wait = self._patience
        while not self._end.wait(wait):
            took = time.monotonic() - self._start
            line = f"triton: {self.what}{self._step}, {took:.0f} s"
            shown = f"{self._bar} {line}" if self._bar else line
            _write(f"\r{_cut(shown)}\x1b[K" if _rewrites() else f"{line}\n")
            self._is_written = True
            wait = _INTERVAL if _rewrites() else 2 * max(wait, _INTERVAL)  # a log grows slowly


def bar(done: int, count: int, width: int = 20) -> str:
    """How much of something is done: "[#####               ]"."""
    full = width * done // max(count, 1)
    return f"[{'#' * full}{' ' * (width - full)}]"


def _rewrites() -> bool:
    """Whether stderr is a terminal that can erase a line; an editor's shell is none."""
    if os.environ.get("TERM", "dumb") == "dumb":
        return False
    return bool(getattr(sys.stderr, "isatty", bool)())


def _cut(line: str) -> str:
    """What fits into one row of the terminal: a carriage return goes to the begin of the row alone."""
    import shutil  # with three libraries of compression

    return line[: max(1, shutil.get_terminal_size().columns - 1)]


def _write(text: str) -> None:
    try:
        sys.stderr.write(text)
        sys.stderr.flush()
    except (AttributeError, OSError, ValueError):
        pass  # progress is no reason to fail
