"""The result of tests: counts, the output of those that failed, the seconds of each file."""
# SPDX-License-Identifier: MIT

from __future__ import annotations

import dataclasses
from collections import Counter


@dataclasses.dataclass
class Outcome:
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    output: str = ""
    reasons: list[str] = dataclasses.field(default_factory=list)  # of each skipped test, a line
    # by module, as in test.run.vector_add
    seconds: Counter[str] = dataclasses.field(default_factory=Counter)

    def add(self, other: Outcome) -> None:
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        if other.failed:
            self.output += other.output
        self.reasons += other.reasons
        self.seconds.update(other.seconds)

    def fail(self, why: str) -> Outcome:
        self.failed += 1
        self.output += f"\n{why}\n"
        return self

    @property
    def count(self) -> int:
        return self.passed + self.failed + self.skipped
