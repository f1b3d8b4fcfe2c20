"""Compilations, launches and imports where the address space is nearly used up (docs/why/out-of-memory.md)."""
# SPDX-License-Identifier: MIT

import os
import subprocess
import sys

import pytest

TRIALS = os.path.join(os.path.dirname(__file__), "..", "scripts", "memory_trials.py")


@pytest.mark.parametrize("seed", [11, 12])
def test_trials_at_random_limits(seed):
    """Each ends by itself, with the right result or a report, and works again without the limit."""
    if not os.path.exists(TRIALS):
        pytest.skip("only in the source tree")
    command = [sys.executable, TRIALS, "--count", "16", "--seed", str(seed)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ok" in done.stdout and "reported" in done.stdout


COMPILE = """
import resource, sys
sys.path.insert(0, {scripts!r})
import memory_trials as trials
trials.load_other_libraries()
small, large = trials.kernels()
trials.limit_free_memory({free} << 20)
try:
    trials.compile_for("cpu", small, 64)
    print("compiled")
except Exception as error:
    trials.lift_limit()
    print(type(error).__name__, type(error.__cause__).__name__, error)
trials.lift_limit()
trials.launch(small, 32)
"""


@pytest.mark.parametrize(
    "free, expected", [(20, "[out-of-memory]"), (60, "[out-of-memory]"), (3000, "compiled")]
)
def test_a_compilation_says_what_it_lacks(tmp_path, free, expected):
    text = COMPILE.format(scripts=os.path.dirname(TRIALS), free=free)
    environment = {**os.environ, "TRITON_CACHE_DIR": str(tmp_path), "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, env=environment, timeout=120
    )
    assert done.returncode == 0, done.stderr
    assert expected in done.stdout
    if expected != "compiled":
        assert done.stdout.startswith("CompilationError MemoryError") and "`small`" in done.stdout


@pytest.mark.parametrize(
    "fault, expected",
    [
        ("KeyError('of another kind')", "wrong"),  # afterwards, too
        ("ImportError('no module named x')", "wrong"),
        ("MemoryError('at every import')", "wrong afterwards: MemoryError"),
    ],
)
def test_an_import_that_fails_otherwise_is_found(tmp_path, monkeypatch, fault, expected):
    if not os.path.exists(TRIALS):
        pytest.skip("only in the source tree")
    monkeypatch.syspath_prepend(os.path.dirname(TRIALS))
    import memory_trials as trials

    (tmp_path / "triton").mkdir()
    (tmp_path / "triton" / "__init__.py").write_text(f"raise {fault}\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert trials.import_trial(700 * trials.MIB).startswith(expected)


def test_an_import_says_that_memory_is_short(monkeypatch):
    if not os.path.exists(TRIALS):
        pytest.skip("only in the source tree")
    monkeypatch.syspath_prepend(os.path.dirname(TRIALS))
    import memory_trials as trials

    short = [
        MemoryError(),
        OSError(12, "Cannot allocate memory"),
        ImportError("x.so: failed to map segment from shared object"),
    ]
    assert all(map(trials.names_shortage, short))
    others = [
        KeyError("x"),
        ImportError("no module named x"),
        OSError(2, "no such file"),
        SyntaxError("x"),
    ]
    assert not any(map(trials.names_shortage, others))
