"""Measures the candidates of a search: a few calls at each visit, fewer for those that are clearly slower."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from typing import Any

# Below this part of the best time a difference between candidates is a tie.
TIE = 0.005
# Calls at the first visit of a candidate: these decide whether it is clearly slower, more are made as time allows.
FIRST_CALLS = 3
MOST_FIRST_CALLS = 10
_FIRST_SECONDS = 2e-3
# A later visit takes about this long.
_VISIT_SECONDS = 5e-3
_MOST_VISIT_CALLS = 25
# Before the first candidate of a search: the clocks of an idle GPU rise meanwhile.
_WARM_UP_SECONDS = 25e-3
# With fewer samples a candidate has to be slower by this part to be cut: what disturbs the machine lasts for a while.
_MARGINS = ((6, 1.0), (12, 0.25), (24, 0.05))


def best_of(timings: dict[Any, Any]) -> Any:
    """The configuration of the least time; of those within its noise the first one."""
    fastest = min(timings.values())
    if isinstance(fastest, (int, float)) or len(fastest) < 3 or math.isinf(fastest[0]):
        return min(timings, key=timings.get)  # type: ignore[arg-type]
    median, low, high = fastest[:3]
    limit = median + min(TIE * median, (high - low) / 2)
    return next(config for config, timing in timings.items() if timing[0] <= limit)


class Samples:
    """Milliseconds of the calls of one candidate."""

    def __init__(self) -> None:
        self.times: list[float] = []
        self.seconds = 0.0  # of the clock, with all that is done between the calls

    def quantile(self, fraction: float) -> float:
        from ...testing import _quantile

        return _quantile(self.times, fraction)

    @property
    def median(self) -> float:
        return self.quantile(0.5)

    @property
    def error(self) -> float:
        """The standard error of the median, for normally distributed times."""
        deviation = (self.quantile(0.8) - self.quantile(0.2)) / 1.683
        return 1.2533 * deviation / math.sqrt(len(self.times))


def is_clearly_slower(samples: Samples, best: Samples) -> bool:
    """Whether more samples would not make it the best."""
    count = min(len(samples.times), len(best.times))
    margin = next((margin for limit, margin in _MARGINS if count < limit), 0.0)
    difference = samples.median - best.median
    if difference <= margin * best.median:
        return False
    if min(samples.times) > max(best.times):
        return True
    is_noise = difference <= 3 * math.hypot(samples.error, best.error)
    return not is_noise and samples.quantile(0.2) > best.quantile(0.8)


def greatest_gain(samples: Samples, best: Samples) -> float:
    """By which part `samples` may turn out faster than `best`."""
    noise = 2 * math.hypot(samples.error, best.error)
    return (noise - (samples.median - best.median)) / max(best.median, 1e-9)


class Sampler:
    """A benchmark, as `do_bench`, that adds to the samples of the candidate that is visited."""

    def __init__(self) -> None:
        self.samples: Samples = Samples()  # of the candidate that is visited
        self.best: Samples | None = None
        self._device: Any = None
        self._cache: Any = None

    def __call__(self, call: Callable[[], Any], quantiles: Sequence[float]) -> list[float]:
        begin = time.perf_counter()
        if not self.samples.times:
            self._visit_first(call)
        else:
            each = self.samples.seconds / len(self.samples.times)
            self._run(call, _calls_in(_VISIT_SECONDS, each, _MOST_VISIT_CALLS))
        self.samples.seconds += time.perf_counter() - begin
        return [self.samples.quantile(fraction) for fraction in quantiles]

    def _visit_first(self, call: Callable[[], Any]) -> None:
        from ...testing import _device_of

        device = _device_of(call)  # this call loads the kernel
        if device is not self._device:
            self._device, self._cache = device, device.get_empty_cache_for_benchmark()
            self._warm_up(call)
        begin = time.perf_counter()
        self._run(call, FIRST_CALLS)
        each = (time.perf_counter() - begin) / FIRST_CALLS
        if self.best is None or not is_clearly_slower(self.samples, self.best):
            self._run(call, _calls_in(_FIRST_SECONDS, each, MOST_FIRST_CALLS) - FIRST_CALLS)

    def _warm_up(self, call: Callable[[], Any]) -> None:
        end = time.perf_counter() + _WARM_UP_SECONDS
        while _is_asynchronous(self._device) and time.perf_counter() < end:
            for _ in range(10):
                call()
            self._device.synchronize()

    def _run(self, call: Callable[[], Any], count: int) -> None:
        from ...testing import _times_by_clock, _times_by_events

        def prepare() -> None:
            self._device.clear_cache(self._cache)

        run = _times_by_events if _is_asynchronous(self._device) else _times_by_clock
        self.samples.times += run(self._device, call, prepare, max(count, 0))


def _is_asynchronous(device: Any) -> bool:
    return hasattr(device, "record_event")


def _calls_in(seconds: float, each: float, most: int) -> int:
    return max(1, min(most, int(seconds / max(each, 1e-6))))
