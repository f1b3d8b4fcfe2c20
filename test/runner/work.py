"""The queue of all levels' parts, longest first, from which the workers take; a level is reported when its last part ends."""
# SPDX-License-Identifier: MIT

from __future__ import annotations

import dataclasses
import sys
import time
import traceback
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, as_completed

from outcome import Outcome

TAIL_CHARS = 20_000  # of a failing level's output


@dataclasses.dataclass
class Part:
    """One process of a test runner. `seconds` is what it is expected to take; it only orders the queue."""

    seconds: float
    run: Callable[[], Outcome]
    suite: str = ""  # whose durations its files are; empty for none


@dataclasses.dataclass
class Level:
    """The sum of a level's parts that have ended."""

    name: str
    parts: int
    outcome: Outcome = dataclasses.field(default_factory=Outcome)
    seconds: list[float] = dataclasses.field(default_factory=list)
    suites: dict[str, Counter[str]] = dataclasses.field(default_factory=dict)

    def end_part(self, part: Part, outcome: Outcome, seconds: float) -> None:
        self.outcome.add(outcome)
        self.seconds.append(seconds)
        if part.suite:
            self.suites.setdefault(part.suite, Counter()).update(outcome.seconds)
        if len(self.seconds) == self.parts:
            self.end()

    def end(self) -> None:
        if self.outcome.count == 0:
            self.outcome.fail("this level ran no test")
        for suite in (suite for suite, files in self.suites.items() if not files):
            self.outcome.fail(f"the suite {suite} ran no test")
        self.report()

    def report(self) -> None:
        outcome = self.outcome
        if outcome.failed:
            print(outcome.output[-TAIL_CHARS:])
        print(
            f"{self.name:8} {outcome.passed} passed, {outcome.failed} failed, {outcome.skipped} skipped"
            f"  ({' + '.join(f'{part:.0f}' for part in self.seconds)} s)"
        )
        for reason in sorted(set(outcome.reasons)):
            print(f"         skipped: {reason} (x{outcome.reasons.count(reason)})")
        sys.stdout.flush()


def timed(part: Part) -> tuple[Outcome, float]:
    """The outcome of a part and how long it took; a part that raises is one failure."""
    began = time.monotonic()
    try:
        outcome = part.run()
    except Exception as error:
        last = traceback.format_exception_only(type(error), error)[-1].strip()
        outcome = Outcome(output=traceback.format_exc()).fail(f"a part of the tests raised {last}")
    return outcome, time.monotonic() - began


def run(parts: dict[str, list[Part]], workers: int) -> tuple[Outcome, dict[str, Counter[str]]]:
    """The sum of these levels, and the seconds of each suite's files."""
    levels = {name: Level(name, len(of_level)) for name, of_level in parts.items()}
    queue = [(levels[name], part) for name, of_level in parts.items() for part in of_level]
    queue.sort(key=lambda entry: entry[1].seconds, reverse=True)
    pool = ThreadPoolExecutor(workers)
    try:
        running: dict[Future, tuple[Level, Part]] = {
            pool.submit(timed, part): (level, part) for level, part in queue
        }
        for done in as_completed(running):
            level, part = running[done]
            level.end_part(part, *done.result())
    except BaseException:  # Ctrl-C: parts that wait in the queue do not start
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    pool.shutdown()
    total, suites = Outcome(), {}
    for level in levels.values():
        if level.parts == 0:
            level.end()
        total.add(level.outcome)
        suites |= level.suites
    return total, suites
