"""Times calls in alternation: on the CPU with a clock over many calls, on a GPU with events and a
flushed cache; summarises samples.
"""
# SPDX-License-Identifier: MIT

import statistics
import time

SAMPLE_SECONDS = 0.005  # a sample of the clock is the mean over as many calls as take this long
FLUSHED_BYTES = 256 << 20  # more than the last-level cache of any GPU
LAUNCHES = 200  # fewer than fill a stream's queue


def by_clock(calls, count, device):
    """Seconds of a synchronous call; caches stay as the previous call left them."""
    repeats = {who: _repeats(call) for who, call in calls.items()}
    samples = {who: [] for who in calls}
    for _ in range(count):
        for who, call in calls.items():
            began = time.perf_counter()
            for _ in range(repeats[who]):
                call()
            samples[who].append((time.perf_counter() - began) / repeats[who])
    return samples


def _repeats(call) -> int:
    call()
    began = time.perf_counter()
    call()
    return max(1, int(SAMPLE_SECONDS / max(time.perf_counter() - began, 1e-7)))


def by_events(calls, count, device):
    """Seconds on the GPU of single calls, each without its inputs in a cache."""
    import torch

    flushed = torch.empty(FLUSHED_BYTES, dtype=torch.int8, device="cuda")
    pairs = {who: [] for who in calls}
    for call in calls.values():
        call()
    for _ in range(count):
        for who, call in calls.items():
            began, ended = (torch.cuda.Event(enable_timing=True) for _ in range(2))
            flushed.zero_()  # it also keeps the GPU busy while the host enqueues what follows
            began.record()
            call()
            ended.record()
            pairs[who].append((began, ended))
        torch.cuda.synchronize()
    return {
        who: [1e-3 * began.elapsed_time(ended) for began, ended in events]
        for who, events in pairs.items()
    }


def by_launches(calls, count, device):
    """Seconds that a launch takes on the host."""
    samples = {who: [] for who in calls}
    for _ in range(count):
        for who, call in calls.items():
            call()
            device.synchronize()
            began = time.perf_counter()
            for _ in range(LAUNCHES):
                call()
            samples[who].append((time.perf_counter() - began) / LAUNCHES)
            device.synchronize()
    return samples


def by_themselves(calls, count, device):
    """Calls that return their own seconds."""
    samples = {who: [] for who in calls}
    for _ in range(count):
        for who, call in calls.items():
            samples[who].append(call())
    return samples


CLOCKS = {
    ("kernel", "cpu"): by_clock,
    ("kernel", "cuda"): by_events,
    ("launch", "cpu"): by_launches,
    ("launch", "cuda"): by_launches,
    ("own", "cpu"): by_themselves,
    ("own", "cuda"): by_themselves,
}
# Samples of a round: a clock's sample is a mean already, an event's is one call.
COUNTS = {by_clock: 7, by_events: 40, by_launches: 15, by_themselves: 3}


def samples_of(contest, device, quick: bool) -> dict[str, list[float]]:
    clock = CLOCKS[contest.clock, device.kind]
    return clock(contest.calls, 2 if quick else COUNTS[clock], device)


def spread_of(samples: list[float]) -> float:
    """The width of the middle half of the samples, over their median."""
    if len(samples) < 2:
        return 0.0
    low, middle, high = statistics.quantiles(samples, n=4, method="inclusive")
    return (high - low) / middle
