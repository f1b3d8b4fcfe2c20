"""bench/busy_machine.py runs end to end, leaves no process behind, and fails where a kernel is wrong."""
# SPDX-License-Identifier: MIT

import contextlib
import json
import os
import pathlib
import subprocess
import sys

import pytest
import triton

BENCH = pathlib.Path(__file__).resolve().parents[3] / "bench"
PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(triton.__file__)))


def run(folder, *options):
    path = os.pathsep.join((str(BENCH), PACKAGE, os.environ.get("PYTHONPATH", "")))
    return subprocess.run(
        [sys.executable, folder / "busy_machine.py", "--quick", "--busy", "1", *options],
        capture_output=True,
        text=True,
        env=dict(os.environ, PYTHONPATH=path),
    )


@pytest.mark.full
def test_a_kernel_beside_a_busy_process():
    done = run(BENCH, "--only", "layer")
    assert done.returncode == 0, done.stderr
    row = json.loads(done.stdout)
    assert row["what"] == "layer norm"
    for name in ("median", "p90"):
        assert set(row[name]) == {"ours", "torch"} and all(row[name].values())
        assert set(row[name + "_ratio"]) == {"torch"}
    assert min(row["samples"].values()) >= 20


@pytest.mark.parametrize("ends_badly", [False, True])
def test_no_process_is_left(ends_badly):
    sys.path.insert(0, str(BENCH))
    try:
        from busy_machine import busy_processes
    finally:
        sys.path.remove(str(BENCH))
    ends = pytest.raises(KeyError) if ends_badly else contextlib.nullcontext()
    with ends, busy_processes(2) as others:
        assert [other.poll() for other in others] == [None, None]
        if ends_badly:
            raise KeyError
    assert None not in [other.poll() for other in others]


@pytest.mark.full
def test_a_wrong_kernel_is_found(tmp_path):
    text = (BENCH / "busy_machine.py").read_text()
    assert "    contest.check()\n" in text
    changed = text.replace(
        "    contest.check()\n", "    contest.expected += 1\n    contest.check()\n"
    )
    (tmp_path / "busy_machine.py").write_text(changed)
    done = run(tmp_path, "--only", "softmax")
    assert done.returncode != 0
    assert "the kernel is wrong" in done.stderr
