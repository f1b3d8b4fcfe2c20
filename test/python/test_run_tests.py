"""The runner of the test levels: its queue, its packs of files, and what a brief run leaves out."""
# SPDX-License-Identifier: MIT

import itertools
import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import pytest

TESTS = Path(__file__).resolve().parents[1]
RUNNER = TESTS / "runner"
if not RUNNER.is_dir():
    pytest.skip("only in the source tree", allow_module_level=True)
sys.path.insert(0, os.fspath(RUNNER))

import durations  # noqa: E402
import levels  # noqa: E402
import programs  # noqa: E402
import selections  # noqa: E402
import work  # noqa: E402
from outcome import Outcome  # noqa: E402
from work import Part  # noqa: E402


def run(workers, *parts):
    return work.run({"level": [Part(1, part) for part in parts]}, workers)[0]


def test_a_part_that_raises_is_a_failure(capsys):
    def raises():
        raise OSError(28, "the disk is full")

    total = run(2, raises, lambda: Outcome(passed=3))
    assert (total.passed, total.failed) == (3, 1)
    told = capsys.readouterr().out
    assert "a part of the tests raised OSError: [Errno 28] the disk is full" in told
    assert "3 passed, 1 failed, 0 skipped" in told


def test_a_level_without_tests_is_a_failure(capsys):
    assert run(1, Outcome, Outcome).failed == 1
    assert "this level ran no test" in capsys.readouterr().out
    assert run(1, Outcome, lambda: Outcome(passed=1)).failed == 0


def test_a_level_without_parts_is_a_failure(capsys):
    total, _ = work.run({"first": [], "second": [Part(1, lambda: Outcome(passed=1))]}, 1)
    assert (total.passed, total.failed) == (1, 1)
    assert "first    0 passed, 1 failed, 0 skipped" in capsys.readouterr().out


def test_a_suite_without_tests_is_a_failure_of_its_level(capsys):
    def part(suite, **seconds):
        return Part(1, lambda: Outcome(passed=len(seconds), seconds=Counter(seconds)), suite)

    parts = [part("sim:80", vector_add=2), part("sim:90"), part("sim:80"), part("sim:90")]
    total, suites = work.run({"simulated": parts}, 2)
    assert (total.passed, total.failed) == (1, 1)
    assert "the suite sim:90 ran no test" in capsys.readouterr().out
    assert suites == {"sim:80": {"vector_add": 2}, "sim:90": {}}


@pytest.fixture
def pytest_run(tmp_path, monkeypatch):
    """The outcome of a test whose body this is, as a part of a level runs it."""
    monkeypatch.setattr(programs, "LOGS", str(tmp_path))
    monkeypatch.setattr(programs, "ROOT", str(tmp_path))

    def run(body, *options):
        imports = "import atexit, os, subprocess, time"
        (tmp_path / "test_it.py").write_text(f"{imports}\ndef test_it():\n    {body}\n")
        return programs.pytest("it", ["test_it.py"], *options)

    return run


def test_a_process_that_dies_is_a_failure(pytest_run):
    for body in ("os._exit(0)", "atexit.register(os._exit, 3)"):
        assert pytest_run(body).failed == 1, body


def test_a_process_that_hangs_is_a_failure(pytest_run, monkeypatch):
    """What it has started is not waited for."""
    monkeypatch.setattr(programs, "SECONDS", 2)
    began = time.monotonic()
    body = "print('begins', flush=True); subprocess.Popen(['sleep', '20']); time.sleep(20)"
    outcome = pytest_run(body, "-s")
    assert time.monotonic() - began < 15
    assert outcome.failed == 1
    assert "begins" in outcome.output and "ended after 2 s" in outcome.output


def test_a_file_that_is_not_there_is_a_failure(pytest_run):
    assert programs.pytest("it", ["test_gone.py"]).failed == 1


def test_the_longest_part_of_all_levels_is_first(capsys):
    order = []

    def part(seconds):
        return Part(seconds, lambda: order.append(seconds) or Outcome(passed=1))

    work.run({"a": [part(5), part(90)], "b": [part(60)]}, 1)
    assert order == [90, 60, 5]


def test_an_interrupt_leaves_the_queue(monkeypatch):
    goes_on, ran = threading.Event(), []

    def interrupted(futures):
        raise KeyboardInterrupt

    def part():
        ran.append(goes_on.wait(10))
        return Outcome(passed=1)

    monkeypatch.setattr(work, "as_completed", interrupted)
    try:
        with pytest.raises(KeyboardInterrupt):
            run(1, part, part, part)
        assert ran == []  # nobody has waited for the first
    finally:
        goes_on.set()
    for thread in threading.enumerate():
        if thread.name.startswith("ThreadPoolExecutor"):
            thread.join(10)
    assert len(ran) == 1


