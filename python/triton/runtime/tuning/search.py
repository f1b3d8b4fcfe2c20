"""Searches the configurations of an autotuner: compiles them on several threads, and times those that may be the best
for long, the others only until that is clear.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import (
    ALL_COMPLETED,
    FIRST_COMPLETED,
    Executor,
    ThreadPoolExecutor,
    as_completed,
    wait,
)
from typing import TYPE_CHECKING, Any

from ... import knobs
from ...compiler import sources
from ...compiler.errors import CompilationError
from .. import _async_compile
from .._async_compile import FutureKernel
from ..jit import JITFunction
from ..progress import Progress, bar
from .arguments import on_cpu
from .config import Config
from .model import PROPOSED, CandidateLaunch, LaunchShape, proposed
from .samples import TIE, Sampler, Samples, greatest_gain, is_clearly_slower

if TYPE_CHECKING:
    from ..autotuner import Autotuner

# The error of the compiler where code is not generated, since no launch of it could run.
_CANNOT_LAUNCH = "cannot-launch"
QUANTILES = (0.5, 0.2, 0.8)
# What a candidate that may still be the best gets at most.
_MOST_SAMPLES = 200
_MOST_SECONDS = ((7, 0.1), (0, 1.0))  # with at least so many samples
_LEAST_SAMPLES = 12


# Compilations at once: each may take hundreds of megabytes.
_MOST_THREADS = 16


def _thread_count() -> int:
    return min(len(os.sched_getaffinity(0)), _MOST_THREADS)


class Candidate:
    """One configuration of a search, and what became of it."""

    def __init__(self, index: int, config: Config):
        self.index = index
        self.config = config
        self.samples = Samples()
        self.estimate: dict[str, Any] | None = None  # the compiler's, of its launch
        self.timing: Any = None  # as `do_bench` returns it; None: not timed
        self.outcome = "not timed"  # or timed, cut, dropped, failed, as N
        self.reason = ""
        self.code = ""  # of the compiler's error, where that is the reason

    @property
    def microseconds(self) -> float:
        """By the model; infinite where there is no estimate."""
        found = self.estimate["microseconds"] if self.estimate else 0.0
        return found or float("inf")

    def order(self) -> float:
        """Its time in tables; those without one come last."""
        if self.timing is None:
            return float("inf")
        time: float = self.timing[0] if isinstance(self.timing, (list, tuple)) else self.timing
        return time

    def take_estimate(self, estimate: dict[str, Any] | None) -> None:
        self.estimate = estimate or self.estimate
        if estimate is not None and not estimate["can_launch"]:
            self.drop(
                "dropped",
                f"needs {estimate['shared_bytes']} bytes of shared memory of "
                f"{estimate['shared_limit']}, {estimate['registers']} registers a thread",
            )

    def drop(self, outcome: str, reason: str) -> None:
        self.outcome, self.reason = outcome, reason
        self.timing = [float("inf")] * len(QUANTILES)


class _Ahead(_async_compile.AsyncCompileMode):
    """Kernels are compiled on `executor` for a launch of that shape; leaving it does not wait."""

    def __init__(self, executor: Executor, shape: LaunchShape | None):
        super().__init__(executor)
        self._shape = shape

    def submit(self, key: str, make: Callable[[], Any], *ends: Callable[..., Any]) -> FutureKernel:
        def make_for_launch() -> Any:
            token = sources.launch_shape.set(self._shape)
            try:
                return make()
            finally:
                sources.launch_shape.reset(token)

        return super().submit(key, make_for_launch, *ends)

    def __exit__(self, *exception: Any) -> None:
        assert self._token is not None
        _async_compile.active_mode.reset(self._token)


class Compilations:
    """The kernels of candidates, compiled on other threads before the first call."""

    def __init__(self, tuner: Autotuner, args: tuple[Any, ...], kwargs: dict[str, Any]):
        self._tuner, self._args, self._kwargs = tuner, args, kwargs
        self._executor = ThreadPoolExecutor(_thread_count(), "triton tuning")

    def __enter__(self) -> Compilations:
        return self

    def __exit__(self, *exception: Any) -> None:
        self._executor.shutdown(wait=False, cancel_futures=True)

    def estimate(self, candidates: list[Candidate]) -> None:
        """Sets the estimates of candidates, and drops those that cannot be launched."""
        variants = [(one, self._variant(one)) for one in candidates]
        runs = {
            self._executor.submit(variant.estimate): one
            for one, variant in variants
            if variant is not None
        }
        for run in as_completed(runs):
            if run.exception() is None:  # else the compilation reports it
                runs[run].take_estimate(run.result())

    def each_ready(self, candidates: list[Candidate], beside: bool) -> Iterator[Candidate]:
        """The candidates as they are compiled, of those that are ready the least estimate first; all are
        compiled before the first unless timing may run `beside`.
        """
        kernels = {one: self._start(one) for one in candidates}
        pending = {
            kernel._future: one
            for one, kernel in kernels.items()
            if isinstance(kernel, FutureKernel)
        }
        ready = [one for one in candidates if one not in pending.values()]
        while ready or pending:
            done, _ = wait(
                pending,
                timeout=0 if ready and beside else None,
                return_when=FIRST_COMPLETED if beside else ALL_COMPLETED,
            )
            for one in (pending.pop(future) for future in done):
                _finish(one, kernels[one])
                ready.append(one)
            ready.sort(key=lambda one: (one.microseconds, one.index))
            yield ready.pop(0)

    def _variant(self, candidate: Candidate) -> CandidateLaunch | None:
        meta = {**self._kwargs, **candidate.config.all_kwargs()}
        try:
            if candidate.config.pre_hook:  # it may change what descriptors describe
                candidate.config.pre_hook({**(self._tuner.nargs or {}), **meta})
            return CandidateLaunch(self._tuner.fn, self._args, meta)
        except Exception:  # noqa: BLE001 (the first call raises it, between the user's hooks)
            return None

    def _start(self, candidate: Candidate) -> Any:
        """A FutureKernel where a compilation has begun. Errors are those of the first call."""
        variant = self._variant(candidate)
        if variant is None:
            return None
        meta = {**self._kwargs, **candidate.config.all_kwargs(), "warmup": True}
        try:
            with _Ahead(self._executor, variant.shape):
                return self._tuner.fn.run(*self._args, **meta)
        except Exception:  # noqa: BLE001 (as above)
            return None


def _finish(candidate: Candidate, kernel: FutureKernel) -> None:
    try:
        candidate.take_estimate(kernel.result()._code.estimate)
    except CompilationError as error:
        if any(found.code == _CANNOT_LAUNCH for found in error.diagnostics):
            candidate.code = _CANNOT_LAUNCH
            candidate.drop("dropped", error.diagnostics[0].message)
    except Exception:  # noqa: BLE001 (the first call compiles again, and raises it between the user's hooks)
        return


def compile_all(fn: Any, calls: Sequence[Callable[[], Any]]) -> list[Any]:
    """The kernels of calls of `fn.warmup`, compiled on several threads."""
    if _async_compile.active_mode.get() is not None or not _compiles_ahead(fn):
        return [call() for call in calls]
    kernels = []
    with ThreadPoolExecutor(_thread_count(), "triton tuning") as executor:
        for call in calls:
            with _Ahead(executor, None):
                kernels.append(call())
        return [one.result() if isinstance(one, FutureKernel) else one for one in kernels]


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

    def run(self, mode: str) -> None:
        begin = time.perf_counter()
        own, twins = self._without_twins()
        outer = self.tuner._call.sampler  # of a tuning whose hook launches the kernel again
        self.tuner._call.sampler = None
        self.sampler = Sampler() if self._takes_own_samples() else None
        self.tuner._call.sampler = self.sampler
        try:
            with Progress(f"tuning {self.tuner.base_fn.__name__}") as progress:
                with Compilations(self.tuner, self.args, self.kwargs) as compilations:
                    chosen = self._proposed(own, compilations) if mode == "model" else own
                    self._time_all(chosen, compilations, progress)
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
        from ...testing import do_bench

        return self.tuner.do_bench is do_bench

    def _proposed(self, candidates: list[Candidate], compilations: Compilations) -> list[Candidate]:
        """Those to be timed: all of a few, else the ones that the model of times proposes."""
        if len(candidates) <= PROPOSED:
            return candidates
        if _compiles_ahead(self.tuner.fn):
            compilations.estimate(candidates)
        left = [one for one in candidates if one.timing is None]
        return proposed(left) if left else candidates

    def _time_all(
        self, candidates: list[Candidate], compilations: Compilations, progress: Progress
    ) -> None:
        compiles = len(candidates) > 1 and _compiles_ahead(self.tuner.fn)
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
                print(f"Autotuning of {name}: {candidate.config} is left out: {candidate.reason}")

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
    if len(samples.times) >= _MOST_SAMPLES or any(
        len(samples.times) >= least and samples.seconds >= most for least, most in _MOST_SECONDS
    ):
        return False
    return count < _LEAST_SAMPLES or greatest_gain(samples, best) > TIE


def _compiles_ahead(fn: Any) -> bool:
    """Whether `fn` is a kernel of this package, below heuristics at most: then `warmup` only compiles."""
    from ..autotuner import Heuristics

    while isinstance(fn, Heuristics):
        fn = fn.fn
    has_own_run = "run" in getattr(fn, "__dict__", {})
    if getattr(type(fn), "run", None) is not JITFunction.run or has_own_run:
        return False
    return not fn.pre_run_hooks
