"""What is known of the launches of configurations before they run, and the compiler's estimates of their times."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._C import libtriton
from ..binder import Binder, device_of_arguments, normalize_grid
from ..driver import driver

if TYPE_CHECKING:
    from .search import Candidate

# Of the configurations of a kernel the model proposes so many.
PROPOSED = 3
# The model may be wrong by this factor.
_NEAR = 1.3

# ((x, y, z), integers by position, bytes of all arrays, multiprocessors, bytes a second of memory), as
# `libtriton.compile` takes it.
LaunchShape = tuple[tuple[int, int, int], dict[int, int], int, int, float]


class CandidateLaunch:
    """A kernel for the arguments of one launch: what its compilation needs, and the launch's shape."""

    def __init__(self, fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]):
        fn, args, kwargs = _without_heuristics(fn, args, dict(kwargs))
        grid = kwargs.pop("grid")
        for name in ("warmup", "stream"):
            if name not in fn.arg_names:
                kwargs.pop(name, None)
        self.fn = fn
        bound = Binder(fn.__name__, fn.params).bind(args, kwargs)
        device_key = device_of_arguments(bound)
        active = driver.active if device_key is None else driver.for_device(device_key[0])
        device = active.get_current_device() if device_key is None else device_key[1]
        _, _, self._target, self._backend, binder = fn._caches_for(active, device)
        self._bound, self._specialization = bound, binder.specialize(bound)
        self._options = binder.options(kwargs)
        properties = active.utils.get_device_properties(device)
        self.shape: LaunchShape = (
            normalize_grid(grid, bound),
            _integers(bound),
            memory_bytes(tuple(bound.values())),
            properties.get("multiprocessor_count", 0),
            _memory_peak(properties),
        )

    def estimate(self) -> Any:
        """The estimate as a dictionary; None for a target without a model."""
        from ...compiler import ASTSource
        from ..jit import _describe, _launches_own

        source = ASTSource(self.fn, *_describe(self._bound, self._specialization, self._backend))
        parsed = self._backend.parse_options(self._options)
        return libtriton.estimate(
            source.fn,
            source.signature,
            source.constants,
            source.attrs,
            self._backend.code_target(parsed),
            {**parsed.__dict__, "own_launcher": _launches_own(self._backend)},
            source.symbol(),
            self.shape,
        )


def _memory_peak(properties: dict[str, Any]) -> float:
    """Bytes a second; 0 where the device does not tell."""
    clock, bits = properties.get("mem_clock_rate", 0), properties.get("mem_bus_width", 0)
    return 2 * clock * 1e3 * bits / 8  # kHz, at both edges


def _without_heuristics(
    fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, tuple[Any, ...], dict[str, Any]]:
    from ..autotuner import Heuristics

    while isinstance(fn, Heuristics):
        for name, heuristic in fn.values.items():
            kwargs[name] = heuristic({**dict(zip(fn.arg_names, args, strict=False)), **kwargs})
        fn = fn.fn
    return fn, args, kwargs


def _integers(bound: dict[str, Any]) -> dict[int, int]:
    """Those that a kernel may get at run time; others are of no interest to it."""
    limit = 1 << 63
    return {
        index: int(value)
        for index, value in enumerate(bound.values())
        if isinstance(value, int) and -limit <= value < limit
    }


def memory_bytes(values: tuple[Any, ...]) -> int:
    """Bytes of the arrays among `values`, each counted once."""
    sizes: dict[Any, int] = {}

    def visit(value: Any) -> None:
        if isinstance(value, (tuple, list)):
            for part in value:
                visit(part)
        elif hasattr(value, "base") and hasattr(value, "block_shape"):  # a descriptor
            visit(value.base)
        elif hasattr(value, "untyped_storage") and hasattr(value, "data_ptr"):
            size = min(value.numel() * value.element_size(), value.untyped_storage().nbytes())
            sizes[value.data_ptr()] = max(size, sizes.get(value.data_ptr(), 0))
        elif isinstance(getattr(value, "nbytes", None), int):
            sizes[id(value)] = value.nbytes

    for value in values:
        visit(value)
    return sum(sizes.values())


def proposed(candidates: list[Candidate]) -> list[Candidate]:
    """Those that the model would time: the one of the least estimate; of those that are not much slower by
    theirs the first with other constants, then the first ones with other constants or warps; else the next.
    Without estimates the first, the middle and the last of the list.
    """
    if all(one.estimate is None for one in candidates):
        indices = sorted({0, len(candidates) // 2, len(candidates) - 1})
        return [candidates[index] for index in indices]
    ordered = sorted(candidates, key=lambda one: (one.microseconds, one.index))
    near = [one for one in ordered if one.microseconds <= _NEAR * ordered[0].microseconds]
    chosen = ordered[:1]
    for differs in (_in_constants, _in_warps, _in_warps):
        other = next((one for one in near if all(differs(one, old) for old in chosen)), None)
        chosen += [other] if other is not None else []
    rest = [one for one in ordered if one not in chosen]
    return (chosen + rest)[:PROPOSED]


def _in_constants(one: Candidate, other: Candidate) -> bool:
    return one.config.kwargs != other.config.kwargs


def _in_warps(one: Candidate, other: Candidate) -> bool:
    return _in_constants(one, other) or one.config.num_warps != other.config.num_warps
