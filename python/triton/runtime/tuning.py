"""Searches the configurations of an autotuner: compiles them on several threads, and times those that may be the best
for long, the others only until that is clear.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import os
import time
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TYPE_CHECKING, Any

from .. import knobs
from . import _async_compile
from .config import Config
from .errors import OutOfResources
from .jit import JITFunction
from .progress import Progress, bar
from .tuned_arguments import on_cpu
from .tuning_samples import TIE, Sampler, Samples, greatest_gain, is_clearly_slower

if TYPE_CHECKING:
    from .autotuner import Autotuner

QUANTILES = (0.5, 0.2, 0.8)
# What a candidate that may still be the best gets at most.
_MOST_SAMPLES = 200
_MOST_SECONDS = 0.1
_LEAST_SAMPLES = 12


class Candidate:
    """One configuration of a search, and what became of it."""

    def __init__(self, index: int, config: Config):
        self.index = index
        self.config = config
        self.samples = Samples()
        self.timing: Any = None  # as `do_bench` returns it; None: not timed
        self.outcome = "not timed"  # or timed, cut, dropped, failed, as N
        self.reason = ""

    def order(self) -> float:
        """Its time in tables; those without one come last."""
        if self.timing is None:
            return float("inf")
        time: float = self.timing[0] if isinstance(self.timing, (list, tuple)) else self.timing
        return time

    def drop(self, outcome: str, reason: str) -> None:
        self.outcome, self.reason = outcome, reason
        self.timing = [float("inf")] * len(QUANTILES)


class _Ahead(_async_compile.AsyncCompileMode):
    """Kernels are compiled on `executor`; leaving it does not wait."""

    def __exit__(self, *exception: Any) -> None:
        assert self._token is not None
        _async_compile.active_mode.reset(self._token)


class Compilations:
    """The kernels of candidates, compiled on other threads before the first call."""

    def __init__(self, tuner: Autotuner, args: tuple[Any, ...], kwargs: dict[str, Any]):
        self._tuner, self._args, self._kwargs = tuner, args, kwargs
        self._executor = ThreadPoolExecutor(len(os.sched_getaffinity(0)), "triton tuning")

    def __enter__(self) -> Compilations:
        return self

    def __exit__(self, *exception: Any) -> None:
        self._executor.shutdown(wait=False, cancel_futures=True)

    def each_ready(self, candidates: list[Candidate], beside: bool) -> Iterator[Candidate]:
        """The candidates as they are compiled; all of them first unless timing may run `beside`."""
        pending: dict[Future[Any], Candidate] = {}
        kernels: dict[int, Any] = {}
        for candidate in candidates:
            kernel = self._start(candidate)
            if isinstance(kernel, _async_compile.FutureKernel):
                kernels[candidate.index] = kernel
                pending[kernel._future] = candidate
        if not beside:
            wait(pending)
        yield from (candidate for candidate in candidates if candidate.index not in kernels)
        while pending:
            done, _ = wait(pending, return_when=FIRST_COMPLETED)
            for future in sorted(done, key=lambda future: pending[future].index):
                candidate = pending.pop(future)
                _finish(candidate, kernels[candidate.index])
                yield candidate

    def _start(self, candidate: Candidate) -> Any:
        """A FutureKernel where a compilation has begun. Errors are those of the first call."""
        meta = {**self._kwargs, **candidate.config.all_kwargs(), "warmup": True}
        try:
            if candidate.config.pre_hook:  # it may change what descriptors describe
                candidate.config.pre_hook({**(self._tuner.nargs or {}), **meta})
            with _Ahead(self._executor):
                return self._tuner.fn.run(*self._args, **meta)
        except Exception:  # noqa: BLE001 (the first call raises it, between the user's hooks)
            return None


def _finish(candidate: Candidate, kernel: Any) -> None:
    try:
        kernel.result()
    except OutOfResources as error:
        candidate.drop("dropped", str(error))
    except Exception:  # noqa: BLE001 (the first call compiles again, and raises it between the user's hooks)
        return


class Search:
    """One tuning: the candidates, and what became of each."""

    def __init__(
        self, tuner: Autotuner, configs: list[Config], args: tuple[Any, ...], kwargs: dict[str, Any]
    ):
        self.tuner, self.args, self.kwargs = tuner, args, kwargs
        self.candidates = [Candidate(index, config) for index, config in enumerate(configs)]
        self.sampler: Sampler | None = None
        self.seconds = 0.0

    def timings(self) -> dict[Config, Any]:
        """Of all that were timed or cannot run, in the order of the configurations."""
        return {one.config: one.timing for one in self.candidates if one.timing is not None}

    def run(self) -> None:
        begin = time.perf_counter()
        own, twins = self._without_twins()
        outer = self.tuner._call.sampler  # of a tuning whose hook launches the kernel again
        self.tuner._call.sampler = None
        self.sampler = Sampler() if self._takes_own_samples() else None
        self.tuner._call.sampler = self.sampler
        try:
            with Progress(f"tuning {self.tuner.base_fn.__name__}") as progress:
                self._time_all(own, progress)
                if self.sampler is not None:
                    self._compare([one for one in own if one.outcome == "timed"], progress)
        finally:
            self.tuner._call.sampler = outer
        for candidate, first in twins:
            candidate.timing, candidate.reason = first.timing, first.reason
            candidate.outcome = f"as {first.index + 1}"
        self.seconds = time.perf_counter() - begin

    def _without_twins(self) -> tuple[list[Candidate], list[tuple[Candidate, Candidate]]]:
        """Those that compile to code of their own, and pairs of the others with the one that they equal."""
        first: dict[Any, Candidate] = {}
        twins = []
        for candidate in self.candidates:
            same = self.tuner._what_matters(candidate.config, self.args, self.kwargs)
            if first.setdefault(same, candidate) is not candidate:
                twins.append((candidate, first[same]))
        return list(first.values()), twins

    def _takes_own_samples(self) -> bool:
        """Whether neither the user nor the driver has a benchmark of its own."""
        from ..testing import do_bench

        return self.tuner.do_bench is do_bench

    def _time_all(self, candidates: list[Candidate], progress: Progress) -> None:
        compiles = len(candidates) > 1 and _compiles_ahead(self.tuner.fn)
        with Compilations(self.tuner, self.args, self.kwargs) as compilations:
            # Compiling disturbs times by the clock: those of a CPU, and perhaps those of a user's benchmark.
            beside = self.sampler is not None and not on_cpu((*self.args, *self.kwargs.values()))
            ready = compilations.each_ready(candidates, beside) if compiles else iter(candidates)
            in_order = ready if beside else iter(sorted(ready, key=lambda one: one.index))
            for number, candidate in enumerate(in_order, 1):
                progress.step(
                    f", configuration {number} of {len(candidates)} ({candidate.config})",
                    bar(number - 1, len(candidates)),
                )
                if candidate.timing is None:
                    self._visit(candidate)
                elif knobs.autotuning.print:
                    name = self.tuner.base_fn.__name__
                    print(
                        f"Autotuning of {name}: {candidate.config} is left out: {candidate.reason}"
                    )

    def _visit(self, candidate: Candidate) -> None:
        if self.sampler is not None:
            self.sampler.samples = candidate.samples
        candidate.timing = self.tuner._bench(*self.args, config=candidate.config, **self.kwargs)
        if candidate.timing == [float("inf")] * len(QUANTILES):
            candidate.drop("failed", self.tuner._call.failure)
            return
        candidate.outcome = "timed"
        if self.sampler is None:
            return
        best = self.sampler.best
        if best is None or candidate.samples.median < best.median:
            self.sampler.best = candidate.samples
        elif candidate.samples is not best and is_clearly_slower(candidate.samples, best):
            candidate.outcome = "cut"

    def _compare(self, candidates: list[Candidate], progress: Progress) -> None:
        """Times those that may be the best in alternation, so that they meet the same clocks."""
        assert self.sampler is not None
        while unsettled := self._unsettled(candidates):
            progress.step(f", {len(unsettled)} configurations are close to each other")
            for candidate in unsettled:
                self._visit(candidate)
            left = [one.samples for one in candidates if one.outcome == "timed"]
            self.sampler.best = min(left, key=lambda samples: samples.median)

    def _unsettled(self, candidates: list[Candidate]) -> list[Candidate]:
        """The best one and those of which more samples may change the choice; empty where none may."""
        best = self.sampler.best if self.sampler else None
        if best is None:
            return []
        for candidate in candidates:
            if candidate.samples is not best and is_clearly_slower(candidate.samples, best):
                candidate.outcome = "cut"
        left = [one for one in candidates if one.outcome == "timed"]
        rivals = [one for one in left if one.samples is not best and _may_win(one.samples, best)]
        return rivals + [one for one in left if one.samples is best] if rivals else []


def _may_win(samples: Samples, best: Samples) -> bool:
    """Whether more samples may show that it is faster by more than a tie; enough ends this."""
    count = min(len(samples.times), len(best.times))
    if len(samples.times) >= _MOST_SAMPLES or samples.seconds >= _MOST_SECONDS:
        return False
    return count < _LEAST_SAMPLES or greatest_gain(samples, best) > TIE


def _compiles_ahead(fn: Any) -> bool:
    """Whether `fn` is a kernel of this package, below heuristics at most: then `warmup` only compiles."""
    from .autotuner import Heuristics

    while isinstance(fn, Heuristics):
        fn = fn.fn
    return type(fn).run is JITFunction.run and not fn.pre_run_hooks
