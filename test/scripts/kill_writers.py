"""Kills processes while they write a lock file and the kernel cache, and checks that nothing is wrong and nothing lost.

python test/scripts/kill_writers.py --count 1000
"""

# SPDX-License-Identifier: MIT
#
# A writer tells through a pipe what it has written. After a kill all of that must be there, and whatever is there must be
# right.
from __future__ import annotations

import argparse
import os
import random
import signal
import struct
import sys
import tempfile
import time
from collections.abc import Callable

import numpy as np
import triton
import triton.language as tl
from triton import knobs
from triton.runtime.locks.lock_file import Decision, read
from triton.runtime.locks.stores import FileStore

WRITERS = 3


@triton.jit
def constant_kernel(out, N: tl.constexpr):
    tl.store(out, N)


# --- Writers -------------------------------------------------------------------------------------


def decision(number: int) -> Decision:
    """Large enough that a file has many pages."""
    config = {"BLOCK": number, "text": "x" * (number % 500)}
    return Decision("module:kernel", "cuda:90", (number,), config, "0" * 16, float(number))


def write_decision(path: str, number: int) -> None:
    FileStore(path).add(decision(number), lambda standing: True)


def write_kernel(path: str, number: int) -> None:
    constant_kernel.warmup(np.zeros(1, np.int32), N=number, grid=(1,))


class Writer:
    """A child that writes one number after another and tells each one."""

    def __init__(self, write: Callable[[str, int], None], path: str, numbers: range):
        self.said: list[int] = []
        reading, writing = os.pipe()
        self.pid = os.fork()
        if self.pid == 0:
            os.close(reading)
            for number in numbers:
                write(path, number)
                os.write(writing, struct.pack("i", number))
            os._exit(0)
        os.close(writing)
        self._pipe = reading

    def kill(self) -> list[int]:
        """The numbers that it has told; SystemExit where it had failed before."""
        os.kill(self.pid, signal.SIGKILL)
        status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        if status not in (0, -signal.SIGKILL):
            sys.exit(f"a writer ended with status {status}")
        with os.fdopen(self._pipe, "rb") as pipe:
            content = pipe.read()
        return [number for (number,) in struct.iter_unpack("i", content)]


# --- Checks --------------------------------------------------------------------------------------


def check_lock(path: str, told: list[int]) -> tuple[int, int]:
    """(lost, wrong)"""
    lock = read(path)
    wrong = len(lock.errors) + len(lock.remarks)
    there = set()
    for each in lock.decisions.values():
        (number,) = each.key
        there.add(number)
        wrong += each.line() != decision(number).line()
    return len(set(told) - there), wrong


def check_kernels(path: str, told: list[int]) -> tuple[int, int]:
    """(lost, wrong)"""
    hits: list[bool] = []
    lost = wrong = 0
    with knobs.compilation.scope():
        knobs.compilation.listener = lambda **info: hits.append(info["cache_hit"])
        for number in told:
            out = np.zeros(1, np.int32)
            constant_kernel[(1,)](out, N=number)
            wrong += out[0] != number
            lost += not hits.pop()
    constant_kernel.device_caches.clear()
    return lost, wrong


KINDS = {"lock": (write_decision, check_lock), "cache": (write_kernel, check_kernels)}


def trials(kind: str, count: int, seed: int, folder: str) -> str | None:
    """Kills `count` writers; returns what was wrong."""
    write, check = KINDS[kind]
    chance = random.Random(seed)
    path = os.path.join(folder, "triton.lock")
    numbers = iter(range(1, 1 << 30, 1000))  # a thousand for each writer
    told: list[int] = []
    total = 0

    def start() -> Writer:
        first = next(numbers)
        return Writer(write, path, range(first, first + 1000))

    writers = [start() for _ in range(WRITERS)]
    try:
        for trial in range(1, count + 1):
            time.sleep(chance.random() * (0.02 if kind == "lock" else 0.1))
            index = chance.randrange(WRITERS)
            told += writers.pop(index).kill()
            while trial == count and writers:
                told += writers.pop().kill()
            if trial % 10 == 0 or trial == count:
                lost, wrong = check(path, told)
                if lost or wrong:
                    return f"{kind}: after {trial} kills {lost} lost, {wrong} wrong"
            if trial % 10 == 0 and kind == "cache":  # a lock is checked whole
                total += len(told)
                told = []
            writers.append(start())
    finally:
        for writer in writers:
            writer.kill()
    total += len(told)
    left = [name for name in os.listdir(folder) if name.endswith(".new")]
    print(
        f"{kind}: {count} kills, {total} written, nothing lost, nothing wrong, "
        f"{len(left)} temporary files left"
    )
    return None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000, help="kills of each kind")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", choices=KINDS)
    given = parser.parse_args()
    triton.runtime.driver.set_active_to_cpu()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder, knobs.cache.scope():
        knobs.cache.dir = os.path.join(folder, "cache")
        for kind in [given.only] if given.only else KINDS:
            if problem := trials(kind, given.count, given.seed, folder):
                sys.exit(problem)


if __name__ == "__main__":
    main()
