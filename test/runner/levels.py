"""The levels: the tests of each, and the parts in which they run."""
# SPDX-License-Identifier: MIT

from __future__ import annotations

import dataclasses
import glob
import math
import os
import shutil
import sys
import time
from collections.abc import Callable

import durations
import programs
import selections
import xla_envs
from outcome import Outcome
from programs import BUILD, ROOT
from work import Part

PTX_DEVICE = "cuda:90"
UNIT_PARTS = 2
KEPT_SECONDS = 7 * 24 * 3600  # what ptxas made
MOST_SECONDS, LEAST_SECONDS = 90, 30  # of a process, which takes seconds to start
SANITIZERS = ("memcheck", "racecheck")
FIND_PTXAS = "from triton.backends.nvidia.assembler import find_assembler as f; print(f(90).ptxas)"


@dataclasses.dataclass
class Request:
    device: str
    workers: int
    scratch: str  # a folder that the parts of this run share
    is_full: bool = False


@dataclasses.dataclass
class Suite:
    """Files that pytest runs in one way. The name is that of its reports and durations."""

    name: str
    files: list[str]  # below test/
    options: tuple[str, ...]
    environment: dict[str, str] = dataclasses.field(default_factory=dict)

    def parts(self, request: Request) -> list[Part]:
        known = durations.load().get(self.name, {})
        sizes = {file: known.get(file, durations.UNKNOWN) for file in self.files}
        seconds = sum(sizes.values())
        count = max(
            math.ceil(seconds / MOST_SECONDS), min(request.workers, int(seconds / LEAST_SECONDS))
        )
        packs = durations.pack(sizes, max(1, count))
        return [
            Part(durations.total(sizes, files), self.runner(request, files, index), self.name)
            for index, files in enumerate(packs)
        ]

    def runner(self, request: Request, files: list[str], index: int) -> Callable[[], Outcome]:
        name = f"{self.name.replace(':', '-')}-{index}"
        options = self.options if request.is_full else ("--brief", *self.options)
        paths = [os.path.join("test", file) for file in files]
        return lambda: programs.pytest(name, paths, *options, environment=self.environment)


def files_below(folder: str, entries: tuple[str, ...] = ("",), prefix: str = "") -> list[str]:
    """The test files of a folder, or of these files and folders in it."""
    found = []
    for entry in entries:
        path = os.path.join(ROOT, "test", folder, entry)
        inside = glob.glob(os.path.join(path, "**", f"{prefix}[!_]*.py"), recursive=True)
        found += [path] if os.path.isfile(path) else inside
    tests = [path for path in found if os.path.basename(path) not in ("conftest.py", "harness.py")]
    return sorted(os.path.relpath(path, os.path.join(ROOT, "test")) for path in tests)


def run_suite(
    request: Request,
    name: str,
    device: str,
    *options: str,
    entries: tuple[str, ...] = ("",),
    environment: dict[str, str] | None = None,
) -> Suite:
    """Run-tests on a device. Where not all cases are asked for, files of the CPU's plan are for the CPU alone."""
    files = files_below("run", entries)
    if not request.is_full and device != "cpu":
        apart = selections.files_of_cpus()
        files = [file for file in files if os.path.relpath(file, "run") not in apart]
    options = (f"--device={device}", "-o", "python_files=*.py", *options)
    return Suite(name, files, options, environment or {})


def layers(request: Request) -> Outcome:
    done = programs.run([sys.executable, os.path.join("scripts", "check_layers.py")], "test-layers")
    lines = done.stdout.splitlines()
    outcome = Outcome(output=done.stdout)
    outcome.passed = sum(line.startswith("PASS ") for line in lines)
    outcome.failed = sum(line.startswith("FAIL ") for line in lines)
    return programs.agree(outcome, done.returncode)


def unit(request: Request) -> list[Part]:
    count = max(UNIT_PARTS, request.workers)
    return [
        Part(60, lambda index=index: programs.gtest(f"unit-{index}", index, count))
        for index in range(count)
    ]


def run_level(request: Request) -> list[Part]:
    """All cases are one process: all_names.py then knows every kernel that the folder launches."""
    suite = run_suite(request, "run", request.device)
    if not request.is_full:
        return suite.parts(request)
    return [Part(600, lambda: programs.pytest("run", ["test/run"], *suite.options), suite.name)]


def quick_run(request: Request) -> list[Part]:
    return run_suite(request, "quick-run", request.device, "--shard=0/4").parts(request)


def interpret(request: Request) -> list[Part]:
    entries = selections.INTERPRETED
    return run_suite(request, "interpret", "cpu", "--interpret", entries=entries).parts(request)


def python(request: Request) -> list[Part]:
    files = files_below("python", prefix="test_")
    return Suite("python", files, (f"--device={request.device}",)).parts(request)


def simulated(request: Request) -> list[Part]:
    """The tests of test/sim, and some of the run-tests on each simulated GPU."""
    parts = Suite("sim", files_below("sim", prefix="test_"), ("--device=sim",)).parts(request)
    for device, entries in selections.ON_SIMULATED_GPUS.items():
        parts += run_suite(request, device, device, entries=entries).parts(request)
    return parts


