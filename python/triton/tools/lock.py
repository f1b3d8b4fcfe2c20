"""`nereid lock`: prints, merges and checks lock files, the decisions of autotuners."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import argparse
import importlib
import json
import os
import sys
from typing import Any

from ..runtime.locks.lock_file import Decision, LockText, better, parse, read, read_bytes

REDIS = "redis:"


def _read(name: str, resolve_conflicts: bool = False) -> LockText:
    if name.startswith(REDIS):
        from ..runtime.locks.stores import RedisStore

        return RedisStore(name).read()
    if not os.path.exists(name):
        sys.exit(f"nereid lock: {name}: there is no such file")
    return read(name, resolve_conflicts)


def _say(texts: list[str]) -> None:
    for text in texts:
        print(text, file=sys.stderr)


# --- print ---------------------------------------------------------------------------------------


def _columns(decision: Decision) -> tuple[str, ...]:
    config = " ".join(f"{name}={value}" for name, value in sorted(decision.config.items()))
    ms = "" if decision.ms is None else f"{decision.ms:.4g} ms"
    key = " ".join(map(str, decision.key)) or "-"
    return decision.kernel, decision.arch, key, config, ms, decision.source


def _print(names: list[str]) -> int:
    status = 0
    rows: list[tuple[str, ...]] = [("kernel", "arch", "class", "configuration", "time", "source")]
    for name in names:
        lock = _read(name)
        _say(lock.errors)
        status |= bool(lock.errors)
        rows += [_columns(lock.decisions[identity]) for identity in sorted(lock.decisions)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print(
            "  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip()
        )
    return status


# --- merge ---------------------------------------------------------------------------------------


def _conflict(one: Decision, other: Decision, kept: Decision) -> str:
    times = ", ".join(
        f"{each.where} {json.dumps(each.config, sort_keys=True)}"
        + (f" in {each.ms:.4g} ms" if each.ms is not None else "")
        for each in (one, other)
    )
    why = (
        "the faster one"
        if one.source == other.source
        else "of the later file, whose source differs"
    )
    if one.source == other.source and None in (one.ms, other.ms):
        why = "the one with a time" if one.ms != other.ms else "of the later file"
    key = json.dumps(list(one.key))
    return f"{one.kernel} {one.arch} {key}: {times}: {kept.where} is kept, {why}"


def _merge(names: list[str], output: str) -> int:
    result = LockText()
    for name in names:
        lock = _read(name, resolve_conflicts=True)
        _say([*lock.errors, *lock.remarks])
        result.errors += lock.errors
        for identity, decision in lock.decisions.items():
            other = result.decisions.get(identity)
            kept = decision if other is None else better(other, decision)
            if other is not None and (other.config, other.source) != (
                decision.config,
                decision.source,
            ):
                _say([_conflict(other, decision, kept)])
            result.decisions[identity] = kept
    if result.errors:
        print(f"nereid lock: {output} is not written", file=sys.stderr)
        return 1
    if output == "-":
        sys.stdout.write(result.text())
        return 0
    from ..runtime.locks.stores import FileStore

    FileStore(output).replace(result)
    return 0


# --- check ---------------------------------------------------------------------------------------


def _format_problems(name: str) -> list[str]:
    """Lines that are not as a writer would write them: they make differences in a review."""
    content = None if name.startswith(REDIS) else read_bytes(name)
    if content is None:
        return []
    text = content.decode("utf-8", errors="replace")
    if parse(text, name).text() == text:
        return []
    return [f"{name}: not in order; write it anew by: python -m nereid lock merge {name} -o {name}"]


def _installed(decision: Decision) -> tuple[Any, str | None]:
    """The autotuner of a decision, or why there is none."""
    name, _, kernel = decision.kernel.partition(":")
    try:
        value: Any = importlib.import_module(name)
    except Exception as error:
        return None, f"module `{name}` cannot be imported: {type(error).__name__}: {error}"
    for part in kernel.split("."):
        if part == "<locals>":
            return None, None  # it exists while its function runs
        value = getattr(value, part, None)
        if value is None:
            return None, f"module `{name}` has no kernel `{kernel}`"
    return value, None


def _against_kernel(decision: Decision) -> str | None:
    """What keeps the decision from being used with the installed kernels."""
    from ..runtime.autotuner import Autotuner
    from ..runtime.locks.decisions import problem_of

    tuner, problem = _installed(decision)
    if problem is not None:
        return problem
    while tuner is not None and not isinstance(tuner, Autotuner):
        tuner = getattr(tuner, "fn", None)
    if tuner is None:
        return None if "<locals>" in decision.kernel else f"`{decision.kernel}` has no autotuner"
    return problem_of(decision, tuner)


def _check(names: list[str], imports: bool) -> int:
    problems: list[str] = []
    count = 0
    for name in names:
        lock = _read(name)
        problems += [*lock.errors, *lock.remarks]
        problems += [] if lock.errors or lock.remarks else _format_problems(name)
        count += len(lock.decisions)
        for decision in lock.decisions.values() if imports else ():
            problem = _against_kernel(decision)
            if problem is not None:
                problems.append(f"{decision.where}: {problem}")
    for problem in problems:
        print(problem)
    how = "compared with the installed kernels" if imports else "kernels not compared (--import)"
    print(
        f"{count} decision{'s' * (count != 1)}, {how}, {len(problems)} problem{'s' * (len(problems) != 1)}"
    )
    return 1 if problems else 0


# --- The command ---------------------------------------------------------------------------------


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="nereid lock", description=__doc__)
    commands = parser.add_subparsers(dest="command", required=True)
    shown = commands.add_parser("print", help="a table of the decisions")
    shown.add_argument("files", nargs="+", metavar="FILE", help="a lock file, or redis:NAME")
    merged = commands.add_parser(
        "merge",
        help="one file of several; of two decisions for the same the faster one, or the later file's if the source differs",
    )
    merged.add_argument("files", nargs="+", metavar="FILE", help="a lock file, or redis:NAME")
    merged.add_argument(
        "-o", "--output", required=True, help="a file, which may be one of the others, or - "
    )
    checked = commands.add_parser(
        "check", help="whether lines are decisions, and none is there twice"
    )
    checked.add_argument("files", nargs="+", metavar="FILE", help="a lock file, or redis:NAME")
    checked.add_argument(
        "--import", dest="imports", action="store_true",
        help="also import the kernels' modules, and compare sources and configurations",
    )  # fmt: skip
    return parser


def main(arguments: list[str] | None = None) -> int:
    given = _parser().parse_args(arguments)
    if given.command == "print":
        return _print(given.files)
    if given.command == "merge":
        return _merge(given.files, given.output)
    return _check(given.files, given.imports)


if __name__ == "__main__":
    sys.exit(main())
