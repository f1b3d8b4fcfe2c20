"""Runs the test levels, adds up their counts and ends with `N passed, N failed, N skipped`.

usage: run_tests.py [--device cpu|cuda|sim|sim:80] [--wheel FILE] [--no-build] [--sanitize] [--workers N] [LEVEL...]

A level consists of parts, each one process of a test runner. The parts of all levels are one queue, the longest
first, from which the workers take; a level is reported when its last part has ended.
"""
# SPDX-License-Identifier: MIT

from __future__ import annotations

import argparse
import collections
import dataclasses
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
import xml.etree.ElementTree
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from typing import Any

import xla_envs

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.join(ROOT, "build", "dev")
LOGS = os.path.join(ROOT, "build", "log")
TAIL_CHARS = 20_000  # of a failing level's output
WHEEL_LEVELS = ("run", "interpret", "python")
PTX_DEVICE = "cuda:90"
PTX_PARTS = 3
UNIT_PARTS = 2
PYTHON_PARTS = 3
RUN_PARTS = 2
WORKERS = 2
QUICK_LEVELS = ("layers", "unit", "golden", "ir", "quick-run")
# The tests for compute-sanitizer: every kind of access, exchange between threads and loop.
SANITIZED = (
    "vector_add.py",
    "fused_softmax.py",
    "builtins/memory.py",
    "builtins/reductions.py",
    "builtins/shapes.py",
    "language/control_flow.py",
    "language/functions.py",
)
# The tests in interpreter mode: each way in which a program's values, calls and loops use operations.
INTERPRETED = (
    "vector_add.py",
    "fused_softmax.py",
    "builtins/block_pointers.py",
    "builtins/host_descriptors.py",
    "builtins/loop_iterators.py",
    "builtins/program.py",
    "builtins/reductions.py",
    "kernels",
    "language",
)
# The run-tests on simulated GPUs: every way in which threads share work. The last two are of instructions that only
# compute capability 9.0 has.
ON_SIMULATED_GPUS = (
    "vector_add.py",
    "fused_softmax.py",
    "builtins/atomics.py",
    "builtins/atomic_loads.py",
    "builtins/debug.py",
    "builtins/descriptors.py",
    "builtins/dot.py",
    "builtins/gathers.py",
    "builtins/host_descriptors.py",
    "builtins/joins.py",
    "builtins/memory.py",
    "builtins/reductions.py",
    "builtins/scans.py",
    "builtins/shapes.py",
    "kernels",
    "language",
    "regressions",
    "stdlib/sorting.py",
    "builtins/producer_warps.py",
    "builtins/warp_group_dots.py",
)
# On simulated GPUs of AMD's: what a vendor's lowering has of its own.
ON_AMD_GPUS = (
    "vector_add.py",
    "fused_softmax.py",
    "builtins/atomics.py",
    "builtins/dot.py",
    "builtins/fp8.py",
    "builtins/gathers.py",
    "builtins/libdevice.py",
    "builtins/mathematics.py",
    "builtins/memory.py",
    "builtins/reductions.py",
    "builtins/scans.py",
    "kernels",
    "language/functions.py",
    "random_tiles.py",
)
SIMULATED_PARTS = {
    "sim:80": ON_SIMULATED_GPUS[:-2],
    "sim:90": ON_SIMULATED_GPUS,
    "sim:gfx942": ON_AMD_GPUS,
    "sim:gfx1100": ON_AMD_GPUS,
}
SANITIZERS = ("memcheck", "racecheck")
FIND_PTXAS = "from triton.backends.nvidia.assembler import find_assembler as f; print(f(90).ptxas)"


@dataclasses.dataclass
class Outcome:
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    output: str = ""
    reasons: list[str] = dataclasses.field(
        default_factory=list
    )  # the reasons for skipped tests, one line each

    def add(self, other: Outcome) -> None:
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped
        if other.failed:
            self.output += other.output
        self.reasons += other.reasons

    def fail(self, why: str) -> Outcome:
        self.failed += 1
        self.output += f"\n{why}\n"
        return self


@dataclasses.dataclass
class Request:
    device: str
    wheel: str | None
    workers: int
    scratch: str  # a folder that the parts of this run share


@dataclasses.dataclass
class Part:
    """One process of a test runner. `seconds` is what it takes beside another part on two cores of a Xeon; it only
    orders the queue.
    """

    seconds: float
    run: Callable[[], Outcome]


