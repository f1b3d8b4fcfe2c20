"""Which cases of a test function a brief run has, as `./dev test` runs them; `./dev test full` has all.

Of a function with many cases those that together have every pair of values of two parameters; of tests that are marked
`full` none; of random programs, marked `seeds`, one case on other devices than the CPU; of what test/run/cpus_only.txt
lists none there. The level ptx compiles for sm_80 those that together have every value of each parameter. Cases that
are marked `always` are in every run.
"""
# SPDX-License-Identifier: MIT

from __future__ import annotations

import itertools
from typing import Any

import _lists
import pytest

MARKERS = (
    "always(id, ...): in a brief run, too: these cases, or all of the function",
    "full(id, ...): not in a brief run: these cases, or all of the function",
    "seeds: cases are seeds of random programs; in a brief run other devices than the CPU have the first",
)
MANY = 20  # cases of a function
FOR_CPUS = _lists.listed("cpus_only.txt")


def selected(cases: list[pytest.Item], is_on_cpu: bool) -> list[pytest.Item]:
    """The cases of one function that a brief run has."""
    named = [case for case in cases if _is_marked(case, "always")]
    if not is_on_cpu and _lists.is_listed(cases[0], FOR_CPUS):
        return named
    rest = [case for case in cases if not _is_marked(case, "full")]
    if not is_on_cpu and rest and rest[0].get_closest_marker("seeds"):
        rest = rest[:1]
    if len(rest) >= MANY:
        values = [_values(case) for case in rest]
        rest = [rest[index] for index in covering(values, 2)]
    return [*named, *rest]


def with_every_value(cases: list[pytest.Item]) -> list[pytest.Item]:
    """The cases of one function that together have every value of each parameter, and those that are named."""
    chosen = covering([_values(case) for case in cases], 1)
    return [
        case for index, case in enumerate(cases) if index in chosen or _is_marked(case, "always")
    ]


def by_function(items: list[pytest.Item]) -> list[list[pytest.Item]]:
    functions: dict[str, list[pytest.Item]] = {}
    for item in items:
        functions.setdefault(item.nodeid.partition("[")[0], []).append(item)
    return list(functions.values())


def unknown_ids(cases: list[pytest.Item]) -> list[str]:
    """What the marks of one function name that is the id of none of its cases."""
    marks = (mark for marker in ("always", "full") for mark in cases[0].iter_markers(marker))
    ids = {case.callspec.id for case in cases if hasattr(case, "callspec")}
    return [name for mark in marks for name in mark.args if name not in ids]


def _is_marked(case: pytest.Item, marker: str) -> bool:
    """By its id or with all of its function."""
    callspec = getattr(case, "callspec", None)
    marks = case.iter_markers(marker)
    return any(not mark.args or (callspec and callspec.id in mark.args) for mark in marks)


def _values(case: pytest.Item) -> tuple[Any, ...]:
    """What the case has for each parameter, comparable: values that cannot be hashed by identity."""
    callspec = getattr(case, "callspec", None)
    if callspec is None:
        return ()
    return tuple(_comparable(callspec.params[name]) for name in sorted(callspec.params))


def _comparable(value: Any) -> Any:
    try:
        hash(value)
    except TypeError:
        return id(value)
    return type(value), value


def covering(rows: list[tuple[Any, ...]], strength: int) -> list[int]:
    """Indices of rows that have each combination of values which stands in `strength` columns of some row; all rows
    where they have fewer columns. Takes the row with most combinations that are not covered, of equal ones the first.
    """
    if len(rows[0]) < strength:
        return list(range(len(rows)))
    groups = list(itertools.combinations(range(len(rows[0])), strength))
    parts = [{(group, *(row[at] for at in group)) for group in groups} for row in rows]
    uncovered, rest, chosen = set().union(*parts), list(range(len(rows))), []
    while uncovered:
        best = max(rest, key=lambda index: len(parts[index] & uncovered))
        chosen.append(best)
        rest.remove(best)
        uncovered -= parts[best]
    return sorted(chosen)
