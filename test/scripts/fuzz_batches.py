"""Runs numbered cases in separate processes; a case that ends its process, or does not end, is that case's failure.

The process is `command --work FIRST,COUNT,FILE` and calls `work` there, which records each case before it runs.
"""
# SPDX-License-Identifier: MIT

from __future__ import annotations

import os
import resource
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor


class Skipped(Exception):
    """A case that this machine or target cannot run."""


def work(words: str, run: Callable[[int], bool]) -> None:
    """In the separate process: `run(number)` of each case is whether it is as it should be."""
    first, count, progress = words.split(",", 2)
    with open(progress, "a") as notes:
        for number in range(int(first), int(first) + int(count)):
            notes.write(f"began {number}\n")
            notes.flush()
            try:
                if not run(number):
                    notes.write(f"failed {number}\n")
            except Skipped as skipped:
                notes.write(f"skipped {number} {skipped}\n")
        notes.write("ended\n")


class Batches:
    """Distributes batches of numbers to processes and collects the failures."""

    def __init__(
        self,
        command: list[str],
        folder: str,
        *,
        processes: int,
        seconds_per_case: float,
        environment: dict[str, str],
        seconds: float | None = None,
        memory_gb: int | None = None,
    ):
        self.command = command
        self.folder = folder
        self.processes = processes
        self.seconds_per_case = seconds_per_case
        self.environment = environment
        self.stops_at = time.monotonic() + seconds if seconds else None
        self.memory = memory_gb << 30 if memory_gb else None
        self.failed: list[int] = []
        self.skipped: list[str] = []  # with the reason
        self.done = self.total = 0
        self.left: int | None = None  # the first case that has not run, when the time is over
        self.lock = threading.Lock()

    def run(self, first: int, count: int) -> None:
        self.total = count
        batches = list(self._batches(first, count))
        with ThreadPoolExecutor(self.processes) as pool:
            ended = list(pool.map(self._run_batch, batches))
        left = [begin for (begin, _), finished in zip(batches, ended, strict=True) if not finished]
        self.left = left[0] if left else None

    def _batches(self, first: int, count: int) -> Iterator[tuple[int, int]]:
        size = min(200, max(10, count // (4 * self.processes)))
        for begin in range(first, first + count, size):
            yield begin, min(size, first + count - begin)

    def _run_batch(self, batch: tuple[int, int]) -> bool:
        """All cases of a batch, in a new process after each crash; False when the time is over."""
        first, count = batch
        if self.stops_at is not None and time.monotonic() > self.stops_at:
            return False
        end = first + count
        while first < end:
            first = self._attempt(first, end)
        with self.lock:
            self.done += count
            print(f"{self.done} of {self.total} done, {len(self.failed)} failed", flush=True)
        return True

    def _limit_memory(self) -> None:
        if self.memory:
            resource.setrlimit(resource.RLIMIT_AS, (self.memory, self.memory))

    def _wait(self, process: subprocess.Popen[str], progress: str) -> str:
        """How the process ended; it is ended where a case takes too long."""
        size, since = -1, time.monotonic()
        while process.poll() is None:
            time.sleep(0.1)
            now = os.path.getsize(progress) if os.path.exists(progress) else 0
            if now != size:
                size, since = now, time.monotonic()
            elif (
                time.monotonic() - since > self.seconds_per_case + 60
            ):  # and the start of a process
                process.kill()
                process.wait()
                return f"no end after {time.monotonic() - since:.0f} s"
        return f"the process ended with status {process.returncode}"

    def _attempt(self, first: int, end: int) -> int:
        """Cases from `first` on in one process; returns the number to continue with."""
        progress = os.path.join(self.folder, f"progress-{first}")
        output = os.path.join(self.folder, f"output-{first}")
        command = [*self.command, "--work", f"{first},{end - first},{progress}"]
        cache = os.path.join(self.folder, f"cache-{first}")
        environment = {**os.environ, **self.environment, "TRITON_CACHE_DIR": cache}
        with open(output, "w") as sink:
            process = subprocess.Popen(
                command,
                env=environment,
                stdout=sink,
                stderr=sink,
                text=True,
                preexec_fn=self._limit_memory,
            )
            how = self._wait(process, progress)
        with open(progress, "a+") as notes:
            notes.seek(0)
            lines = notes.read().split("\n")
        failed = [int(line.split()[1]) for line in lines if line.startswith("failed ")]
        began = [int(line.split()[1]) for line in lines if line.startswith("began ")]
        last = began[-1] if began else first
        has_ended = "ended" in lines
        with self.lock:
            self.skipped += [
                line.removeprefix("skipped ") for line in lines if line.startswith("skipped ")
            ]
            self.failed += failed if has_ended else [*failed, last]
            if failed or not has_ended:
                with open(output, errors="replace") as text:
                    print(text.read()[-20000:], flush=True)
            if not has_ended:
                print(f"case {last}: {how}", flush=True)
        return end if has_ended else last + 1

    def report(self, first: int) -> None:
        if self.left is not None:
            print(f"go on with --seed {self.left} --count {first + self.total - self.left}")
        for number in sorted(self.failed):
            print(f"failed: --seed {number} --count 1")
        for skipped in self.skipped:
            print(f"skipped: {skipped}")
