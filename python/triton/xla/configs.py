"""The configurations of a kernel that is autotuned or has heuristics."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from ..runtime.autotuner import Autotuner, Heuristics
from ..runtime.jit import JITFunction
from ..runtime.tuning.config import Config


class Candidate:
    """The keywords of one way to compile a kernel, and its text."""

    def __init__(self, kwargs: dict[str, Any], text: str = ""):
        self.kwargs = kwargs
        self._text = text

    def __str__(self) -> str:
        return self._text


def candidates(
    kernel: Any, args: Sequence[Any], metaparams: dict[str, Any]
) -> tuple[JITFunction[Any], list[Candidate]]:
    """The decorated function, and every way to compile it for these arguments."""
    chosen = [Candidate({})]
    fn = kernel
    named, metaparams = _split(kernel, args, metaparams)
    while not isinstance(fn, JITFunction):
        if isinstance(fn, Autotuner):
            chosen = [
                Candidate({**each.kwargs, **_without_defaults(config, metaparams)}, str(config))
                for each in chosen
                for config in _configs(fn, named, metaparams)
            ]
        elif isinstance(fn, Heuristics):
            for each in chosen:
                for name, value in fn.values.items():
                    each.kwargs[name] = value({**named, **metaparams, **each.kwargs})
        else:
            raise TypeError(
                f"kernel must be a function decorated with triton.jit, got {type(fn).__name__}"
            )
        fn = fn.fn
    return fn, chosen


def _split(
    kernel: Any, args: Sequence[Any], metaparams: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The arguments that are not constants, and everything else."""
    fn = kernel
    while hasattr(fn, "fn") and not isinstance(fn, JITFunction):
        fn = fn.fn
    params = getattr(fn, "params", [])
    constants = {param.name for param in params if param.is_constexpr}
    names = {param.name for param in params} - constants
    every = {**dict(zip(getattr(fn, "arg_names", []), args, strict=False)), **metaparams}
    named = {name: value for name, value in every.items() if name in names}
    return named, {name: value for name, value in every.items() if name not in names}


def _without_defaults(config: Config, metaparams: dict[str, Any]) -> dict[str, Any]:
    """Drops the configuration's values that the call itself sets."""
    return {name: value for name, value in config.all_kwargs().items() if name not in metaparams}


def _configs(tuner: Autotuner, named: dict[str, Any], metaparams: dict[str, Any]) -> list[Config]:
    """The configurations that agree with the call's own values."""
    if tuner.user_defined_pre_hook or tuner.user_defined_post_hook or tuner.reset_to_zero:
        raise NotImplementedError(
            f"{tuner.base_fn.__name__} is autotuned with hooks or `reset_to_zero`, which cannot run "
            "inside a graph; zero an output by `zeroed_outputs`"
        )
    fitting = [
        config
        for config in tuner.configs
        if all(config.kwargs.get(name, value) == value for name, value in metaparams.items())
    ]
    if any(config.pre_hook is not None for config in fitting):
        raise NotImplementedError(
            f"a configuration of {tuner.base_fn.__name__} has a `pre_hook`, which cannot run inside "
            "a graph"
        )
    if not fitting:
        raise ValueError(
            f"no configuration of {tuner.base_fn.__name__} agrees with the call's {metaparams}"
        )
    pruning = copy.copy(tuner)
    pruning.configs, pruning.nargs = fitting, named
    return pruning.prune_configs(metaparams)
