"""The state of the calls of one autotuner: each thread's own, and which keys are being tuned."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import os
import threading
from _thread import RLock
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


class CallState(threading.local):
    """What one thread's current call has set on the tuner. A copy starts empty."""

    nargs: dict[str, Any] | None = None
    best_config: Any = None
    sampler: Any = None  # of the search that runs, where it samples by itself
    failure: str = ""  # why the latest candidate cannot run

    def __init__(self) -> None:
        self.restore_copies: dict[str, Any] = {}

    def __reduce__(self) -> Any:
        return CallState, ()


class KeyLocks:
    """A lock for each key that is being tuned: the first call times the configurations, the others
    wait for its choice. A thread that holds one does not exist in a forked child, which therefore
    has locks of its own.
    """

    def __init__(self) -> None:
        self._locks: dict[Any, Any] = {}

    def __reduce__(self) -> Any:
        return KeyLocks, ()

    @contextmanager
    def hold(self, key: Any) -> Iterator[None]:
        entry = (os.getpid(), key)
        with self._locks.setdefault(entry, RLock()):  # a hook of the call may launch the kernel
            yield
        self._locks.pop(entry, None)  # the key is chosen; after an error the next call tries again
