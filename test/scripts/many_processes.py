"""Starts many processes at once that need the same kernels: how often each is compiled, and what a start costs.

python test/scripts/many_processes.py --count 16 [--kernels 8] [--device cuda]
"""

# SPDX-License-Identifier: MIT
#
# Seconds are those of processors from the start of a process to its end, so that they do not depend on how many
# processes share the machine; with them the time on the clock and the page faults. A process that imports NumPy (torch)
# and no more shows what the machine itself makes of that many processes. A worker imports only what it needs.
from __future__ import annotations

import argparse
import json
import os
import sys
from typing import TYPE_CHECKING, Any

import numpy as np
import triton
import triton.language as tl
from triton import knobs
from triton._C import libtriton

if TYPE_CHECKING:
    import subprocess


@triton.jit
def softmax_kernel(x_ptr, out_ptr, columns, SCALE: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + row * columns + at, mask=at < columns, other=-float("inf")) * SCALE
    e = tl.exp(x - tl.max(x, 0))
    tl.store(out_ptr + row * columns + at, e / tl.sum(e, 0), mask=at < columns)


def on_device(array: np.ndarray, device: str) -> Any:
    if device == "cpu":
        return array
    import torch

    return torch.from_numpy(array).to(device)


def launch_all(kernels: int, device: str) -> None:
    """What a process does; prints how many kernels it compiled, and when it had its first and last result."""
    compiled = []
    knobs.compilation.listener = lambda **info: compiled.append(not info["cache_hit"])
    if device == "cpu":
        triton.runtime.driver.set_active_to_cpu()
    host = np.sin(np.arange(2000, dtype=np.float32)).reshape(4, 500)
    x, out = on_device(host, device), on_device(np.empty_like(host), device)
    for number in range(kernels):
        softmax_kernel[(4,)](x, out, 500, SCALE=1.0 + number, BLOCK=512)
        expected = np.exp(host * (1.0 + number))
        result = out if device == "cpu" else out.cpu().numpy()
        assert np.allclose(result, expected / expected.sum(1, keepdims=True), rtol=1e-4)
    print(json.dumps({"compiled": sum(compiled), "known": len(compiled) - sum(compiled)}))


def write_pack(path: str) -> None:
    """A pack of the kernels that this process has launched."""
    from triton.runtime import packs

    caches = softmax_kernel.device_caches.values()
    kernels = [kernel for kept, *_ in caches for kernel in kept.values()]
    content = libtriton.write_pack([(kernel._code, "") for kernel in kernels], packs.version())
    with open(path, "wb") as file:
        file.write(content)


def start(given: argparse.Namespace, folder: str, control: bool) -> subprocess.Popen[str]:
    import subprocess

    settings = {"TRITON_CACHE_DIR": folder, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    if given.pack:
        settings |= {"TRITON_PACKS": given.pack, "TRITON_JIT": "forbid"}
    command = [sys.executable, __file__, "--work", "--kernels", str(given.kernels)]
    command += ["--device", given.device]
    if control:
        module = "numpy" if given.device == "cpu" else "torch"
        command = [sys.executable, "-c", f"import {module}; print({json.dumps({'compiled': 0})!r})"]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, text=True, env={**os.environ, **settings}
    )


def run(
    given: argparse.Namespace, folder: str, count: int, what: str, control: bool = False
) -> float:
    """Prints a line; returns the seconds on the clock until the last process has ended."""
    import statistics
    import time

    begin = time.monotonic()
    processes = [start(given, folder, control) for _ in range(count)]
    seconds, faults, compiled = [], [], 0
    for process in processes:
        assert process.stdout is not None
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            sys.exit(f"{what}: a process ended with status {process.returncode}")
        compiled += json.loads(output)["compiled"]
        seconds.append(usage.ru_utime + usage.ru_stime)
        faults.append(usage.ru_minflt + usage.ru_majflt)
    clock = time.monotonic() - begin
    print(
        f"{what:28} {count:3} processes, {compiled:4} compilations of {given.kernels} kernels, "
        f"{statistics.median(seconds):.3f} s of a processor each (most {max(seconds):.3f}), "
        f"{statistics.median(faults):.0f} page faults, {clock:.2f} s in all"
    )
    return clock


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=16)
    parser.add_argument("--kernels", type=int, default=8)
    parser.add_argument("--device", choices=("cpu", "cuda"), default="cpu")
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--write-pack", help=argparse.SUPPRESS)
    given = parser.parse_args()
    given.pack = None
    if given.work:
        return launch_all(given.kernels, given.device)
    if given.write_pack:
        launch_all(given.kernels, given.device)
        return write_pack(given.write_pack)
    measure(given)
    return None


def measure(given: argparse.Namespace) -> None:
    import subprocess
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        cold = os.path.join(folder, "cold")
        run(given, cold, given.count, "cold")
        run(given, cold, given.count, "warm")
        warm = min(run(given, cold, 1, "warm, alone") for _ in range(3))
        given.pack = os.path.join(folder, "kernels.pack")
        command = [sys.executable, __file__, "--write-pack", given.pack, "--device", given.device]
        subprocess.run([*command, "--kernels", str(given.kernels)], check=True, capture_output=True)
        empty = os.path.join(folder, "empty")
        packed = run(given, empty, given.count, "a pack, no folder")
        alone = min(run(given, empty, 1, "a pack, no folder, alone") for _ in range(3))
        controls = run(given, empty, given.count, "without triton", control=True)
        control = min(run(given, empty, 1, "without triton, alone", control=True) for _ in range(3))
        print(f"a pack, alone / warm, alone: {alone / warm:.2f}")
        print(f"{given.count} with a pack / one warm: {packed / warm:.2f}")
        print(f"{given.count} without triton / one without triton: {controls / control:.2f}")
        print(
            f"what triton adds: {packed - controls:.2f} s to {given.count}, {warm - control:.2f} s to one"
        )
        if os.path.exists(empty):
            sys.exit("a process with a pack has written to the cache folder")


if __name__ == "__main__":
    main()
