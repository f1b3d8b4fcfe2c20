"""Runs random programs of all families against numpy, in several processes; a crash or a hang is that program's failure.

usage: ./dev fuzz programs [--count N] [--seed S] [--device cpu|cuda|sim|sim:gfx942] [--processes P] [--seconds T] [--print]
                           [--sanitize-build]
Program number s is the same on every machine: --seed continues where an earlier run ended. With an installed wheel:
python test/scripts/fuzz_programs.py. With --sanitize-build the compiler and the runtime are those of the preset asan, which
./dev builds first: an error that a sanitizer finds in them ends the process.
"""
# SPDX-License-Identifier: MIT

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from typing import Any

import fuzz_batches

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RUN_TESTS = os.path.join(ROOT, "test", "run")
SECONDS_PER_PROGRAM = 120
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


def work(words: str, device: str) -> None:
    """Runs in a separate process."""
    sys.path.insert(0, RUN_TESTS)
    import _random_runs
    import pytest
    from triton.runtime import driver

    if device == "cpu":
        driver.set_active_to_cpu()
    elif device.startswith("sim"):
        from _gpu import simulated_driver

        driver.set_active(simulated_driver(device))

    def run(number: int) -> bool:
        program, prologue = make(number, device)
        try:
            return not _random_runs.run([program], device, prologue)
        except pytest.skip.Exception as skipped:
            raise fuzz_batches.Skipped(str(skipped)) from None

    fuzz_batches.work(words, run)


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


def main() -> int:
    parser = argparse.ArgumentParser(prog="./dev fuzz programs", description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0, help="the first program's number")
    parser.add_argument(
        "--device", default="cpu", help="cpu, cuda, or a simulated GPU: sim, sim:80, sim:gfx942"
    )
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--seconds", type=float, help="begin no further batch after this time")
    parser.add_argument(
        "--sanitize-build", action="store_true", help="with the package of the preset asan"
    )
    parser.add_argument("--print", action="store_true", help="print the programs and run none")
    parser.add_argument("--work", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        work(options.work, options.device)
        return 0
    if options.print:
        show(options.seed, options.count, options.device)
        return 0
    with tempfile.TemporaryDirectory(prefix="fuzz-programs-") as folder:
        fuzz = fuzz_batches.Batches(
            [sys.executable, os.path.abspath(__file__), "--device", options.device],
            folder,
            processes=options.processes,
            seconds_per_case=SECONDS_PER_PROGRAM,
            environment=sanitizer_environment() if options.sanitize_build else {},
            seconds=options.seconds,
        )
        fuzz.run(options.seed, options.count)
    fuzz.report(options.seed)
    ran = fuzz.done - len(fuzz.skipped)
    print(f"{ran - len(fuzz.failed)} of {ran} random programs agree with numpy")
    return 1 if fuzz.failed or not fuzz.done else 0


if __name__ == "__main__":
    sys.exit(main())
