"""Runs random programs of all families against numpy, in several processes; a crash or a hang is that program's failure.

usage: ./dev fuzz programs [--count N] [--seed S] [--device cpu|cuda|sim|sim:gfx942] [--processes P] [--seconds T] [--print]
                           [--sanitize-build]
Program number s is the same on every machine: --seed continues where an earlier run ended. With an installed wheel:
python scripts/fuzz_programs.py. With --sanitize-build the compiler and the runtime are those of the preset asan, which
./dev builds first: an error that a sanitizer finds in them ends the process.
"""
# SPDX-License-Identifier: MIT

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
RUN_TESTS = os.path.join(ROOT, "test", "run")
SECONDS_PER_PROGRAM = 20  # on average, in a process that still works
ASAN_PACKAGE = os.path.join(ROOT, "build", "asan", "python")
ASAN_LIBRARY = "libclang_rt.asan-x86_64.so"


def make(number: int, device: str) -> tuple[Any, str]:
    """Program number `number` of all families, with the functions that it calls."""
    import _random_operations
    import random_loops
    import random_memory
    import random_programs
    import random_tiles

    families = (random_tiles, random_tiles, random_programs, random_loops, random_memory)
    family = families[number % len(families)]
    prologue = _random_operations.PROLOGUE if family is random_tiles else ""
    return family.Program(number, device), prologue


def show(first: int, count: int, device: str) -> None:
    """Prints the text of programs without running them."""
    sys.path.insert(0, RUN_TESTS)
    for number in range(first, first + count):
        program, prologue = make(number, device)
        print("import triton\nimport triton.language as tl\n", prologue, program.text(), sep="\n")


def work(first: int, count: int, device: str, progress: str) -> None:
    """Runs in a separate process: records each program before it runs, and those that failed."""
    sys.path.insert(0, RUN_TESTS)
    import _random_runs
    import pytest
    from triton.runtime import driver

    if device == "cpu":
        driver.set_active_to_cpu()
    elif device.startswith("sim"):
        from _gpu import simulated_driver

        driver.set_active(simulated_driver(device))
    with open(progress, "a") as notes:
        for number in range(first, first + count):
            notes.write(f"began {number}\n")
            notes.flush()
            program, prologue = make(number, device)
            try:
                if _random_runs.run([program], device, prologue):
                    notes.write(f"failed {number}\n")
            except pytest.skip.Exception as skipped:
                notes.write(f"skipped {number} {skipped}\n")
        notes.write("ended\n")


def sanitizer_environment() -> dict[str, str]:
    """Variables with which a process of this Python imports the package of the preset asan.

    Python itself is not instrumented: it loads the sanitizers' runtime first, and keeps memory until it ends.
    LLVM's libraries are not either, and would not unpoison what inline functions of its headers poison.
    """
    if not os.path.isdir(os.path.join(ASAN_PACKAGE, "triton")):
        sys.exit(f"no package in {ASAN_PACKAGE}: ./dev build asan libtriton")
    command = ["clang++-22", f"-print-file-name={ASAN_LIBRARY}"]
    library = subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
    if not os.path.isabs(library):
        sys.exit(f"clang++-22 has no {ASAN_LIBRARY}: the package libclang-rt-22-dev has it")
    return {
        "LD_PRELOAD": library,
        "PYTHONPATH": ASAN_PACKAGE,
        "ASAN_OPTIONS": "detect_leaks=0:allow_user_poisoning=0",
        "UBSAN_OPTIONS": "print_stacktrace=1",
    }


