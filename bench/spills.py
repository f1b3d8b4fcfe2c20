"""Registers and accesses to spilled values of matmul and attention, by configuration, next to
Triton's.

usage: spills.py [--arch 90] [--quick] [--peer PYTHON:SITE]

Needs no GPU: kernels are compiled for one, by this package and, if its Python and site-packages are
given, by Triton.
"""
# SPDX-License-Identifier: MIT

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))

# (kernel, constants, num_warps, num_stages)
PRODUCTS = [
    dict(BLOCK_M=m, BLOCK_N=n, BLOCK_K=k, num_warps=warps, num_stages=stages)
    for m, n, k, warps, stages in [
        (64, 64, 32, 4, 4), (128, 128, 32, 4, 4), (128, 128, 64, 4, 3), (128, 128, 64, 8, 4),
        (128, 256, 64, 8, 3), (128, 256, 64, 8, 4), (256, 128, 64, 8, 3), (64, 256, 64, 4, 4), (128, 256, 64, 4, 3),
    ]
]  # fmt: skip
ATTENTION = [
    dict(BLOCK_M=m, BLOCK_N=n, D=d, CAUSAL=causal, num_warps=warps, num_stages=stages)
    for m, n, d, warps, stages in [
        (64, 64, 64, 4, 3), (128, 64, 64, 4, 3), (128, 128, 64, 8, 3),
        (64, 64, 128, 4, 3), (128, 64, 128, 8, 3), (128, 128, 128, 8, 2), (128, 128, 128, 4, 2),
    ]
    for causal in (False, True)
]  # fmt: skip


def compiled(arch: int, count: int | None) -> list[dict]:
    """Compiles the first `count` configurations of each kernel, or all, with this process's
    `triton`.
    """
    sys.path.insert(0, HERE)
    import spilled_kernels as kernels
    import triton
    from triton.backends.compiler import GPUTarget

    rows = []
    for kernel, configurations in ((kernels.matmul, PRODUCTS), (kernels.attention, ATTENTION)):
        for configuration in configurations[:count]:
            constants = dict(configuration)
            options = {name: constants.pop(name) for name in ("num_warps", "num_stages")}
            source = kernels.source(kernel, constants)
            row = dict(kernel=kernel.__name__, **configuration)
            try:
                made = triton.compile(source, target=GPUTarget("cuda", arch, 32), options=options)
                row |= kernels.resources(made.asm["cubin"])
                row["shared"] = made.metadata.shared
            except Exception as error:  # a configuration that either compiler rejects is a row, too
                row["error"] = str(error).splitlines()[0][:80]
            rows.append(row)
    return rows


def of_peer(peer: str, arch: int, options: list[str]) -> list[dict]:
    python, _, site = peer.partition(":")
    command = [python, os.path.abspath(__file__), "--rows", "--arch", str(arch), *options]
    done = subprocess.run(
        command,
        env={**os.environ, "PYTHONPATH": site},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


def cell(row: dict) -> str:
    if "error" in row:
        return row["error"]
    return f"{row['registers']:4} registers, {row['spills']:4} accesses to spilled values, {row['shared']:6} shared"


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--arch", type=int, default=90)
    parser.add_argument(
        "--peer", help="PYTHON:SITE, an interpreter and the folder that has its Triton"
    )
    parser.add_argument("--rows", action="store_true", help="print this package's rows as JSON")
    parser.add_argument("--quick", action="store_true", help="one configuration of each kernel")
    args = parser.parse_args()
    ours = compiled(args.arch, 1 if args.quick else None)
    if args.rows:
        print(json.dumps(ours))
        return 0
    options = ["--quick"] if args.quick else []
    theirs = of_peer(args.peer, args.arch, options) if args.peer else [None] * len(ours)
    for our, their in zip(ours, theirs, strict=True):
        names = (
            "kernel",
            "BLOCK_M",
            "BLOCK_N",
            "BLOCK_K",
            "D",
            "CAUSAL",
            "num_warps",
            "num_stages",
        )
        print(" ".join(f"{name}={our[name]}" for name in names if name in our))
        print(f"  ours    {cell(our)}")
        if their:
            print(f"  Triton  {cell(their)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
