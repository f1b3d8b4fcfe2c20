"""Plants faults in the product, one at a time, and lists which of them all tests find and which those of a brief run.

usage: mutants.py [--only 3,7] [--results FILE] [--again]

test/scripts/mutants.json has for each fault a file, a text in it, what replaces the text, and tests near it:

  unit FILTER            unit tests, by gtest's filter
  lit PATH               golden and ir tests below test/
  run DEVICE FILE...     run-tests
  python|xla|sim FILE... tests of these folders

Faults whose new text has the word FAULT, an expression that is true where the fault is there, are built together into
build/dev and chosen by the environment. The others are built together after them, so none of their near tests may run
code of another one. The near tests run until one fails, first all cases, then those of a brief run. FILE has the
results, with which a second run goes on; --again begins anew. The files are put back and built at the end; near tests
that found a fault must then pass.
"""
# SPDX-License-Identifier: MIT

from __future__ import annotations

import argparse
import contextlib
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from typing import Any

sys.path.insert(0, os.path.join(os.path.dirname(__file__), os.pardir, "runner"))
import xla_envs  # noqa: E402

XLA = "jax-0.10"
ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build" / "dev"
TABLE = pathlib.Path(__file__).with_suffix(".json")
SECONDS = 900  # of a command; a fault may make a kernel run on
WITHOUT_BRIEF = ("unit", "lit")  # kinds of which a brief run has all cases
NOT_RUN = {"unit": (), "lit": (2,)}  # statuses that say nothing about a fault
NO_TESTS = 5  # pytest's status
NOT_RUN_BY_PYTEST = (2, 3, 4, NO_TESTS)
FAILED_TEST = re.compile(r"^(?:FAILED|ERROR|FAIL:|\[  FAILED  \]) (\S+(?: :: \S+)?)", re.MULTILINE)
CHOICE = "NEREID_FAULT"


def run(command: list[str]) -> tuple[int, str]:
    """The status and the output; a command that takes too long has failed."""
    try:
        done = subprocess.run(
            command,
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=SECONDS,
        )
    except subprocess.TimeoutExpired:
        return 124, "FAILED timeout"
    return done.returncode, done.stdout


