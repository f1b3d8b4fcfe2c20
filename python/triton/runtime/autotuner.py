"""Chooses launch settings: by timing them (`autotune`) or by computing them from the arguments
(`heuristics`).
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import time
import types
import warnings
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from .. import knobs
from .._C.libtriton import TunedCalls, TunedLauncher, set_tuner_class
from .._lazy import lazy_names
from .decorated import is_traced
from .errors import AutotunerError, OutOfResources, PTXASError
from .jit import KernelInterface
from .tuning.arguments import assign, clone, on_cpu, set_to_zero
from .tuning.computed_arguments import Heuristics, heuristics, launch
from .tuning.config import Config
from .tuning.keys import KeyClass, check_names, class_of
from .tuning.samples import best_of
from .tuning.state import CallState, KeyLocks
from .variants import jit_policy

if TYPE_CHECKING:
    from .tuning.search import Search
    from .tuning.table import TuningReport

__all__ = [
    "Autotuner",
    "Config",
    "Heuristics",
    "OutOfResources",
    "PTXASError",
    "autotune",
    "heuristics",
]

QUANTILES = (0.5, 0.2, 0.8)
MOST_REPORTS = 64
SEARCHES = ("exhaustive", "model")


class Autotuner(KernelInterface[Any]):
    """Times every configuration on the first call with new key values, and launches the best one
    from then on. Several threads may call it: the state of a call is its thread's own.
    """

    def __init__(
        self,
        fn: Any,
        arg_names: list[str],
        configs: list[Config] | None,
        key: list[str],
        reset_to_zero: Any,
        restore_value: Any,
        pre_hook: Any = None,
        post_hook: Any = None,
        prune_configs_by: Any = None,
        warmup: Any = None,
        rep: Any = None,
        use_cuda_graph: bool = False,
        do_bench: Any = None,
        cache_results: bool = False,
        search: str | None = None,
        key_class: dict[str, KeyClass] | None = None,
    ):
        self._call = CallState()
        self._calls = TunedCalls()
        self._key_locks = KeyLocks()
        self._last_config: Config | None = None
        self.configs = list(configs) if configs else [Config({})]
        self.keys = key
        self.cache: dict[Any, Config] = {}
        self.arg_names = arg_names
        self.cache_results = cache_results
        self.reset_to_zero = list(reset_to_zero or [])
        self.restore_value = list(restore_value or [])
        self.user_defined_pre_hook = pre_hook is not None
        self.user_defined_post_hook = post_hook is not None
        self.pre_hook = pre_hook or self._prepare_arguments
        self.post_hook = post_hook or self._restore_arguments
        pruning = prune_configs_by or {}
        self.perf_model = pruning.get("perf_model")
        self.configs_top_k = pruning.get("top_k", 1.0)
        self.early_config_prune = pruning.get("early_config_prune")
        self.fn = fn
        self.base_fn = fn
        while not isinstance(self.base_fn, types.FunctionType):
            self.base_fn = self.base_fn.fn
        self.num_warmups = warmup
        self.num_reps = rep
        self.use_cuda_graph = use_cuda_graph
        self._do_bench = do_bench
        self.configs_timings: dict[Config, Any] = {}
        self.bench_time: float | None = None
        if search is not None and search not in SEARCHES:
            raise ValueError(f"search is {search!r}; it must be {' or '.join(SEARCHES)}")
        self.search = search
        self.key_class = dict(key_class or {})
        check_names(self.base_fn.__name__, self.key_class, key)
        self._reports: dict[Any, TuningReport] = {}  # of the latest keys
        if warmup is not None or rep is not None or use_cuda_graph:
            warnings.warn(
                "warmup, rep, and use_cuda_graph parameters are deprecated. See do_bench for "
                "alternatives.",
                DeprecationWarning,
                stacklevel=2,
            )

    def __copy__(self) -> Autotuner:
        twin = object.__new__(type(self))
        twin.__dict__.update(
            self.__dict__, _call=CallState(), _key_locks=KeyLocks(), _calls=TunedCalls()
        )
        return twin

    def __getitem__(self, grid: Any) -> Any:
        return super().__getitem__(grid) if is_traced() else TunedLauncher(self, self._calls, grid)

    @property
    def nargs(self) -> dict[str, Any] | None:
        """The positional arguments of this thread's call, by name; None outside of calls."""
        return self._calls.nargs(self, self._call.nargs)

    @nargs.setter
    def nargs(self, value: dict[str, Any] | None) -> None:
        if not self._calls.set_nargs(value):
            self._call.nargs = value

    @property
    def best_config(self) -> Config | None:
        """That of this thread's last call; in a thread that made none, that of the last call."""
        return self._call.best_config or self._last_config

    @best_config.setter
    def best_config(self, value: Config | None) -> None:
        self._calls.forget_best()
        self._call.best_config = self._last_config = value

    @property
    def restore_copies(self) -> dict[str, Any]:
        return self._call.restore_copies

    @restore_copies.setter
    def restore_copies(self, value: dict[str, Any]) -> None:
        self._call.restore_copies = value

    @property
    def do_bench(self) -> Callable[..., Any]:
        if self._do_bench is not None:
            return self._do_bench
        from ..testing import do_bench, do_bench_cudagraph
        from .driver import driver

        if self.use_cuda_graph:
            return lambda call, quantiles: do_bench_cudagraph(
                call, rep=self.num_reps or 100, quantiles=quantiles
            )
        if self.num_warmups is not None or self.num_reps is not None:
            times: dict[str, Any] = {"warmup": self.num_warmups or 25, "rep": self.num_reps or 100}
            return lambda call, quantiles: do_bench(call, quantiles=quantiles, **times)
        return self._call.sampler or driver.active.get_benchmarker()

    def _prepare_arguments(self, kwargs: dict[str, Any], reset_only: bool = False) -> None:
        for name in self.reset_to_zero:
            if kwargs.get(name) is not None:
                set_to_zero(kwargs[name])
        if not reset_only:
            self.restore_copies = {
                name: clone(kwargs[name])
                for name in self.restore_value
                if kwargs.get(name) is not None
            }

    def _restore_arguments(self, kwargs: dict[str, Any], exception: BaseException | None) -> None:
        for name, copy in self.restore_copies.items():
            assign(kwargs[name], copy)
        self.restore_copies = {}

    def _bench(self, *args: Any, config: Config, **meta: Any) -> Any:
        _reject_conflicts(meta, config)
        current = {**meta, **config.all_kwargs()}
        full = {**(self.nargs or {}), **current}

        def kernel_call() -> None:
            if config.pre_hook:
                config.pre_hook(full)
            self.pre_hook(full)
            try:
                launch(self.fn, args, current)
            except BaseException as error:  # Ctrl-C too must leave the arguments as they were
                try:
                    self.post_hook(full, exception=error)
                finally:
                    raise
            self.post_hook(full, exception=None)

        from ..compiler.errors import CompileTimeAssertionFailure

        try:
            return self.do_bench(kernel_call, quantiles=QUANTILES)
        except (OutOfResources, CompileTimeAssertionFailure, PTXASError) as error:
            self._call.failure = str(error)
            if knobs.autotuning.print:
                print(f"Autotuning of {self.base_fn.__name__}: {config} is left out: {error}")
            return [float("inf")] * len(QUANTILES)

    def _search(
        self, configs: list[Config], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Search:
        from .tuning.search import Search

        search = Search(self, configs, args, kwargs)
        with jit_policy.own_variants():
            search.run(self.search or knobs.autotuning.search)
        self.bench_time = search.seconds
        return search

    def _what_matters(self, config: Config, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Equal for configurations that compile alike: on the CPU, where warps and stages have no
        effect, those that differ only in them.
        """
        options = config.all_kwargs().keys() - config.kwargs.keys()
        if not on_cpu((*args, *kwargs.values())) or options & set(self.arg_names):
            return id(config)
        try:
            return frozenset(config.kwargs.items()), config.pre_hook
        except TypeError:
            return id(config)

    def _key_of(self, kwargs: dict[str, Any]) -> tuple[Any, ...]:
        every = {**(self.nargs or {}), **kwargs}
        arguments = {name: value for name, value in every.items() if name in self.arg_names}
        kernel = self.base_fn.__name__
        key = [
            class_of(kernel, self.key_class, name, arguments[name])
            for name in self.keys
            if name in arguments
        ]
        key += [str(value.dtype) for value in arguments.values() if hasattr(value, "dtype")]
        return tuple(key)

    def _record(self, key: tuple[Any, ...], configs: list[Config]) -> Any:
        """The file that stores the timings for this key, if they are to be stored."""
        if not (self.cache_results or knobs.autotuning.cache):
            return None
        from .tuning.record import TuningRecord

        return TuningRecord.open(self, key, configs)

    def _choose(self, key: tuple[Any, ...], args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        """Fills `cache[key]`, from a lock file if one has the key."""
        configs = self.prune_configs(kwargs)
        if len(configs) == 1:  # a single configuration needs no timing
            self.cache[key] = configs[0]
            return
        from .locks import decisions

        decided = decisions.find(self, key, configs)
        if decided is None:
            with decisions.deciding(self, key):
                decided = decisions.find(self, key, configs)
                if decided is None:
                    self._decide(key, configs, args, kwargs)
                    return
        self.cache[key] = decided
        self._report(key, {}, decided, None)

    def _decide(
        self,
        key: tuple[Any, ...],
        configs: list[Config],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> None:
        """Fills `cache[key]` by timings, from the record on disk if there is one."""
        bench_time = None
        record = self._record(key, configs)
        timings = record.read() if record else None
        if timings is None:
            jit_policy.check_tuning(self, key, configs)
            start = time.perf_counter()
            search = self._search(configs, args, kwargs)
            timings = search.timings()
            bench_time = time.perf_counter() - start
            if record:
                record.write(timings)
        self.configs_timings = timings
        best = best_of(timings)
        if bench_time is not None:
            self._keep_report(key, search, best)
        from .locks import decisions

        best = decisions.record(self, key, best, timings[best])
        self.pre_hook({**(self.nargs or {}), **kwargs, **best.all_kwargs()}, reset_only=True)
        self.cache[key] = best
        self._report(key, timings, best, bench_time)

    def _keep_report(self, key: tuple[Any, ...], search: Search, best: Config) -> None:
        from .tuning.table import TuningReport

        self._reports.pop(key, None)
        if len(self._reports) == MOST_REPORTS:
            self._reports.pop(next(iter(self._reports)), None)
        self._reports[key] = TuningReport(self.base_fn.__name__, key, search, best)

    def _report(
        self, key: tuple[Any, ...], timings: dict[Config, Any], best: Config, took: float | None
    ) -> None:
        """Tells the user's settings of a choice; `took` is None where it comes from disk."""
        if knobs.autotuning.print:
            how = "read from disk" if took is None else f"finished after {took:.2f}s"
            print(
                f"Triton autotuning for function {self.base_fn.__name__},\nwith key as "
                f"{key},\n{how},\nbest config selected: {best};"
            )
            if took is not None:
                print(self._reports[key])
        if knobs.autotuning.listener is not None:
            knobs.autotuning.listener(
                fn=self.fn,
                key=key,
                best_config=best,
                configs_timings=timings,
                duration=took,
                cache_hit=took is None,
            )

    def report(self, key: tuple[Any, ...] | None = None) -> TuningReport | None:
        """The table of the candidates of a tuning in this process: of `key`, one of `cache`, or of the
        latest one. None where there was none.
        """
        return self._reports.get(next(reversed(self._reports), None) if key is None else key)

    def __repr__(self) -> str:
        return (
            f"Autotuner({self.base_fn.__module__}:{self.base_fn.__qualname__}, "
            f"{len(self.configs)} configurations, {len(self.cache)} keys)"
        )

    def _repr_html_(self) -> str:
        from .tuning.table import tuner_html

        return tuner_html(self)

    def _config_for(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Config:
        if len(self.configs) == 1:
            return self.configs[0]
        key = self._key_of(kwargs)
        config = self.cache.get(key)
        if config is not None:
            return config
        with self._key_locks.hold(key):
            if key not in self.cache:  # else another thread has chosen meanwhile
                self._choose(key, args, kwargs)
            return self.cache[key]

    def _chosen(self, *args: Any, **kwargs: Any) -> tuple[Any, ...] | None:
        """The choice of a launch that has taken place: its key in `cache`, the configuration, the arguments
        that this sets, these with the launch options, and whether it has no hook.
        """
        outer, self.nargs = self.nargs, dict(zip(self.arg_names, args, strict=False))
        try:
            key = None if len(self.configs) == 1 else self._key_of(kwargs)
        finally:
            self.nargs = outer
        config = self.configs[0] if key is None else self.cache.get(key)
        if config is None:
            return None
        return key, config, config.kwargs, config.all_kwargs(), config.pre_hook is None

    def run(self, *args: Any, **kwargs: Any) -> Any:
        outer = self.nargs  # of a call whose hook launches the kernel again
        self.nargs = nargs = dict(zip(self.arg_names, args, strict=False))
        try:
            self.best_config = config = self._config_for(args, kwargs)
            _reject_conflicts(kwargs, config)
            if config.pre_hook is not None:
                config.pre_hook({**nargs, **kwargs, **config.all_kwargs()})
            return launch(self.fn, args, {**kwargs, **config.all_kwargs()})
        finally:
            self.nargs = outer

    def bind(self, *args: Any, grid: Any = None, **kwargs: Any) -> Any:
        """The handle of `fn.bind` for the configuration of these arguments. `grid` is for timing the
        configurations where none is chosen yet.
        """
        from .bound import bind_tuned

        return bind_tuned(self, args, kwargs, grid)

    def prune_configs(self, kwargs: dict[str, Any]) -> list[Config]:
        """The configurations to be timed."""
        configs = self.configs
        if self.early_config_prune:
            configs = self.early_config_prune(configs, self.nargs, **kwargs)
            if not configs:
                raise AutotunerError(
                    "No valid autotuner configs after pruning. `early_config_prune` should "
                    "return at least one config."
                )
        if self.perf_model:
            limit = self.configs_top_k
            if isinstance(limit, float) and limit <= 1.0:
                limit = max(1, int(len(configs) * limit))
            elif not isinstance(limit, int):
                raise TypeError(
                    "Error while pruning configs, top_k must be either 1) a float <= 1.0 or 2) "
                    "an int"
                )
            if len(configs) > limit:
                costs = {
                    c: self.perf_model(**(self.nargs or {}), **kwargs, **c.all_kwargs())
                    for c in configs
                }
                configs = sorted(costs, key=costs.get)[:limit]  # type: ignore[arg-type]
        return configs

    def warmup(self, *args: Any, **kwargs: Any) -> list[Any]:  # type: ignore[override]
        self.nargs = dict(zip(self.arg_names, args, strict=False))
        try:
            from .tuning.search import compile_all

            settings = [{**kwargs, **c.all_kwargs()} for c in self.prune_configs(kwargs)]
            warmups = [partial(self.fn.warmup, *args, **setting) for setting in settings]
            return compile_all(self.fn, warmups)
        finally:
            self.nargs = None


def _reject_conflicts(kwargs: dict[str, Any], config: Config) -> None:
    conflicts = kwargs.keys() & config.all_kwargs().keys()
    if conflicts:
        raise ValueError(
            f"Conflicting meta-parameters: {', '.join(sorted(conflicts))}. "
            "Make sure that you don't re-define auto-tuned symbols."
        )


set_tuner_class(Autotuner)


def autotune(
    configs: list[Config],
    key: list[str],
    prune_configs_by: dict[str, Any] | None = None,
    reset_to_zero: Any = None,
    restore_value: Any = None,
    pre_hook: Any = None,
    post_hook: Any = None,
    warmup: Any = None,
    rep: Any = None,
    use_cuda_graph: bool = False,
    do_bench: Any = None,
    cache_results: bool = False,
    search: str | None = None,
    key_class: dict[str, KeyClass] | None = None,
) -> Callable[[Any], Autotuner]:
    """Decorator over `triton.jit`: times the configurations whenever an argument named in `key`
    has a new value, or one of a new class where `key_class` has a function for it. With
    `search="model"` it times three of them at most, those that a model of their times proposes.
    """

    def decorate(fn: Any) -> Autotuner:
        return Autotuner(
            fn,
            fn.arg_names,
            configs,
            key,
            reset_to_zero,
            restore_value,
            pre_hook=pre_hook,
            post_hook=post_hook,
            prune_configs_by=prune_configs_by,
            warmup=warmup,
            rep=rep,
            use_cuda_graph=use_cuda_graph,
            do_bench=do_bench,
            cache_results=cache_results,
            search=search,
            key_class=key_class,
        )

    return decorate


__getattr__ = lazy_names(
    __name__,
    {
        "triton.runtime.driver": "driver",
        "triton.runtime.jit": "JITFunction",
        "triton.runtime.cache": "get_cache_manager triton_key",
        "triton._function_names": "get_cache_invalidating_env_vars",
    },
)
