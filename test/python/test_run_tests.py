"""The runner of the test levels: a part that raises is a failure of its level, and an interrupt ends the run."""
# SPDX-License-Identifier: MIT

import os
import sys
import threading
from pathlib import Path

import pytest

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"
if not SCRIPTS.is_dir():
    pytest.skip("only in the source tree", allow_module_level=True)
sys.path.insert(0, os.fspath(SCRIPTS))

import run_tests  # noqa: E402
from run_tests import Outcome, Part, Request  # noqa: E402


def run(monkeypatch, workers, *parts):
    made = [Part(1, part) for part in parts]
    monkeypatch.setattr(run_tests, "LEVELS", {"level": lambda request: made})
    return run_tests.run_levels(Request("cpu", None, workers, ""), ["level"])


def test_a_part_that_raises_is_a_failure(monkeypatch, capsys):
    def raises():
        raise OSError(28, "the disk is full")

    total = run(monkeypatch, 2, raises, lambda: Outcome(passed=3))
    assert (total.passed, total.failed) == (3, 1)
    told = capsys.readouterr().out
    assert "a part of the tests raised OSError: [Errno 28] the disk is full" in told
    assert "3 passed, 1 failed, 0 skipped" in told


def test_an_interrupt_leaves_the_queue(monkeypatch):
    goes_on, ran = threading.Event(), []

    def interrupted(futures):
        raise KeyboardInterrupt

    def part():
        ran.append(goes_on.wait(10))
        return Outcome(passed=1)

    monkeypatch.setattr(run_tests, "as_completed", interrupted)
    try:
        with pytest.raises(KeyboardInterrupt):
            run(monkeypatch, 1, part, part, part)
        assert ran == []  # nobody has waited for the first
    finally:
        goes_on.set()
    for thread in threading.enumerate():
        if thread.name.startswith("ThreadPoolExecutor"):
            thread.join(10)
    assert len(ran) == 1
