"""Runs the XLA checks on a machine with NVIDIA GPUs: the tests, jax_triton's own tests, calls per second.

usage: xla_on_gpu.py --ours DIR [--jax-triton DIR] [--jax-triton-tests FILE] [--peer-jax-triton DIR]

Run it with a Python that has JAX with CUDA and, as the peer, another triton. DIR of --ours has this package (pip
install --target); the others have a jax_triton each: --jax-triton one that works with this package, --peer-jax-triton
one that works with the other triton. No network is needed. The last line is the number of failed steps.
"""
# SPDX-License-Identifier: MIT

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
OURS, ROUNDS = "triton.jax", 3


def run(
    what: str, folders: list[str | None], command: list[str]
) -> subprocess.CompletedProcess[str]:
    path = os.pathsep.join(folder for folder in folders if folder)
    environment = {**os.environ, "PYTHONPATH": path, "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
    print(f"\n== {what}\n   PYTHONPATH={path} {' '.join(command)}", flush=True)
    done = subprocess.run(
        [sys.executable, *command],
        cwd=ROOT,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    print(done.stdout[-6000:], flush=True)
    print(
        f"   {'ok' if done.returncode == 0 else f'failed with status {done.returncode}'}",
        flush=True,
    )
    return done


Rounds = dict[str, list[float]]  # microseconds per call, by case


def rounds_of(done: subprocess.CompletedProcess[str]) -> Rounds | None:
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    return json.loads(lines[-1])["microseconds"] if done.returncode == 0 and lines else None


def interleaved(sides: dict[str, tuple[list[str | None], str]]) -> dict[str, Rounds] | None:
    """Each side's rounds from several processes, which alternate so that other load affects all
    alike.
    """
    found: dict[str, Rounds] = {side: {} for side in sides}
    for number in range(ROUNDS):
        for side, (folders, which) in sides.items():
            what = f"calls of {side}, round {number + 1} of {ROUNDS}"
            rounds = rounds_of(run(what, folders, [os.path.join("bench", "jax_calls.py"), which]))
            if rounds is None:
                return None
            for case, times in rounds.items():
                found[side].setdefault(case, []).extend(times)
    return found


def spread(times: list[float]) -> str:
    low, middle, high = statistics.quantiles(times, n=4)
    return f"{middle:7.2f} us ({low:.2f} to {high:.2f}, least {min(times):.2f})"


def compare(found: dict[str, Rounds], peer: str) -> bool:
    """Medians and the middle half of the rounds; compares calls per second of this package and the
    peer by the medians.
    """
    slower = False
    for side, rounds in found.items():
        for case, times in rounds.items():
            ratio = statistics.median(found[peer][case]) / statistics.median(times)
            print(f"   {case:18} {side:32} {spread(times)}: calls/s x {ratio:.2f}")
            slower |= side == OURS and ratio < 1
    return not slower


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--ours", required=True)
    parser.add_argument("--jax-triton")
    parser.add_argument("--jax-triton-tests")
    parser.add_argument("--peer-jax-triton")
    args = parser.parse_args()
    tests = ["-m", "pytest", "-q", "--device", "cuda", "test/xla/jax"]
    failed = run("our tests", [args.ours, args.jax_triton], tests).returncode != 0
    if args.jax_triton_tests:
        command = [
            "-m",
            "pytest",
            "-q",
            "-p",
            "no:cacheprovider",
            "--rootdir",
            "/tmp",
            args.jax_triton_tests,
        ]
        failed += (
            run(
                "jax_triton's own tests on this package", [args.ours, args.jax_triton], command
            ).returncode
            != 0
        )
    sides: dict[str, tuple[list[str | None], str]] = {OURS: ([args.ours], "triton.jax")}
    if args.jax_triton:
        sides["jax_triton on this package"] = ([args.ours, args.jax_triton], "jax_triton")
    if args.peer_jax_triton:
        sides["jax_triton on the other triton"] = ([args.peer_jax_triton], "jax_triton")
    found = interleaved(sides)
    failed += found is None or not compare(found, list(sides)[-1])
    print(f"{failed} steps failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
