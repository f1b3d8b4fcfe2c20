#!/usr/bin/env python3
"""Compiles mutated kernels: a wrong text is an error at its line, and ends neither the compiler nor its patience.

Takes the jitted functions of test/run, changes their tokens, and compiles each result with `nereid`. Reports results
that end by a signal, take longer than the limit, or fail without a line of the file or by an internal error; keeps
their texts. `--print` shows the text of one number. Without a build folder, the `nereid` of the installed package runs.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import argparse
import random
import re
import shutil
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test" / "fuzz"))

from kernel_texts import HEAD, Seed, mutated, seeds_of, signature_of  # noqa: E402


def judge(result: subprocess.CompletedProcess[str] | None, name: str) -> str:
    """What is wrong with the compiler's answer; empty where nothing is."""
    if result is None:
        return "hangs"
    if result.returncode < 0 or result.returncode > 2:
        return f"ends with {result.returncode}"
    if "[internal-error]" in result.stderr:
        return "internal error"
    # Only what is wrong with the request has no line.
    located = rf"{re.escape(name)}:\d+:\d+: error: |\[kernel-not-found\]|\[signature-"
    if result.returncode and not re.search(located, result.stderr):
        return "an error without a line"
    return ""


def program() -> Path | None:
    built = ROOT / "build/dev/bin/nereid"
    found = built if built.exists() else shutil.which("nereid")
    return Path(found) if found else None


class Sources:
    """Kernels of test/run, their signatures, and the texts made of them; threads share one object."""

    def __init__(self, options: argparse.Namespace):
        paths = sorted((ROOT / "test" / "run").rglob("*.py"))
        self.options = options
        self.seeds = [seed for path in paths for seed in seeds_of(path)]
        self.locks = [threading.Lock() for _ in self.seeds]
        self.signatures: dict[int, str | None] = {}
        self.stops_at = time.monotonic() + options.seconds if options.seconds else None

    def compile(
        self, path: Path, source: str, name: str, signature: str
    ) -> subprocess.CompletedProcess[str] | None:
        options = self.options
        out = path.with_suffix(".out")
        path.write_text(source, encoding="utf-8", errors="surrogatepass")
        command = [options.nereid, "compile", f"{path}:{name}", "--signature", signature]
        command += ["--target", options.target, "--emit", options.emit, "-o", out]
        try:
            return subprocess.run(
                command, capture_output=True, text=True, errors="replace", timeout=options.limit
            )
        except subprocess.TimeoutExpired:
            return None
        finally:
            shutil.rmtree(out, ignore_errors=True)

    def signature(self, index: int) -> str | None:
        """One with which the kernel compiles as it stands, found once; None where there is none."""
        path = self.options.keep / f"seed{index}.py"

        def compiles(source: str, guess: list[str]) -> bool:
            result = self.compile(path, source, self.seeds[index].name, ",".join(guess) or "1")
            return result is not None and result.returncode == 0

        with self.locks[index]:
            if index not in self.signatures:
                found = signature_of(self.seeds[index], compiles)
                self.signatures[index] = None if found is None else ",".join(found) or "1"
                path.unlink(missing_ok=True)
            return self.signatures[index]

    def make(self, number: int) -> tuple[str, Seed, str]:
        """Text number s is the same on every machine."""
        pick = random.Random(number)
        while True:
            index = pick.randrange(len(self.seeds))
            types = self.signature(index)
            if types is not None:
                seed = self.seeds[index]
                return HEAD + seed.rest + mutated(seed.text, pick), seed, types
            if len(self.signatures) == len(self.seeds) and not any(self.signatures.values()):
                print(f"none of {len(self.seeds)} kernels compiles as it stands")
                sys.exit(1)

    def run(self, number: int) -> str | None:
        """`compiles`, `refused` or `wrong`; None where the time is over."""
        if self.stops_at is not None and time.monotonic() > self.stops_at:
            return None
        source, seed, types = self.make(number)
        path = self.options.keep / f"{number}.py"
        result = self.compile(path, source, seed.name, types)
        if problem := judge(result, path.name):
            lines = result.stderr.splitlines()[:4] if result else []
            text = "".join(f"\n    {line}" for line in lines)
            print(f"{path}:{seed.name} --signature '{types}': {problem}{text}", flush=True)
            return "wrong"
        path.unlink()
        assert result is not None
        return "refused" if result.returncode else "compiles"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0, help="the first number")
    parser.add_argument("--processes", type=int, default=1, help="how many compile at a time")
    parser.add_argument("--seconds", type=float, help="begin no further text after this time")
    parser.add_argument("--emit", default="ttir", help="the stage to compile to")
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--nereid", type=Path, default=program(), help="the compiler's program")
    parser.add_argument("--limit", type=float, default=20, help="seconds for one text")
    parser.add_argument(
        "--keep", type=Path, default=ROOT / "build/fuzz-sources", help="folder for texts"
    )
    parser.add_argument("--print", action="store_true", help="show the text of the first number")
    options = parser.parse_args()
    if options.nereid is None:
        parser.error("no `nereid` in build/dev/bin nor on PATH; name one with --nereid")
    options.keep.mkdir(parents=True, exist_ok=True)
    sources = Sources(options)
    if options.print:
        source, seed, types = sources.make(options.seed)
        print(f"# {seed.name}: {types}\n{source}")
        return 0
    numbers = range(options.seed, options.seed + options.count)
    with ThreadPoolExecutor(options.processes) as pool:
        ends = list(pool.map(sources.run, numbers))
    done = len(ends) - ends.count(None)
    if done < options.count:
        print(f"the time was over: go on with --seed {options.seed + done}")
    wrong = ends.count("wrong")
    print(f"{done} texts, {ends.count('compiles')} of them compile, {wrong} wrong answers")
    return 1 if wrong or not done else 0


if __name__ == "__main__":
    sys.exit(main())
