"""Times CPU kernels and a compiled transformer block beside processes that keep cores busy.

usage: busy_machine.py [--only softmax,block] [--busy 2] [--seconds 10] [--quick]

Prints one JSON line per case: the median and the 90th percentile of single calls, in milliseconds,
of this package and of torch, and torch's over this package's. Contestants alternate after each
twentieth of the time. The block is compiled by torch.compile: as Triton kernels (ours), as C++,
and eager. Results are checked before anything is timed.
"""
# SPDX-License-Identifier: MIT

from __future__ import annotations

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import compiled_workloads
import torch
import triton
from arrays import Device
from contests import matmul_case, row_case

TURNS = 20
KERNELS = {
    "softmax": row_case("softmax", 1000, 1 << 22, "float32"),
    "layer norm": row_case("layernorm", 1024, 1 << 22, "float32"),
    "matmul": matmul_case(512, "float32"),
}


def kernel_calls(name: str) -> dict[str, Callable]:
    contest = KERNELS[name].prepare(Device("cpu"))
    contest.check()
    return {who: contest.calls[who] for who in ("ours", "torch")}


def block_calls(dtype: str) -> dict[str, Callable]:
    return compiled_workloads.checked_calls("transformer block", dtype, backward=False)[0]


@contextlib.contextmanager
def busy_processes(count: int) -> Iterator[list[subprocess.Popen]]:
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield others
    finally:
        for other in others:
            other.kill()
            other.wait()


def in_turns(calls: dict[str, Callable], seconds: float) -> dict[str, list[float]]:
    """Seconds of single calls, as many as fit in `seconds` for each contestant, at least 20."""
    samples = {who: [] for who in calls}
    for _ in range(TURNS):
        for who, call in calls.items():
            ends = time.perf_counter() + seconds / TURNS
            while True:
                began = time.perf_counter()
                call()
                samples[who].append(time.perf_counter() - began)
                if time.perf_counter() >= ends:
                    break
    return samples


def summary(what: str, samples: dict[str, list[float]]) -> dict:
    median = {who: 1e3 * statistics.median(values) for who, values in samples.items()}
    p90 = {who: 1e3 * statistics.quantiles(values, n=10)[-1] for who, values in samples.items()}
    row = dict(what=what, samples={who: len(values) for who, values in samples.items()})
    for name, found in (("median", median), ("p90", p90)):
        row[name] = {who: round(value, 3) for who, value in found.items()}
        row[name + "_ratio"] = {
            who: round(value / found["ours"], 3) for who, value in found.items() if who != "ours"
        }
    return row


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--only", default="", help="parts of cases' names, separated by commas")
    parser.add_argument("--busy", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--seconds", type=float, default=10.0, help="for each contestant")
    parser.add_argument("--quick", action="store_true", help="few samples: does it run?")
    options = parser.parse_args()
    triton.runtime.driver.set_active_to_cpu()
    triton.enable_cpu_backend()
    cases = {name: lambda name=name: kernel_calls(name) for name in KERNELS}
    for dtype in compiled_workloads.DTYPES:
        cases[f"transformer block {dtype}"] = lambda dtype=dtype: block_calls(dtype)
    with torch.no_grad():
        for name, calls_of in cases.items():
            if not any(part in name for part in options.only.split(",")):
                continue
            calls = calls_of()
            with busy_processes(options.busy):
                samples = in_turns(calls, 0.01 if options.quick else options.seconds)
            print(json.dumps(summary(name, samples)), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
