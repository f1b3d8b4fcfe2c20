"""Each planted bug is reported with its code and its lines; the kernels without bugs give no report."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import os
import re
import sys

import numpy as np
import pytest
from triton import knobs
from triton.tools.ptx import run_ptx

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from bugs import BUGS, UNREPORTED, Bug, Edit  # noqa: E402
from launches import LAUNCHES, Launch  # noqa: E402

WORDS = "bounds,uninit,race,sync"
SEEDS = range(20)
LIMIT = 300_000  # instructions of a program; the kernels need fewer than a thousand


def text_of(kernel: str) -> str:
    with open(os.path.join(HERE, kernel + ".ptx"), encoding="utf-8") as file:
        return file.read()


def line_of(text: str, mark: str) -> int:
    """From 1."""
    marked = [
        number for number, line in enumerate(text.splitlines(), 1) if line.endswith(f"// !{mark}")
    ]
    assert len(marked) == 1, mark
    return marked[0]


def edited(text: str, edit: Edit) -> str:
    lines = text.splitlines()
    number = line_of(text, edit.mark) - 1
    instruction, comment = re.fullmatch(r"(.*?)(// !\w+)", lines[number]).groups()
    if edit.old:
        assert instruction.count(edit.old) == 1, (edit, instruction)
        instruction = instruction.replace(edit.old, edit.new)
    else:
        instruction = edit.new
    lines[number] = instruction + comment
    return "\n".join(lines) + "\n"


def run(text: str, launch: Launch, words: str, seed: int) -> None:
    run_ptx(text, launch.grid, launch.args, sanitize=words, seed=seed)


@pytest.mark.parametrize("kernel", LAUNCHES)
def test_without_bugs(kernel: str) -> None:
    text = text_of(kernel)
    for seed in SEEDS:
        launch = LAUNCHES[kernel]()
        run(text, launch, WORDS, seed)
        np.testing.assert_array_equal(launch.got, launch.expected, f"seed {seed}")


def cases() -> list:
    return [
        pytest.param(
            bug,
            id=f"{bug.kernel}: {bug.name}",
            marks=[pytest.mark.xfail(reason=UNREPORTED[bug.name], strict=True)]
            if bug.name in UNREPORTED
            else [],
        )
        for bug in BUGS
    ]


@pytest.mark.parametrize("bug", cases())
def test_bug(bug: Bug, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(knobs.runtime, "sim_limit", LIMIT)
    text = text_of(bug.kernel)
    for edit in bug.edits:
        text = edited(text, edit)
    for seed in (0, 1, 2):
        with pytest.raises(RuntimeError) as failure:
            run(text, LAUNCHES[bug.kernel](), bug.words, seed)
        message = str(failure.value)
        if bug.or_deadlock and "[sim-deadlock]" in message:
            continue
        assert f"[{bug.code}]" in message
        reported = {int(number) for number in re.findall(r"line (\d+) of the PTX", message)}
        for marks in bug.lines:
            assert reported & {line_of(text, mark) for mark in marks.split("|")}, (marks, message)
