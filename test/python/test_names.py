"""The names of Triton 3.9 and those that packages use exist, except for those with a reason in a file."""
# SPDX-License-Identifier: MIT

import functools
import importlib
import os

import pytest

FOLDER = os.path.join(os.path.dirname(__file__), "names")


def lines_of(name):
    with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
        return [line.strip() for line in file if line.strip() and not line.startswith("#")]


def listed(name):
    """(module, name) of each entry."""
    for line in lines_of(name):
        module, _, names = line.partition(": ")
        for each in names.split():
            yield module, each


def reasons():
    """(module, or its prefix and "*"; name or "*"), without the reasons."""
    for line in lines_of("left_out.txt"):
        entry, separator, reason = line.partition(" | ")
        assert separator and reason.strip(), f"no reason: {line}"
        module, _, names = entry.partition(": ")
        for each in names.split():
            yield module, each


def covers(reason, entry):
    return all(
        mine == its or (mine.endswith("*") and its.startswith(mine[:-1]))
        for mine, its in zip(reason, entry, strict=True)
    )


def import_or_none(path):
    try:
        return importlib.import_module(path)
    except ImportError:
        return None


def attribute_or_none(path):
    """The object or module at a path; `triton.runtime.driver`, for example, is an object."""
    first, *rest = path.split(".")
    return functools.reduce(lambda at, name: getattr(at, name, None), rest, import_or_none(first))


def is_there(module, name):
    places = (import_or_none(module), attribute_or_none(module))
    return any(hasattr(place, name) for place in places if place is not None) or (
        import_or_none(f"{module}.{name}") is not None
    )


@pytest.mark.parametrize("file", ["triton-3.9.txt", "libraries.txt"])
def test_names_are_there_or_have_a_reason(file):
    known = list(reasons())
    missing = [entry for entry in listed(file) if not is_there(*entry)]
    unexplained = [entry for entry in missing if not any(covers(each, entry) for each in known)]
    assert not unexplained


def test_reasons_are_for_names_that_are_missing():
    """A name that exists by now, or is in no list, must have no reason."""
    missing = {
        entry
        for file in ("triton-3.9.txt", "libraries.txt")
        for entry in listed(file)
        if not is_there(*entry)
    }
    stale = [each for each in reasons() if not any(covers(each, entry) for entry in missing)]
    assert not stale


def test_a_missing_name_is_noticed():
    assert is_there("triton.language", "load") and is_there("triton.knobs.cache", "dir")
    assert is_there("triton.runtime.driver", "active")
    assert not is_there("triton.language", "loads") and not is_there("triton.languages", "load")