def ptx(request: Request) -> list[Part]:
    """Compiles every kernel of the run-tests for sm_90a and sm_80 to machine code, without such GPUs; the parts share
    an empty kernel cache and what ptxas made.
    """
    found = programs.run([sys.executable, "-c", FIND_PTXAS], "test-ptx-tools")
    ptxas = found.stdout.strip()
    if found.returncode != 0:
        return [Part(0, lambda: Outcome(output=found.stdout).fail("the search for ptxas failed"))]
    if not ptxas:
        return [Part(0, lambda: Outcome(skipped=1, reasons=[f"every kernel: {why_no_ptxas()}"]))]
    cache = os.path.join(request.scratch, "ptx-cache")
    os.makedirs(cache)
    environment = {"TRITON_CACHE_DIR": cache, "TRITON_PTXAS_PATH": keeping_ptxas(ptxas, request)}
    return run_suite(request, "ptx", PTX_DEVICE, environment=environment).parts(request)


def keeping_ptxas(ptxas: str, request: Request) -> str:
    """A program that keeps the results of this ptxas in build/ptxas-results, those of the last days."""
    results = os.path.join(ROOT, "build", "ptxas-results", str(os.path.getsize(ptxas)))
    os.makedirs(results, exist_ok=True)
    for entry in os.scandir(results):
        if entry.stat().st_mtime < time.time() - KEPT_SECONDS:
            os.unlink(entry)
    with open(os.path.join(request.scratch, "settings"), "w", encoding="utf-8") as file:
        file.write(f"{ptxas}\n{results}\n{'full' if request.is_full else 'brief'}\n")
    return shutil.copy(os.path.join(BUILD, "test", "stub", "ptxas"), request.scratch)


def why_no_ptxas() -> str:
    missing = os.path.join(ROOT, "build", "cuda-missing")
    if not os.path.exists(missing):
        return "no ptxas here; ./dev setup installs it"
    with open(missing, encoding="utf-8") as file:
        return file.read().strip()


def find_sanitizer() -> str | None:
    roots = [os.environ.get("CUDA_HOME"), os.environ.get("CUDA_PATH"), "/usr/local/cuda"]
    folders = [os.path.join(root, "bin") for root in roots if root]
    return shutil.which("compute-sanitizer", path=os.pathsep.join([*folders, os.environ["PATH"]]))


def sanitize(request: Request) -> Outcome:
    """Some run-tests under each tool of compute-sanitizer."""
    program = find_sanitizer()
    if request.device != "cuda" or not program:
        why = "there is no compute-sanitizer" if program is None else "--device cuda is needed"
        return Outcome(skipped=1, reasons=[f"compute-sanitizer: {why}"])
    total = Outcome()
    files = [os.path.join("test", file) for file in files_below("run", selections.SANITIZED)]
    for tool in SANITIZERS:
        under = (program, "--tool", tool, "--error-exitcode", "9", "--target-processes", "all")
        options = ("--device=cuda", "-o", "python_files=*.py")
        total.add(programs.pytest(tool, files, *options, under=under))
    return total


def xla(request: Request) -> list[Part]:
    """Tests of XLA's programs: on a CPU in an environment for each set of versions, on a GPU if they are installed."""
    if request.device == "cuda":
        return [Part(300, lambda: programs.pytest("xla", ["test/xla/jax"], "--device=cuda"))]
    return [
        Part(60, lambda name=name: xla_environment(name))
        for name in xla_envs.names()
        if os.path.isdir(os.path.join(ROOT, "test", xla_folder(name)))
    ]


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
        module = [sys.executable, os.path.join("scripts", "module_for.py"), python]
        built = programs.run(module, f"module-{name}")
        if built.returncode != 0:
            return Outcome(output=built.stdout).fail(f"xla {name}: no Python module for {python}")
    folder = os.path.join("test", xla_folder(name))
    environment = {"PYTHONPATH": os.path.join(BUILD, "python")}
    return programs.pytest(
        f"xla-{name}", [folder], "--device=cpu", python=python, environment=environment
    )


def alone(seconds: float, level: Callable[[Request], Outcome]) -> Callable[[Request], list[Part]]:
    """A level of one part."""
    return lambda request: [Part(seconds, lambda: level(request))]


LEVELS: dict[str, Callable[[Request], list[Part]]] = {
    "layers": alone(5, layers),
    "unit": unit,
    "golden": alone(30, lambda request: programs.lit("golden")),
    "ir": alone(30, lambda request: programs.lit("ir")),
    "run": run_level,
    "quick-run": quick_run,
    "interpret": interpret,
    "ptx": ptx,
    "simulated": simulated,
    "python": python,
    "xla": xla,
    "sanitize": alone(100, sanitize),
}
QUICK_LEVELS = ("layers", "unit", "golden", "ir", "quick-run")
WHEEL_LEVELS = ("run", "interpret", "python")
ON_SIMULATOR = ("run", "quick-run")  # the levels whose kernels can run there
WHEN_ASKED_FOR = ("sanitize", "quick-run")
