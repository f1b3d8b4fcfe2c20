"""The share of the machine that other processes used while measuring: a busy core changes a figure
without necessarily changing its spread.
"""
# SPDX-License-Identifier: MIT

import os
import time

DISTURBING_CORES = 0.15


class Others:
    """Counts from its creation; `cores()` is the mean since then, None where the system does not
    report it.
    """

    def __init__(self, ours: list[int]):
        self.ours, self.began = ours, time.perf_counter()
        self.ticks = self._ticks()

    def _ticks(self) -> int | None:
        try:
            return busy_ticks() - sum(map(process_ticks, [os.getpid(), *self.ours]))
        except (OSError, ValueError, IndexError):
            return None

    def cores(self) -> float | None:
        ticks, seconds = self._ticks(), time.perf_counter() - self.began
        if ticks is None or self.ticks is None:
            return None
        return max(0.0, (ticks - self.ticks) / os.sysconf("SC_CLK_TCK") / seconds)


def busy_ticks() -> int:
    """All but idle and waiting time, and guests' time, which user time includes already."""
    with open("/proc/stat") as lines:
        user, nice, system, _, _, *interrupts = map(int, lines.readline().split()[1:9])
    return user + nice + system + sum(interrupts)


def process_ticks(process: int) -> int:
    """Of the process and of its finished children; 0 for a process that has ended."""
    try:
        with open(f"/proc/{process}/stat") as text:
            fields = text.read().rsplit(")", 1)[1].split()
    except FileNotFoundError:
        return 0
    return sum(map(int, fields[11:15]))