def test_packs_have_every_file_once_and_are_alike():
    seconds = [70, 40, 30, 30, 8, 5, 1, 1]
    sizes = {f"{index}.py": float(size) for index, size in enumerate(seconds)}
    packs = durations.pack(sizes, 3)
    assert sorted(itertools.chain(*packs)) == sorted(sizes)
    assert [durations.total(sizes, files) for files in packs] == [70, 55, 60]
    assert packs[0] == ["0.py"]
    assert durations.pack({"a.py": 1.0}, 3) == [["a.py"]]


def test_recorded_seconds_are_those_of_files(monkeypatch, tmp_path):
    monkeypatch.setattr(durations, "PATH", str(tmp_path / "durations.json"))
    Path(durations.PATH).write_text(
        '{"run": {"run/gone.py": 5.0}, "ptx": {"run/vector_add.py": 3.0}}'
    )
    modules = {
        "test.run.vector_add": 2.04,
        "test.run.builtins.dot": 0.5,
        "test.python.test_jit.TestJit": 7.0,
    }
    durations.record({"run": modules})
    assert durations.load() == {
        "ptx": {"run/vector_add.py": 3.0},
        "run": {"python/test_jit.py": 7.0, "run/vector_add.py": 2.0},
    }


def test_every_file_of_a_level_is_in_one_part(monkeypatch):
    taken = []
    monkeypatch.setattr(
        levels.programs,
        "pytest",
        lambda name, files, *options, **more: taken.append((name, files, options)) or Outcome(),
    )
    request = levels.Request("cpu", 2, "")
    for part in levels.run_level(request):
        part.run()
    files = sorted(itertools.chain(*(files for _, files, _ in taken)))
    paths = (TESTS / "run").rglob("[!_]*.py")
    wanted = [path for path in paths if path.name not in ("conftest.py", "harness.py")]
    assert files == sorted(os.path.relpath(path, TESTS.parent) for path in wanted)
    assert len({name for name, _, _ in taken}) == len(taken)
    assert all("--brief" in options for _, _, options in taken)


def test_only_full_runs_have_the_files_of_the_cpus_plan_on_gpus():
    def files(device, is_full):
        request = levels.Request("cpu", 2, "", is_full)
        return set(levels.run_suite(request, "x", device).files)

    plan = "run/builtins/dot_in_place.py"
    assert plan in files("cpu", False) and plan in files("sim:90", True)
    assert plan not in files("sim:90", False)
    some = "run/regressions/uniform_masks.py"  # with cases that are marked `always`
    assert some in files("sim:90", False)


def test_what_cpus_only_lists_exists():
    for name in selections._lists.listed("cpus_only.txt"):
        file, _, function = name.partition("::")
        assert f"def {function}" in (TESTS / "run" / file).read_text(), name


def test_faults_have_their_place_and_tests():
    """A fault whose text is gone would be planted nowhere."""
    for fault in json.loads((TESTS / "scripts" / "mutants.json").read_text()):
        text = (TESTS.parent / fault["file"]).read_text()
        assert text.count(fault["old"]) == 1, f"{fault['file']}: {fault['old']}"
        for near in fault["near"]:
            kind, *files = near.split()
            folder = TESTS if kind == "lit" else TESTS / kind
            for file in files[1:] if kind == "run" else files if kind != "unit" else ():
                assert (folder / file).exists(), near


CASES = """
import pytest

@pytest.mark.always("4-4-4")
@pytest.mark.parametrize("a", range(5))
@pytest.mark.parametrize("b", range(5))
@pytest.mark.parametrize("c", range(5))
def test_pairs(a, b, c): pass

@pytest.mark.parametrize("a", range(30))
def test_one_parameter(a): pass

@pytest.mark.parametrize("a", range(3))
@pytest.mark.parametrize("b", range(5))
def test_few(a, b): pass

@pytest.mark.seeds
@pytest.mark.parametrize("seed", range(4))
def test_seeds(seed): pass

@pytest.mark.full
def test_full(): pass

@pytest.mark.full("1")
@pytest.mark.parametrize("a", range(2))
def test_half(a): pass
"""


