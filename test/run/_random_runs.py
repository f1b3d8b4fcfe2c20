"""Runs random programs of any family: writes their kernels into one module, launches each and reports what differs."""
# SPDX-License-Identifier: MIT

from __future__ import annotations

import argparse
import importlib.util
import os
import shutil
import tempfile
import traceback
import types
import warnings
from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np

MOST_SHOWN = 5


class Program(Protocol):
    seed: int

    def text(self) -> str:
        """The kernel, with the name `kernel<seed>`."""

    def check(self, kernel: Any, device: str) -> str | None:
        """Launches the program; returns the errors of its results."""


def load_kernels(texts: Sequence[str], folder: str) -> types.ModuleType:
    path = os.path.join(folder, "generated.py")
    with open(path, "w") as file:
        file.write("import triton\nimport triton.language as tl\n")
        file.writelines("\n\n" + text for text in texts)
    spec = importlib.util.spec_from_file_location("generated", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def problem_of(program: Program, kernel: Any, device: str) -> str | None:
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return program.check(kernel, device)
    except Exception as exception:
        ours = any("_random" in frame.filename for frame in traceback.extract_tb(exception.__traceback__)[-1:])
        return traceback.format_exc() if ours else f"{type(exception).__name__}: {exception}"


def run(programs: Sequence[Program], device: str, prologue: str = "", keep: bool = False) -> list[int]:
    """Seeds of the programs that fail; these are printed."""
    folder = tempfile.mkdtemp(prefix="random-programs-")
    module = load_kernels([prologue, *(program.text() for program in programs)], folder)
    failed = []
    for program in programs:
        problem = problem_of(program, getattr(module, f"kernel{program.seed}"), device)
        if problem is None:
            continue
        failed.append(program.seed)
        if len(failed) <= MOST_SHOWN:
            print(f"seed {program.seed}: {problem}\n{program.text()}", flush=True)
    if keep or failed:
        print("programs kept in", folder)
    else:
        shutil.rmtree(folder)
    return failed


def main(make: Any, prologue: str = "") -> int:
    """The command line of a family: --count, --seed, --device, --keep."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--keep", action="store_true")
    options = parser.parse_args()
    programs = [make(options.seed + index, options.device) for index in range(options.count)]
    failed = run(programs, options.device, prologue, options.keep)
    print(f"{len(programs) - len(failed)} of {len(programs)} random programs agree with numpy")
    return 1 if failed else 0