def run(command: list[str], log: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Runs `command` with its output in build/log/<log>.log and in the result."""
    done = subprocess.run(
        command,
        cwd=ROOT,
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    )
    with open(os.path.join(LOGS, log + ".log"), "w", encoding="utf-8") as file:
        file.write(done.stdout)
    return done


def report_path(name: str) -> str:
    path = os.path.join(LOGS, name)
    if os.path.exists(path):
        os.unlink(path)
    return path


def agree(outcome: Outcome, returncode: int) -> Outcome:
    """A tool that fails without a failed test (a crash, a collection error) counts as one failure."""
    if returncode != 0 and outcome.failed == 0:
        return outcome.fail(f"the test runner ended with status {returncode}")
    if outcome.passed + outcome.failed + outcome.skipped == 0:
        return outcome.fail("this level ran no test")
    return outcome


def unit(request: Request) -> list[Part]:
    return [Part(60, lambda index=index: unit_part(index)) for index in range(UNIT_PARTS)]


def unit_part(index: int) -> Outcome:
    program = os.path.join(BUILD, "bin", "nereid-unit-tests")
    if not os.path.exists(program):
        return Outcome().fail(f"{program} is not built")
    shard = {"GTEST_TOTAL_SHARDS": str(UNIT_PARTS), "GTEST_SHARD_INDEX": str(index)}
    report = report_path(f"unit-{index}.json")
    done = run([program, f"--gtest_output=json:{report}"], f"test-unit-{index}", **shard)
    return unit_outcome(report, done)


def unit_outcome(report: str, done: subprocess.CompletedProcess[str]) -> Outcome:
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
    done = run(
        [
            sys.executable,
            "-c",
            "import lit.main; lit.main.main()",
            "-v",
            "--param",
            f"level={level}",
            "-o",
            report,
            os.path.join(BUILD, "test"),
        ],
        f"test-{level}",
    )
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
    folder: str,
    device: str,
    *options: str,
    under: tuple[str, ...] = (),
    files: tuple[str, ...] = ("",),
    python: str = sys.executable,
    **environment: str,
) -> Outcome:
    """Tests of a folder, or some of its files; `under` is a program that runs pytest."""
    report = report_path(f"{name}.xml")
    command = [*under, python, "-m", "pytest", "-q", "--no-header", f"--junitxml={report}"]
    command += [f"--device={device}", *options]
    command += [os.path.join("test", folder, file) for file in files]
    done = run(command, f"test-{name}", **environment)
    outcome = Outcome(output=done.stdout)
    if not os.path.exists(report):
        return outcome.fail(
            f"pytest ended with status {done.returncode} and wrote no report (a crash, if it is negative)"
        )
    for case in xml.etree.ElementTree.parse(report).getroot().iter("testcase"):
        kinds = {child.tag: child for child in case}
        if "failure" in kinds or "error" in kinds:
            outcome.failed += 1
        elif "skipped" in kinds:
            outcome.skipped += 1
            outcome.reasons.append(f"{case.get('classname')}: {kinds['skipped'].get('message')}")
        else:
            outcome.passed += 1
        for part in case.iter("property"):  # of a test whose other parts ran
            if part.get("name") == "skipped":
                outcome.skipped += 1
                outcome.reasons.append(f"{case.get('classname')}: {part.get('value')}")
    return agree(outcome, done.returncode)


def run_tests_of_kernels(device: str, name: str, *options: str, **more: Any) -> Outcome:
    return pytest(name, "run", device, "-o", "python_files=*.py", *options, **more)


def run_level(request: Request) -> list[Part]:
    """The run-tests; with many workers, a part for each of them."""
    count = max(RUN_PARTS, request.workers)

    def part(index: int) -> Callable[[], Outcome]:
        shard = f"--shard={index}/{count}"
        return lambda: run_tests_of_kernels(request.device, f"run-{index}", shard)

    return [Part(300, part(index)) for index in range(count)]


def find_sanitizer() -> str | None:
    roots = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"]
    folders = [os.path.join(root, "bin") for root in roots if root]
    return shutil.which("compute-sanitizer", path=os.pathsep.join([*folders, os.environ["PATH"]]))


def sanitize(request: Request) -> Outcome:
    """The run-tests named above under each tool of compute-sanitizer."""
    program = find_sanitizer()
    if request.device != "cuda" or not program:
        why = "there is no compute-sanitizer" if program is None else "--device cuda is needed"
        return Outcome(skipped=1, reasons=[f"compute-sanitizer: {why}"])
    total = Outcome()
    for tool in SANITIZERS:
        under = (program, "--tool", tool, "--error-exitcode", "9", "--target-processes", "all")
        total.add(run_tests_of_kernels("cuda", tool, under=under, files=SANITIZED))
    return total


def ptx(request: Request) -> list[Part]:
    """Compiles every kernel of the run-tests for sm_90a and sm_80 to machine code, without such
    GPUs; the parts share an empty kernel cache.
    """
    cache = os.path.join(request.scratch, "ptx-cache")
    os.makedirs(cache)
    return [Part(400, lambda index=index: ptx_part(index, cache)) for index in range(PTX_PARTS)]


def ptx_part(index: int, cache: str) -> Outcome:
    found = run([sys.executable, "-c", FIND_PTXAS], f"test-ptx-tools-{index}")
    if found.returncode != 0:
        return Outcome(output=found.stdout).fail("the search for ptxas failed")
    ptxas = found.stdout.strip()
    if not ptxas:
        return Outcome(skipped=1, reasons=[f"every kernel: {why_no_ptxas()}"])
    environment = {"TRITON_CACHE_DIR": cache, "TRITON_PTXAS_PATH": ptxas}
    return run_tests_of_kernels(
        PTX_DEVICE, f"ptx-{index}", f"--shard={index}/{PTX_PARTS}", **environment
    )


def simulated(request: Request) -> list[Part]:
    """The tests of test/sim, and a part of the run-tests on each simulated GPU."""

    def on(device: str, files: tuple[str, ...]) -> Callable[[], Outcome]:
        return lambda: run_tests_of_kernels(device, f"simulated-{device[4:]}", files=files)

    parts = [Part(400, on(device, files)) for device, files in SIMULATED_PARTS.items()]
    return [*parts, Part(60, lambda: pytest("simulated", "sim", "sim"))]


def python(request: Request) -> list[Part]:
    def part(index: int) -> Callable[[], Outcome]:
        shard = f"--shard={index}/{PYTHON_PARTS}"
        return lambda: pytest(f"python-{index}", "python", request.device, shard)

    return [Part(300, part(index)) for index in range(PYTHON_PARTS)]


def why_no_ptxas() -> str:
    missing = os.path.join(ROOT, "build", "cuda-missing")
    if not os.path.exists(missing):
        return "no ptxas here; ./dev setup installs it"
    with open(missing, encoding="utf-8") as file:
        return file.read().strip()


def layers(request: Request) -> Outcome:
    done = run([sys.executable, os.path.join("scripts", "check_layers.py")], "test-layers")
    lines = done.stdout.splitlines()
    outcome = Outcome(output=done.stdout)
    outcome.passed = sum(line.startswith("PASS ") for line in lines)
    outcome.failed = sum(line.startswith("FAIL ") for line in lines)
    return agree(outcome, done.returncode)


def xla(request: Request) -> Outcome:
    """Tests of XLA's programs: on a CPU in an environment for each set of versions, on a GPU if
    they are installed.
    """
    if request.device == "cuda":
        return pytest("xla", "xla/jax", "cuda")
    total = Outcome()
    for name in xla_envs.names():
        if os.path.isdir(os.path.join(ROOT, "test", xla_folder(name))):
            total.add(xla_environment(name))
    return total


def xla_folder(name: str) -> str:
    return "xla/" + name.split("-")[0]


def xla_environment(name: str) -> Outcome:
    try:
        python = xla_envs.make(name)
    except xla_envs.Unavailable as why:
        return Outcome(skipped=1, reasons=[f"xla {name}: {why}"])
    except RuntimeError as error:
        return Outcome().fail(f"xla {name}: {error}")
    if xla_envs.python_version(name) != f"{sys.version_info[0]}.{sys.version_info[1]}":
        built = run(
            [sys.executable, os.path.join("scripts", "module_for.py"), python], f"module-{name}"
        )
        if built.returncode != 0:
            return Outcome(output=built.stdout).fail(f"xla {name}: no Python module for {python}")
    folder = xla_folder(name)
    return pytest(
        f"xla-{name}", folder, "cpu", python=python, PYTHONPATH=os.path.join(BUILD, "python")
    )


def alone(seconds: float, level: Callable[[Request], Outcome]) -> Callable[[Request], list[Part]]:
    """A level of one part."""
    return lambda request: [Part(seconds, lambda: level(request))]


LEVELS: dict[str, Callable[[Request], list[Part]]] = {
    "layers": alone(5, layers),
    "unit": unit,
    "golden": alone(30, lambda request: lit("golden")),
    "ir": alone(30, lambda request: lit("ir")),
    "run": run_level,
    "quick-run": alone(
        200, lambda request: run_tests_of_kernels(request.device, "quick-run", "--shard=0/4")
    ),
    "interpret": alone(
        200,
        lambda request: run_tests_of_kernels("cpu", "interpret", "--interpret", files=INTERPRETED),
    ),
    "ptx": ptx,
    "simulated": simulated,
    "python": python,
    "xla": alone(300, xla),
    "sanitize": alone(100, sanitize),
}
WHEN_ASKED_FOR = ("sanitize", "quick-run")
SIMULATED = (
    "sim",
    "sim:80",
    "sim:90",
    "sim:gfx90a",
    "sim:gfx942",
    "sim:gfx950",
    "sim:gfx1100",
    "sim:gfx1200",
)
ON_SIMULATOR = ("run", "quick-run")  # the levels whose kernels can run there


def install_wheel(path: str) -> None:
    command = [sys.executable, "-m", "pip", "install", "--no-deps", "--force-reinstall", path]
    done = subprocess.run(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode != 0:
        sys.exit(f"{done.stdout}\nthe wheel {path} could not be installed into {sys.executable}")


def parse(scratch: str) -> tuple[Request, list[str]]:
    parser = argparse.ArgumentParser(prog="./dev test")
    parser.add_argument("--device", choices=("cpu", "cuda", *SIMULATED), default="cpu")
    parser.add_argument(
        "--wheel",
        help="test this wheel in the current Python; only the levels run, interpret and python",
    )
    parser.add_argument("--no-build", action="store_true", help="use the existing build")
    parser.add_argument("--sanitize", action="store_true", help="as naming the level sanitize")
    parser.add_argument(
        "--workers",
        type=int,
        default=WORKERS,
        help=f"parts that run side by side; {WORKERS} by default",
    )
    parser.add_argument("levels", nargs="*", metavar="level", help="quick " + " ".join(LEVELS))
    args = parser.parse_args()
    if "quick" in args.levels:
        args.levels = [*args.levels, *QUICK_LEVELS]
        args.levels.remove("quick")
    possible = WHEEL_LEVELS if args.wheel else tuple(LEVELS)
    if args.device in SIMULATED:
        possible = tuple(level for level in possible if level in ON_SIMULATOR)
    for level in args.levels:
        if level not in possible:
            parser.error(
                f"no level '{level}'{' for a wheel' if args.wheel else ''} on {args.device}; there are: {' '.join(possible)}"
            )
    chosen = set(args.levels or set(possible) - set(WHEN_ASKED_FOR))
    if args.sanitize:
        chosen = {*args.levels, "sanitize"}
    request = Request(args.device, args.wheel, max(1, args.workers), scratch)
    return request, [level for level in possible if level in chosen]


def report(level: str, outcome: Outcome, seconds: list[float]) -> None:
    if outcome.failed:
        print(outcome.output[-TAIL_CHARS:])
    print(
        f"{level:8} {outcome.passed} passed, {outcome.failed} failed, {outcome.skipped} skipped"
        f"  ({' + '.join(f'{part:.0f}' for part in seconds)} s)"
    )
    for reason in sorted(set(outcome.reasons)):
        print(f"         skipped: {reason} (x{outcome.reasons.count(reason)})")
    sys.stdout.flush()


def timed(part: Part) -> tuple[Outcome, float]:
    """What a part gave and how long it took; a part that raises is one failure."""
    began = time.monotonic()
    try:
        outcome = part.run()
    except Exception as error:
        last = traceback.format_exception_only(type(error), error)[-1].strip()
        outcome = Outcome(output=traceback.format_exc()).fail(f"a part of the tests raised {last}")
    return outcome, time.monotonic() - began


def run_levels(request: Request, levels: list[str]) -> Outcome:
    """The sum of these levels, each reported with the seconds of its parts as soon as the last of them has ended."""
    parts = [(level, part) for level in levels for part in LEVELS[level](request)]
    parts.sort(key=lambda entry: entry[1].seconds, reverse=True)
    counts = collections.Counter(level for level, _ in parts)
    outcomes = {level: Outcome() for level in levels}
    seconds: dict[str, list[float]] = {level: [] for level in levels}
    pool = ThreadPoolExecutor(request.workers)
    try:
        level_of: dict[Future, str] = {pool.submit(timed, part): level for level, part in parts}
        for done in as_completed(level_of):
            level = level_of[done]
            outcome, took = done.result()
            outcomes[level].add(outcome)
            seconds[level].append(took)
            if len(seconds[level]) == counts[level]:
                report(level, outcomes[level], seconds[level])
    except BaseException:  # Ctrl-C: parts that wait in the queue do not start
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    pool.shutdown()
    total = Outcome()
    for outcome in outcomes.values():
        total.add(outcome)
    return total


def main() -> int:
    with tempfile.TemporaryDirectory() as scratch:
        request, levels = parse(scratch)
        os.makedirs(LOGS, exist_ok=True)
        if request.wheel:
            install_wheel(request.wheel)
        total = run_levels(request, levels)
    print(f"{total.passed} passed, {total.failed} failed, {total.skipped} skipped")
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main())
