#!/usr/bin/env python3
"""Compiles mutated kernels: a wrong text is an error at its line, and ends neither the compiler nor its patience.

Takes the jitted functions of test/run, changes their tokens, and compiles each result with `nereid`. Reports results
that end by a signal, take longer than the limit, or fail without a line of the file or by an internal error; keeps
their texts. `--print` shows the text of one number.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import argparse
import random
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
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


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0, help="the first number")
    parser.add_argument("--emit", default="ttir", help="the stage to compile to")
    parser.add_argument("--target", default="cpu")
    parser.add_argument("--nereid", type=Path, default=ROOT / "build/dev/bin/nereid")
    parser.add_argument("--limit", type=float, default=20, help="seconds for one text")
    parser.add_argument(
        "--keep", type=Path, default=ROOT / "build/fuzz-sources", help="folder for texts"
    )
    parser.add_argument("--print", action="store_true", help="show the text of the first number")
    args = parser.parse_args()
    seeds = [
        seed for path in sorted((ROOT / "test" / "run").rglob("*.py")) for seed in seeds_of(path)
    ]
    args.keep.mkdir(parents=True, exist_ok=True)

    def run(
        path: Path, source: str, name: str, signature: str
    ) -> subprocess.CompletedProcess[str] | None:
        path.write_text(source, encoding="utf-8", errors="surrogatepass")
        command = [args.nereid, "compile", f"{path}:{name}", "--signature", signature]
        command += ["--target", args.target, "--emit", args.emit, "-o", args.keep / "out"]
        try:
            return subprocess.run(
                command, capture_output=True, text=True, errors="replace", timeout=args.limit
            )
        except subprocess.TimeoutExpired:
            return None

    def signature(seed: Seed) -> str | None:
        def compiles(source: str, guess: list[str]) -> bool:
            result = run(args.keep / "seed.py", source, seed.name, ",".join(guess) or "1")
            return result is not None and result.returncode == 0

        if id(seed) not in signatures:
            found = signature_of(seed, compiles)
            signatures[id(seed)] = None if found is None else ",".join(found) or "1"
        return signatures[id(seed)]

    signatures: dict[int, str | None] = {}
    wrong = compiled = 0
    for number in range(args.seed, args.seed + args.count):
        pick = random.Random(number)
        seed = pick.choice(seeds)
        while (types := signature(seed)) is None:
            if len(signatures) == len(seeds) and not any(signatures.values()):
                print(
                    f"none of {len(seeds)} kernels compiles as it stands; see {args.keep / 'seed.py'}"
                )
                return 1
            seed = pick.choice(seeds)
        source = HEAD + seed.rest + mutated(seed.text, pick)
        if args.print:
            print(f"# {seed.name}: {types}\n{source}")
            return 0
        path = args.keep / f"{number}.py"
        result = run(path, source, seed.name, types)
        if problem := judge(result, path.name):
            wrong += 1
            print(f"{path}:{seed.name} --signature '{types}': {problem}", flush=True)
            if result:
                print("   ", "\n    ".join(result.stderr.splitlines()[:4]), flush=True)
        else:
            path.unlink()
            compiled += result.returncode == 0
    print(f"{args.count} texts, {compiled} of them compile, {wrong} wrong answers")
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main())
