"""Runs the test levels, adds up their counts and ends with `N passed, N failed, N skipped`.

usage: ./dev test [--device cpu|cuda|sim|sim:80] [--wheel FILE] [--no-build] [--sanitize] [--workers N] [full] [LEVEL...]

A level consists of parts, each one process of a test runner: some of its files, packed by their durations. The parts
of all levels are one queue. Without the word `full` pytest runs with --brief (test/conftest.py says what that leaves out).
"""
# SPDX-License-Identifier: MIT

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile

import durations
import work
from levels import LEVELS, ON_SIMULATOR, QUICK_LEVELS, WHEEL_LEVELS, WHEN_ASKED_FOR, Request
from programs import LOGS

WORKERS = 2
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


def make_parser() -> argparse.ArgumentParser:
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
    parser.add_argument(
        "--record-durations",
        action="store_true",
        help="write the seconds of the files of these levels to test/runner/durations.json if nothing fails",
    )
    words = "full (all cases) quick " + " ".join(LEVELS)
    parser.add_argument("levels", nargs="*", metavar="level", help=words)
    return parser


def choose_levels(parser: argparse.ArgumentParser, args: argparse.Namespace) -> list[str]:
    asked = [level for level in args.levels if level not in ("full", "quick")]
    if "quick" in args.levels:
        asked += QUICK_LEVELS
    possible = WHEEL_LEVELS if args.wheel else tuple(LEVELS)
    if args.device in SIMULATED:
        possible = tuple(level for level in possible if level in ON_SIMULATOR)
    for level in asked:
        if level not in possible:
            parser.error(
                f"no level '{level}'{' for a wheel' if args.wheel else ''} on {args.device}; there are: {' '.join(possible)}"
            )
    chosen = set(asked or set(possible) - set(WHEN_ASKED_FOR))
    if args.sanitize:
        chosen = {*asked, "sanitize"}
    return [level for level in possible if level in chosen]


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


def main() -> int:
    parser = make_parser()
    args = parser.parse_args()
    levels = choose_levels(parser, args)
    os.makedirs(LOGS, exist_ok=True)
    if args.wheel:
        install_wheel(args.wheel)
    with tempfile.TemporaryDirectory() as scratch:
        request = Request(args.device, max(1, args.workers), scratch, "full" in args.levels)
        parts = {level: LEVELS[level](request) for level in levels}
        total, suites = work.run(parts, request.workers)
    if args.record_durations and not total.failed:
        durations.record(suites)
    print(f"{total.passed} passed, {total.failed} failed, {total.skipped} skipped")
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main())
