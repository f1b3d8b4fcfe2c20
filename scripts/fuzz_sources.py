#!/usr/bin/env python3
"""Compiles mutated kernels: a wrong text is an error at its line, and ends neither the compiler nor its patience.

Takes the jitted functions of test/run, changes their tokens, and compiles each result with `nereid`. Reports results
that end by a signal, take longer than the limit, or fail without a line of the file or by an internal error; keeps
their texts. `--print` shows the text of one number.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import argparse
import ast
import io
import keyword
import random
import re
import subprocess
import sys
import tokenize
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEAD = "import triton\nimport triton.language as tl\n\n\n"
WORDS = """
( ) [ ] { } : , . ; = == != < <= > >= + - * / // % ** @ & | ^ ~ << >> += -= -> := ... * ** and or not in is if else elif
for while break continue return pass def lambda with assert del global None True False 0 1 -1 2 0.5 1e999 2**40
0x80000000 99999999999999999999 "" "text" f"{n}" x n tl tl.load tl.store tl.arange(0,16) tl.zeros((4,),tl.float32) tl.dot
tl.sum tl.float16 tl.constexpr tl.program_id(0) tl.static_range range(n,0,-n) range unknown *rest [:,None] .to(tl.int8) (1,2)
""".split()  # fmt: skip


@dataclass
class Seed:
    name: str
    text: str
    parameters: list[str]
    rest: str  # the other jitted functions of its file


def seeds_of(path: Path) -> list[Seed]:
    """The jitted functions of a file."""
    text = path.read_text()
    found = {}
    for node in ast.parse(text).body:
        if isinstance(node, ast.FunctionDef) and any(
            "jit" in ast.dump(each) for each in node.decorator_list
        ):
            segment = "@triton.jit\n" + ast.get_source_segment(text, node) + "\n\n\n"
            found[node.name] = (
                segment,
                [each.arg for each in [*node.args.args, *node.args.kwonlyargs]],
            )
    return [
        Seed(
            name,
            segment,
            parameters,
            "".join(each for other, (each, _) in found.items() if other != name),
        )
        for name, (segment, parameters) in found.items()
    ]


def entry(parameter: str) -> str:
    """An entry of a signature by the parameter's name."""
    if parameter.isupper():
        return random.choice([*["16"] * 6, "32", "1", "True", "None", '"text"'])
    return random.choice(
        ["*fp32", "*fp32", "*i32"]
        if re.search("ptr|out|^[xyab]$", parameter)
        else ["i32", "i32", "i32", "fp32", "4"]
    )


def signature_of(seed: Seed, compiles: Callable[[str, str], bool]) -> str | None:
    """A signature with which the text as it stands compiles; None where a few guesses find none."""
    for _ in range(24):
        signature = ",".join(map(entry, seed.parameters)) or "1"
        if compiles(HEAD + seed.rest + seed.text, signature):
            return signature
    return None


def mutated(text: str, changes: int) -> str:
    """The text with some of its tokens removed, repeated, exchanged or replaced; layout is kept."""
    lines = text.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))
    spans = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.string.strip() and token.type != tokenize.COMMENT:
            begin = starts[token.start[0] - 1] + token.start[1]
            spans.append((begin, starts[token.end[0] - 1] + token.end[1]))
    pieces = [text[begin:end] for begin, end in spans]
    between = [text[a[1] : b[0]] for a, b in zip(spans, spans[1:], strict=False)] + [
        text[spans[-1][1] :]
    ]
    body = pieces.index(")")  # of the parameters, at the least
    for _ in range(changes):
        at, other = random.randrange(body, len(pieces)), random.randrange(body, len(pieces))
        change = random.randrange(6)
        if change == 0:
            pieces[at] = ""
        elif change == 1:
            pieces[at] += " " + pieces[at]
        elif change == 2:
            pieces[at], pieces[other] = pieces[other], pieces[at]
        elif change == 3:
            pieces[at] = pieces[other]
        elif change == 4:
            pieces[at] = random.choice(WORDS)
        else:
            pieces[at] += " " + random.choice([*WORDS, *keyword.kwlist])
    return "".join(piece + gap for piece, gap in zip(pieces, between, strict=True))


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
        path.write_text(source)
        command = [args.nereid, "compile", f"{path}:{name}", "--signature", signature]
        command += ["--target", args.target, "--emit", args.emit, "-o", args.keep / "out"]
        try:
            return subprocess.run(
                command, capture_output=True, text=True, errors="replace", timeout=args.limit
            )
        except subprocess.TimeoutExpired:
            return None

    def signature(seed: Seed) -> str | None:
        def compiles(source: str, guess: str) -> bool:
            result = run(args.keep / "seed.py", source, seed.name, guess)
            return result is not None and result.returncode == 0

        if id(seed) not in signatures:
            random.seed(seed.name)
            signatures[id(seed)] = signature_of(seed, compiles)
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
        random.seed(number)
        source = HEAD + seed.rest + mutated(seed.text, random.choice([1, 1, 1, 2, 3]))
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
