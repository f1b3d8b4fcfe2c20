"""How many instructions of threads the simulated GPU executes a second, with and without counters.

python bench/simulator_speed.py [--only add,softmax] [--json FILE]
"""
# SPDX-License-Identifier: MIT

import argparse
import json
import os
import sys
import time

os.environ.setdefault("TRITON_DEVICE", "sim")

import triton  # noqa: E402
from simulator_cases import NAMES, Cases  # noqa: E402

SPEED_NAMES = ("softmax", "layernorm", "add", "matmul_wgmma", "matmul_mma", "attention")


def seconds_of(launch, counted: bool, rounds: int) -> float:
    """The best of some launches."""
    triton.knobs.runtime.sim_counters = counted
    launch()
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        launch()
        times.append(time.perf_counter() - begin)
    return min(times)


def measure(name: str, rounds: int) -> dict[str, float]:
    case = Cases("cpu", small=True).make(name)
    plain = seconds_of(case.launch, False, rounds)
    counted = seconds_of(case.launch, True, rounds)
    if not case.is_right():
        raise RuntimeError("the result is wrong")
    instructions = case.launch().counters["thread_instructions"]
    return {
        "thread_instructions": instructions,
        "plain": instructions / plain,
        "counted": instructions / counted,
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", default=",".join(SPEED_NAMES), help=f"of {', '.join(NAMES)}")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--json", help="a file for the figures")
    options = parser.parse_args()
    cores = int(os.environ.get("OMP_NUM_THREADS", 0)) or len(os.sched_getaffinity(0))
    print(f"millions of instructions of threads a second and core, on {cores} cores")
    print(f"{'kernel':<14} {'instructions':>13} {'plain':>8} {'counted':>8}")
    results, failed = {}, False
    for name in options.only.split(","):
        try:
            found = results[name] = measure(name, options.rounds)
        except Exception as error:
            failed = True
            print(f"{name:<14} {type(error).__name__}: {error}")
            continue
        rates = (found[kind] / cores / 1e6 for kind in ("plain", "counted"))
        print(
            f"{name:<14} {found['thread_instructions']:>13,}", *(f"{rate:>8.0f}" for rate in rates)
        )
    if options.json:
        with open(options.json, "w") as file:
            json.dump(results, file, indent=1)
    return failed


if __name__ == "__main__":
    sys.exit(main())
