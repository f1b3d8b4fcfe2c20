"""What is to be shown of XLA on a machine with NVIDIA GPUs: the tests, jax_triton's own tests, calls per second.

usage: xla_on_gpu.py --ours DIR [--jax-triton DIR] [--jax-triton-tests FILE] [--peer-jax-triton DIR]

Run it with a Python that has JAX with CUDA and, as the peer, another triton. DIR of --ours has this package (pip
install --target); the others have a jax_triton each: --jax-triton one that this package serves, --peer-jax-triton
one that works with the other triton. No network is needed. The last line says how many steps failed.
"""
# SPDX-License-Identifier: MIT

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


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


def times_of(done: subprocess.CompletedProcess[str]) -> dict[str, float] | None:
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    return json.loads(lines[-1])["microseconds"] if done.returncode == 0 and lines else None


def compare(ours: dict[str, float] | None, peer: dict[str, float] | None) -> bool:
    if ours is None or peer is None:
        return False
    for case, mine in ours.items():
        print(
            f"   {case:18} {mine:8.2f} us, peer {peer[case]:8.2f} us: calls/s x {peer[case] / mine:.2f}"
        )
    return all(peer[case] >= mine for case, mine in ours.items())


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
    calls = os.path.join("bench", "jax_calls.py")
    ours = times_of(run("calls of triton.jax", [args.ours], [calls, "triton.jax"]))
    failed += ours is None
    if args.jax_triton:
        done = run(
            "calls of jax_triton on this package",
            [args.ours, args.jax_triton],
            [calls, "jax_triton"],
        )
        failed += done.returncode != 0
    if args.peer_jax_triton:
        peer = times_of(
            run(
                "calls of jax_triton on the other triton",
                [args.peer_jax_triton],
                [calls, "jax_triton"],
            )
        )
        failed += not compare(ours, peer)
    print(f"{failed} steps failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