def build() -> str:
    """The output of a build that failed, else nothing."""
    command = ["ninja", "-C", str(BUILD), "all", "nereid-unit-tests"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    return done.stdout + done.stderr + f"status {done.returncode}" if done.returncode else ""


def command_of(near: str, is_brief: bool) -> list[str]:
    kind, *words = near.split()
    if kind == "unit":
        program = str(BUILD / "bin" / "nereid-unit-tests")
        return [program, f"--gtest_filter={words[0]}", "--gtest_fail_fast"]
    if kind == "lit":
        start = [sys.executable, "-c", "import lit.main; lit.main.main()", "--max-failures=1"]
        return [*start, str(BUILD / "test" / words[0])]
    command = [sys.executable]
    if kind == "xla":
        command = ["env", f"PYTHONPATH={BUILD / 'python'}", xla_envs.make(XLA)]
    command += ["-m", "pytest", "-x", "-q"]
    command += ["--brief"] if is_brief else []
    if kind == "run":
        device, *words = words
        command += [f"--device={device}", "-o", "python_files=*.py"]
    return [*command, *(os.path.join("test", kind, word) for word in words or [""])]


def failure_of(near: str, is_brief: bool) -> str:
    """The test that fails, else nothing; raises RuntimeError where the tests did not run."""
    status, output = run(command_of(near, is_brief))
    if status == 0 and "Running 0 tests" not in output:
        return ""
    if is_brief and status == NO_TESTS:  # a brief run leaves none of these
        return ""
    if status in (0, *NOT_RUN.get(near.split()[0], NOT_RUN_BY_PYTEST)):
        raise RuntimeError(f"{near}: no test ran (status {status})\n{output[-2000:]}")
    found = FAILED_TEST.search(output)
    return found[1] if found else f"{near}: status {status}"


def try_out(near_tests: list[str]) -> dict[str, str]:
    """The first failing test among all cases and among those of a brief run; empty where all pass. The near tests of
    which they are."""
    result = {"all": "", "brief": "", "near": ""}
    for near in near_tests:
        found = failure_of(near, is_brief=False)
        if found and not result["all"]:
            result |= {"all": found, "near": near}
        if found:
            differs = near.split()[0] not in WITHOUT_BRIEF
            result["brief"] = failure_of(near, is_brief=True) if differs else found
        if result["brief"]:
            break
    return result


def try_out_chosen(number: str, fault: dict[str, Any]) -> dict[str, str]:
    """With the fault chosen, and a kernel cache of its own."""
    with tempfile.TemporaryDirectory() as cache:
        os.environ |= {CHOICE: number, "TRITON_CACHE_DIR": cache}
        return try_out(fault["near"])


def with_choice(text: str, number: str, fault: dict[str, Any]) -> str:
    """The C++ text with a fault that the environment chooses."""
    name = f"isFault{number}Planted"
    helper = f"""#include <cstdlib>
[[maybe_unused]] static bool {name}() {{
  const char *number = std::getenv("{CHOICE}");
  return number && std::atoi(number) == {number};
}}
"""
    return helper + text.replace(fault["old"], fault["new"].replace("FAULT", name + "()"))


@contextlib.contextmanager
def planted(faults: dict[str, dict[str, Any]]) -> Iterator[str]:
    """Builds with these faults; yields the output of a build that failed, else nothing."""
    files = {fault["file"] for fault in faults.values()}
    texts = {file: (ROOT / file).read_text() for file in files}
    changed = dict(texts)
    try:
        for number, fault in faults.items():
            text = changed[fault["file"]]
            assert text.count(fault["old"]) == 1, (
                f"fault {number}: the text of {fault['file']} has changed"
            )
            is_chosen = "FAULT" in fault["new"]
            changed[fault["file"]] = (
                with_choice(text, number, fault)
                if is_chosen
                else text.replace(fault["old"], fault["new"])
            )
        for file, text in changed.items():
            (ROOT / file).write_text(text)
        yield build()
    finally:
        for file, text in texts.items():
            (ROOT / file).write_text(text)


def report(faults: list[dict[str, Any]], results: dict[str, dict[str, str]]) -> None:
    print("| fault | file | all cases | brief run |\n| --- | --- | --- | --- |")
    for number, fault in enumerate(faults, 1):
        result = results.get(str(number))
        if result:
            words = [result[key] or "not found" for key in ("all", "brief")]
            print(f"| {number} | {fault['file']} | {words[0]} | {words[1]} |")
    counts = [sum(bool(result[key]) for result in results.values()) for key in ("all", "brief")]
    print(f"{len(results)} tried, {counts[0]} found by all cases, {counts[1]} by a brief run")


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", help="numbers of faults, with commas")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "build" / "mutants.json")
    parser.add_argument("--again", action="store_true")
    options = parser.parse_args()
    faults = json.loads(TABLE.read_text())
    is_known = options.results.exists() and not options.again
    results = json.loads(options.results.read_text()) if is_known else {}
    only = options.only.split(",") if options.only else [str(n + 1) for n in range(len(faults))]
    left = {number: faults[int(number) - 1] for number in only if number not in results}
    chosen = {number: fault for number, fault in left.items() if "FAULT" in fault["new"]}
    fixed = {number: fault for number, fault in left.items() if number not in chosen}
    for group in filter(None, (chosen, fixed)):
        with planted(group) as error:
            if error:
                print(f"faults {', '.join(group)} do not build:\n{error[-3000:]}")
                return 2
            for number, fault in group.items():
                results[number] = try_out_chosen(number, fault)
                print(number, results[number], flush=True)
                options.results.write_text(json.dumps(results, indent=1) + "\n")
    build()
    report(faults, results)
    os.environ.pop(CHOICE, None)
    for near in sorted({results[number]["near"] for number in left} - {""}):
        if found := failure_of(near, is_brief=False):
            print(f"{near}: {found} fails without a fault, too")
            return 2
    return 1 if any(result.get("all") and not result["brief"] for result in results.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
