"""bench/compiled_workloads.py runs end to end, and fails where a compiled function is wrong."""
# SPDX-License-Identifier: MIT

import json
import os
import pathlib
import shutil
import subprocess
import sys

import pytest
import triton

SCRIPT = pathlib.Path(__file__).resolve().parents[3] / "bench" / "compiled_workloads.py"
PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(triton.__file__)))


@pytest.mark.full
@pytest.mark.skipif(not shutil.which("g++"), reason="the C++ backend needs a compiler")
@pytest.mark.parametrize("tolerance", ["3e-2", "0"])
def test_one_workload(tolerance, tmp_path):
    text = SCRIPT.read_text()
    assert '"bf16": 3e-2' in text
    (tmp_path / "workloads.py").write_text(text.replace('"bf16": 3e-2', f'"bf16": {tolerance}'))
    path = os.pathsep.join((str(SCRIPT.parent), PACKAGE, os.environ.get("PYTHONPATH", "")))
    done = subprocess.run(
        [sys.executable, tmp_path / "workloads.py", "--quick", "--rounds", "1"]
        + ["--only", "swiglu", "--dtypes", "bf16"],
        capture_output=True,
        text=True,
        env=dict(os.environ, PYTHONPATH=path),
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    if tolerance == "0":
        assert done.returncode == 1
        assert "swiglu bf16 ours" in lines[0]["failed"]
        return
    assert done.returncode == 0, done.stderr
    row, summary = lines
    assert row["what"] == "swiglu bf16"
    assert set(row["milliseconds"]) == {"ours", "cpp", "eager"}
    assert summary["geometric_means"]["run"] == row["run"]