def collect(tmp_path, text, *options):
    file = tmp_path / "test_cases.py"
    file.write_text(text)
    command = [sys.executable, "-m", "pytest", "--collect-only", "-q", "-p", "no:cacheprovider"]
    command += [
        f"--confcutdir={TESTS}",
        "-c",
        TESTS.parent / "pyproject.toml",
        "-p",
        "conftest",
        *options,
        file,
    ]
    environment = {**os.environ, "PYTHONPATH": os.fspath(TESTS)}
    return subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True)


def collected(tmp_path, *options):
    done = collect(tmp_path, CASES, *options)
    assert done.returncode == 0, done.stdout + done.stderr
    return [line.rpartition("::")[2] for line in done.stdout.splitlines() if "::" in line]


def test_a_brief_run_has_every_pair(tmp_path):
    cases = collected(tmp_path, "--brief")
    pairs = [tuple(case[len("test_pairs[") : -1].split("-")) for case in cases if "pairs" in case]
    for i, j in itertools.combinations(range(3), 2):
        assert len({(row[i], row[j]) for row in pairs}) == 25
    assert 25 <= len(pairs) < 50 and ("4", "4", "4") in pairs
    counts = {
        name: sum(name in case for case in cases)
        for name in ("one_parameter", "few", "seeds", "full", "half")
    }
    assert counts == {"one_parameter": 30, "few": 15, "seeds": 4, "full": 0, "half": 1}


def test_other_devices_have_the_first_seed(tmp_path):
    assert [
        case for case in collected(tmp_path, "--brief", "--device=sim:90") if "seeds" in case
    ] == ["test_seeds[0]"]


def test_without_the_option_all_cases_run(tmp_path):
    cases = collected(tmp_path)
    assert len(cases) == 125 + 30 + 15 + 4 + 1 + 2


@pytest.mark.parametrize("mark", ["always", "full"])
def test_marks_name_cases_that_exist(tmp_path, mark):
    done = collect(tmp_path, CASES.replace(f'.{mark}("', f'.{mark}("1-'))
    assert done.returncode != 0
    assert {"always": "test_pairs has no case 1-4-4-4", "full": "test_half has no case 1-1"}[
        mark
    ] in done.stdout


@pytest.fixture
def assemble(tmp_path):
    """Calls the ptxas that keeps results, as the compiler does; the real one is a script that counts its runs."""
    program = Path(levels.BUILD, "test", "stub", "ptxas")
    if not program.exists():
        pytest.skip("the tests' programs are not built")
    shutil.copy(program, tmp_path)
    real, folder, runs = tmp_path / "real", tmp_path / "kept", tmp_path / "runs"
    real.write_text(
        f'#!/bin/sh\necho "$*" >>{runs}\ngrep -q wrong "$4" && echo "error: wrong" && exit 3\n'
        'echo "a note"; tail -n 1 "$4" >"$6"\n'
    )
    real.chmod(0o755)
    folder.mkdir()

    def call(selection, target, text):
        (tmp_path / "settings").write_text(f"{real}\n{folder}\n{selection}\n")
        (tmp_path / "in.ptx").write_text(f"//\n.version 8.0\n.target {target}\n{text}\n")
        words = [
            "-lineinfo",
            "-v",
            f"--gpu-name={target}",
            tmp_path / "in.ptx",
            "-o",
            tmp_path / "out",
        ]
        done = subprocess.run([tmp_path / "ptxas", *words], env={}, capture_output=True, text=True)
        count = len(runs.read_text().splitlines())
        return done.returncode, done.stdout, count

    call.cubin = tmp_path / "out"
    return call


def test_a_text_is_assembled_once(assemble):
    assert assemble("full", "sm_90a", "add") == (0, "a note\n", 1)
    assemble.cubin.unlink()
    assert assemble("full", "sm_90a", "add") == (0, "a note\n", 1)
    assert assemble.cubin.read_text() == "add\n"
    assert assemble("full", "sm_90a", "sub") == (0, "a note\n", 2)
    assert assemble("full", "sm_80", "add") == (0, "a note\n", 3)


def test_brief_runs_assemble_a_text_of_two_gpus_for_the_older_one(assemble):
    assert assemble("brief", "sm_90a", "add")[2] == 1
    assert assemble("brief", "sm_80", "add")[2] == 2  # which may lack an instruction
    assert assemble("brief", "sm_80", "sub")[2] == 3
    assert assemble("brief", "sm_90a", "sub") == (0, "", 3)
    assert assemble.cubin.read_text() == "sub\n"
    assert assemble("full", "sm_90a", "sub")[2] == 4


def test_what_is_refused_is_not_kept(assemble):
    for count in (1, 2):
        assert assemble("brief", "sm_80", "wrong") == (3, "error: wrong\n", count)