class Fuzz:
    """Distributes batches of numbers and collects the failures."""

    def __init__(self, options: argparse.Namespace, folder: str):
        self.options = options
        self.folder = folder
        self.failed: list[int] = []
        self.skipped: list[str] = []  # with the reason: more shared memory than the simulated GPU has
        self.done = 0
        self.lock = threading.Lock()
        self.environment = sanitizer_environment() if options.sanitize_build else {}
        self.stops_at = time.monotonic() + options.seconds if options.seconds else None

    def batches(self) -> Iterator[tuple[int, int]]:
        end = self.options.seed + self.options.count
        size = min(200, max(10, self.options.count // (4 * self.options.processes)))
        for first in range(self.options.seed, end, size):
            yield first, min(size, end - first)

    def run(self, batch: tuple[int, int]) -> bool:
        """All programs of a batch, in a new process after each crash; False when the time is over.
        """
        first, count = batch
        if self.stops_at is not None and time.monotonic() > self.stops_at:
            return False
        end = first + count
        while first < end:
            first = self.attempt(first, end)
        with self.lock:
            self.done += count
            print(f"{self.done} of {self.options.count} done, {len(self.failed)} failed", flush=True)
        return True

    def attempt(self, first: int, end: int) -> int:
        """Programs from `first` on in one process; returns the number to continue with."""
        progress = os.path.join(self.folder, f"progress-{first}")
        command = [sys.executable, os.path.abspath(__file__), "--work", f"{first},{end - first},{progress}"]
        command += ["--device", self.options.device]
        cache = os.path.join(self.folder, f"cache-{first}")
        environment = {**os.environ, **self.environment, "TRITON_CACHE_DIR": cache}
        try:
            limit = 60 + SECONDS_PER_PROGRAM * (end - first)
            done = subprocess.run(
                command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=limit
            )
            how, output = f"the process ended with status {done.returncode}", done.stdout
        except subprocess.TimeoutExpired as expired:
            how, output = f"no end after {limit} s", (expired.stdout or b"").decode(errors="replace")
        with open(progress, "a+") as notes:
            notes.seek(0)
            lines = notes.read().split("\n")
        failed = [int(line.split()[1]) for line in lines if line.startswith("failed ")]
        began = [int(line.split()[1]) for line in lines if line.startswith("began ")]
        has_ended = "ended" in lines
        with self.lock:
            self.skipped += [line.removeprefix("skipped ") for line in lines if line.startswith("skipped ")]
            self.failed += failed if has_ended else [*failed, began[-1] if began else first]
            if failed or not has_ended:
                print(output, flush=True)
            if not has_ended:
                print(f"program {began[-1] if began else first}: {how}", flush=True)
        return end if has_ended else (began[-1] if began else first) + 1


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev fuzz programs", description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0, help="the first program's number")
    parser.add_argument(
        "--device", default="cpu", help="cpu, cuda, or a simulated GPU: sim, sim:80, sim:gfx942"
    )
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seconds", type=float, help="begin no further batch after this time")
    parser.add_argument("--sanitize-build", action="store_true", help="with the package of the preset asan")
    parser.add_argument("--print", action="store_true", help="print the programs and run none")
    parser.add_argument("--work", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        first, count, progress = options.work.split(",", 2)
        work(int(first), int(count), options.device, progress)
        return 0
    if options.print:
        show(options.seed, options.count, options.device)
        return 0
    with tempfile.TemporaryDirectory(prefix="fuzz-programs-") as folder:
        fuzz = Fuzz(options, folder)
        batches = list(fuzz.batches())
        with ThreadPoolExecutor(options.processes) as pool:
            ended = list(pool.map(fuzz.run, batches))
    left = [first for (first, _), finished in zip(batches, ended, strict=True) if not finished]
    if left:
        print(f"go on with --seed {left[0]} --count {options.seed + options.count - left[0]}")
    for number in sorted(fuzz.failed):
        print(f"failed: --seed {number} --count 1")
    for skipped in fuzz.skipped:
        print(f"skipped: {skipped}")
    ran = fuzz.done - len(fuzz.skipped)
    print(f"{ran - len(fuzz.failed)} of {ran} random programs agree with numpy")
    return 1 if fuzz.failed or not fuzz.done else 0


if __name__ == "__main__":
    sys.exit(main())
