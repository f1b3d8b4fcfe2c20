"""The seconds that test files took when they were last recorded, in durations.json. They only order and pack the queue."""
# SPDX-License-Identifier: MIT

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable

from programs import ROOT

PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "durations.json")
SHORT, UNKNOWN = 1.0, 0.5  # seconds: files that take less are not in the table and count as UNKNOWN
Table = dict[str, dict[str, float]]  # by suite, then by file below test/


def load() -> Table:
    with open(PATH, encoding="utf-8") as file:
        return json.load(file)


def record(suites: dict[str, Counter[str]]) -> None:
    """Replaces what the table has of these suites; their seconds are by module."""
    table = load()
    for suite, modules in suites.items():
        files: Counter[str] = Counter()
        for module, seconds in modules.items():
            files[file_of(module)] += seconds
        kept = {file: round(seconds, 1) for file, seconds in files.items() if seconds > SHORT}
        table[suite] = dict(sorted(kept.items()))
    with open(PATH, "w", encoding="utf-8") as file:
        json.dump(dict(sorted(table.items())), file, indent=1)
        file.write("\n")


def file_of(module: str) -> str:
    """test.run.builtins.dot, or with a class after it -> run/builtins/dot.py."""
    words = module.split(".")[1:]
    while words and not os.path.exists(os.path.join(ROOT, "test", *words) + ".py"):
        words.pop()
    return "/".join(words) + ".py"


def pack(sizes: dict[str, float], count: int) -> list[list[str]]:
    """These files in at most `count` packs of similar seconds: each to the smallest, the longest files first."""
    packs: list[list[str]] = [[] for _ in range(count)]
    for file in sorted(sizes, key=lambda file: (-sizes[file], file)):
        min(packs, key=lambda files: total(sizes, files)).append(file)
    return [sorted(files) for files in packs if files]


def total(sizes: dict[str, float], files: Iterable[str]) -> float:
    return sum(sizes[file] for file in files)
