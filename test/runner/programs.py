"""Runs gtest, lit and pytest as processes and reads their reports."""
# SPDX-License-Identifier: MIT

from __future__ import annotations

import json
import os
import subprocess
import sys
import xml.etree.ElementTree

from outcome import Outcome

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.join(ROOT, "build", "dev")
LOGS = os.path.join(ROOT, "build", "log")
NO_TESTS = 5  # pytest's status where a selection leaves none of the files' tests
SECONDS = 2700  # of a process: a test that hangs
TIMED_OUT = 124


def run(command: list[str], log: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs `command` with its output in build/log/<log>.log and in the result. It is ended where it takes too long;
    what it has started and left is not waited for.
    """
    path = os.path.join(LOGS, log + ".log")
    with open(path, "wb") as file:
        try:
            status = subprocess.run(
                command,
                cwd=ROOT,
                env={**os.environ, **environment},
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                timeout=SECONDS,
            ).returncode
        except subprocess.TimeoutExpired:
            file.write(f"\nended after {SECONDS} s\n".encode())
            status = TIMED_OUT
    with open(path, encoding="utf-8", errors="replace") as file:
        return subprocess.CompletedProcess(command, status, file.read())


def report_path(name: str) -> str:
    path = os.path.join(LOGS, name)
    if os.path.exists(path):
        os.unlink(path)
    return path


def agree(outcome: Outcome, returncode: int) -> Outcome:
    """A tool that fails without a failed test (a crash, a collection error) counts as one failure."""
    if returncode != 0 and outcome.failed == 0:
        return outcome.fail(f"the test runner ended with status {returncode}")
    return outcome


def gtest(name: str, index: int, count: int) -> Outcome:
    """One of `count` shards of the unit tests."""
    program = os.path.join(BUILD, "bin", "nereid-unit-tests")
    if not os.path.exists(program):
        return Outcome().fail(f"{program} is not built")
    shard = {"GTEST_TOTAL_SHARDS": str(count), "GTEST_SHARD_INDEX": str(index)}
    report = report_path(f"{name}.json")
    done = run([program, f"--gtest_output=json:{report}"], f"test-{name}", **shard)
    return read_gtest(report, done)


def read_gtest(report: str, done: subprocess.CompletedProcess[str]) -> Outcome:
    outcome = Outcome(output=done.stdout)
    if not os.path.exists(report):
        return outcome.fail(f"the unit tests crashed with status {done.returncode}")
    with open(report, encoding="utf-8") as file:
        suites = json.load(file)["testsuites"]
    for case in (case for suite in suites for case in suite["testsuite"]):
        if case["status"] == "NOTRUN":  # of another shard
            continue
        if case.get("failures"):
            outcome.failed += 1
        elif case["result"] == "COMPLETED":
            outcome.passed += 1
        else:
            outcome.skipped += 1
            outcome.reasons.append(
                f"{case['classname']}.{case['name']}: this machine lacks what it needs"
            )
    return agree(outcome, done.returncode)


def lit(level: str) -> Outcome:
    report = report_path(f"{level}.json")
    program = [sys.executable, "-c", "import lit.main; lit.main.main()", "-v"]
    options = ["--param", f"level={level}", "-o", report, os.path.join(BUILD, "test")]
    done = run([*program, *options], f"test-{level}")
    outcome = Outcome(output=done.stdout)
    if not os.path.exists(report):
        return outcome.fail(f"lit ended with status {done.returncode}")
    with open(report, encoding="utf-8") as file:
        tests = json.load(file)["tests"]
    for test in tests:
        if test["code"] in ("PASS", "XFAIL", "FLAKYPASS"):
            outcome.passed += 1
        elif test["code"] in ("UNSUPPORTED", "SKIPPED"):
            outcome.skipped += 1
            outcome.reasons.append(f"{test['name']}: {test['code'].lower()} here")
        else:
            outcome.failed += 1
    return agree(outcome, done.returncode)


def pytest(
    name: str,
    files: list[str],
    *options: str,
    under: tuple[str, ...] = (),
    python: str = sys.executable,
    environment: dict[str, str] | None = None,
) -> Outcome:
    """Tests of these files, below the root; `under` is a program that runs pytest. Without a status of its own a part
    whose files have no test of the selection is empty.
    """
    report = report_path(f"{name}.xml")
    command = [*under, python, "-m", "pytest", "-q", "--no-header", f"--junitxml={report}"]
    done = run([*command, *options, *files], f"test-{name}", **(environment or {}))
    outcome = Outcome(output=done.stdout)
    if not os.path.exists(report):
        return outcome.fail(
            f"pytest ended with status {done.returncode} and wrote no report (a crash, if it is negative)"
        )
    for case in xml.etree.ElementTree.parse(report).getroot().iter("testcase"):
        add_case(outcome, case)
    return agree(outcome, 0 if done.returncode == NO_TESTS else done.returncode)


def add_case(outcome: Outcome, case: xml.etree.ElementTree.Element) -> None:
    kinds, where = {child.tag: child for child in case}, case.get("classname", "")
    if "failure" in kinds or "error" in kinds:
        outcome.failed += 1
    elif "skipped" in kinds:
        outcome.skipped += 1
        outcome.reasons.append(f"{where}: {kinds['skipped'].get('message')}")
    else:
        outcome.passed += 1
    for part in case.iter("property"):  # of a test whose other parts ran
        if part.get("name") == "skipped":
            outcome.skipped += 1
            outcome.reasons.append(f"{where}: {part.get('value')}")
    outcome.seconds[where] += float(case.get("time", 0))
