#!/usr/bin/env python3
"""Runs test/run on two devices and compares what every launch leaves in its arrays, bit for bit.

usage: compare_devices.py [--devices cuda,sim] [--processes N] [--seconds S] [--folder F] [TEST...]

TEST is a file, folder or test id below test/run; without one, all. The compiler is the installed `triton`. Each device
in turn runs the tests in N processes; those that have not ended after S seconds are stopped, and what they have done
counts. The comparison is printed and written to FOLDER/comparison.json. Exit status 1: a test failed on one device
alone, or arrays differ although no instruction of their kernel leaves its result open.
"""
# SPDX-License-Identifier: MIT

from __future__ import annotations

import argparse
import collections
import json
import os
import subprocess
import sys
import time
import zlib
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
FLOATS = {
    "float16": np.float16,
    "float32": np.float32,
    "float64": np.float64,
    "bfloat16": np.uint16,
}


# --- running --------------------------------------------------------------------------------------


def run_tests(device: str, folder: Path, options: argparse.Namespace) -> None:
    """Fills `folder` with the results of the tests on a device."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("part-*"):
        old.unlink()
    tests = [str(Path("test", "run", test)) for test in options.tests or [""]]
    threads = max(1, len(os.sched_getaffinity(0)) // options.processes)
    processes = []
    for index in range(options.processes):
        command = [sys.executable, "-m", "pytest", "-q", "--no-header", "-o", "python_files=*.py"]
        command += [f"--device={device}", f"--shard={index}/{options.processes}"]
        command += [f"--record={folder}", *tests]
        log = open(folder / f"part-{index}.log", "w")
        environment = {**os.environ, "OMP_NUM_THREADS": str(threads)}
        processes.append(
            subprocess.Popen(command, cwd=ROOT, env=environment, stdout=log, stderr=log)
        )
    end = time.monotonic() + options.seconds
    stopped = 0
    for process in processes:
        try:
            process.wait(max(0, end - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            stopped += 1
    for index, process in enumerate(processes):
        if process.returncode not in (0, 1, -9):  # not: all passed, some failed, stopped
            print(f"{device}: process {index} ended with status {process.returncode}:")
            print((folder / f"part-{index}.log").read_text(errors="replace")[-1500:])
    spent = options.seconds - (end - time.monotonic())
    print(
        f"{device}: {spent:.0f} s, {stopped} of {len(processes)} processes stopped early",
        flush=True,
    )


# --- reading --------------------------------------------------------------------------------------


class Recorded:
    """The results on one device."""

    def __init__(self, folder: Path):
        self.outcomes: dict[str, str] = {}
        self.arrays: dict[tuple[str, int, str], dict[str, Any]] = {}
        for path in sorted(folder.glob("part-*.jsonl")):
            data = path.with_suffix(".bin").read_bytes()
            for text in path.read_text().splitlines():
                self._add(text, data)

    def _add(self, text: str, data: bytes) -> None:
        try:
            line = json.loads(text)
        except json.JSONDecodeError:
            return  # the last line of a process that was stopped
        if "outcome" in line:
            self.outcomes[line["test"]] = line["outcome"]
            return
        if "offset" in line:
            line["data"] = data[line["offset"] : line["offset"] + line["size"]]
        self.arrays[line["test"], line["launch"], line["array"]] = line


# --- comparing ------------------------------------------------------------------------------------


def _as_floats(line: dict[str, Any]) -> np.ndarray | None:
    """The values as float64; None if the type has no order of that kind."""
    if "data" not in line or line["dtype"] not in FLOATS:
        return None
    values = np.frombuffer(zlib.decompress(line["data"]), FLOATS[line["dtype"]])
    if line["dtype"] == "bfloat16":
        values = (values.astype(np.uint32) << 16).view(np.float32)
    with np.errstate(invalid="ignore"):
        return values.astype(np.float64)


def difference(a: dict[str, Any], b: dict[str, Any]) -> dict[str, Any]:
    """How far apart two arrays with different bits are."""
    if "data" not in a or "data" not in b:
        return {"elements": None}
    x, y = _as_floats(a), _as_floats(b)
    if x is None or y is None or x.shape != y.shape:
        u, v = (np.frombuffer(zlib.decompress(line["data"]), np.uint8) for line in (a, b))
        return {"bytes": int((u != v).sum()) if u.shape == v.shape else None}
    is_nan = np.isnan(x) & np.isnan(y)
    differs = ~((x == y) | is_nan)
    if not differs.any():
        return {"elements": 0, "only": "NaN or zero signs"}
    with np.errstate(all="ignore"):
        relative = np.abs(x - y)[differs] / np.maximum(np.abs(x), np.abs(y))[differs]
    return {
        "elements": int(differs.sum()),
        "of": x.size,
        "relative": float(np.nanmax(relative)) if not np.isnan(relative).all() else None,
        "absolute": float(np.nanmax(np.abs(x - y)[differs], initial=0)),
    }


def compare(first: Recorded, second: Recorded) -> dict[str, Any]:
    ran = {"passed", "failed"}
    both = {
        test
        for test in first.outcomes.keys() & second.outcomes.keys()
        if {first.outcomes[test], second.outcomes[test]} <= ran
    }
    result: dict[str, Any] = {
        "tests": len(both),
        "failed on one": sorted(t for t in both if first.outcomes[t] != second.outcomes[t]),
        "failed on both": sorted(
            t for t in both if first.outcomes[t] == second.outcomes[t] == "failed"
        ),
        "arrays": 0,
        "equal": 0,
        "other code": 0,
        "differing": [],
    }
    kinds: collections.Counter[str] = collections.Counter()
    for key in first.arrays.keys() & second.arrays.keys():
        if key[0] not in both:
            continue
        a, b = first.arrays[key], second.arrays[key]
        result["arrays"] += 1
        result["other code"] += a["code"] != b["code"]
        if a["hash"] == b["hash"]:
            result["equal"] += 1
            continue
        kind = " + ".join(a["inexact"]) or "none that leaves its result open"
        kinds[kind] += 1
        result["differing"].append(
            dict(
                test=key[0],
                launch=key[1],
                array=key[2],
                dtype=a["dtype"],
                kind=kind,
                sameCode=a["code"] == b["code"],
                **difference(a, b),
            )
        )
    tests = {entry["test"] for entry in result["differing"]}
    recorded = {key[0] for key in first.arrays.keys() & second.arrays.keys()} & both
    result["tests with arrays"] = len(recorded)
    result["tests with equal bits"] = len(recorded - tests)
    result["kinds"] = dict(kinds.most_common())
    result["differing"].sort(key=lambda entry: (entry["kind"], entry["test"], entry["array"]))
    return result


def print_comparison(result: dict[str, Any], names: list[str]) -> None:
    print(
        f"{result['tests']} tests ran on {' and '.join(names)}; "
        f"{result['tests with equal bits']} of {result['tests with arrays']} that launch by the "
        f"harness leave equal bits"
    )
    print(
        f"arrays: {result['arrays']}, equal {result['equal']}, differing {len(result['differing'])}; "
        f"{result['other code']} by kernels whose PTX differs"
    )
    for kind in ("failed on one", "failed on both"):
        print(f"{kind}: {len(result[kind])}")
        for test in result[kind][:40]:
            print(f"  {test}")
    print("differing arrays by the kernel's instructions that leave results open:")
    for kind, count in result["kinds"].items():
        print(f"  {count:6} {kind}")
    shown: collections.Counter[str] = collections.Counter()
    for entry in result["differing"]:
        shown[entry["kind"]] += 1
        if shown[entry["kind"]] <= (60 if entry["kind"].startswith("none") else 8):
            rest = {k: v for k, v in entry.items() if k not in ("test", "kind")}
            print(f"  [{entry['kind']}] {entry['test']}: {rest}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("tests", nargs="*")
    parser.add_argument("--devices", default="cuda,sim")
    parser.add_argument("--processes", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--seconds", type=float, default=220, help="for each device")
    parser.add_argument("--folder", type=Path, default=Path("build", "comparison"))
    parser.add_argument("--compare-only", action="store_true", help="of results that are there")
    options = parser.parse_args()
    names = options.devices.split(",")
    folders = [(options.folder / name.replace(":", "-")).resolve() for name in names]
    for name, folder in zip(names, folders, strict=True):
        if not options.compare_only:
            run_tests(name, folder, options)
    result = compare(*map(Recorded, folders))
    print_comparison(result, names)
    (options.folder / "comparison.json").write_text(json.dumps(result, indent=1))
    unexplained = [entry for entry in result["differing"] if entry["kind"].startswith("none")]
    return 1 if result["failed on one"] or unexplained or not result["arrays"] else 0


if __name__ == "__main__":
    sys.exit(main())
