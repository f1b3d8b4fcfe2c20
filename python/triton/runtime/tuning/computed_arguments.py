"""`triton.heuristics`: launch settings that are computed from the arguments."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..._C.libtriton import ComputedLauncher
from ..decorated import is_traced
from ..jit import KernelInterface


def launch(fn: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """`fn.run(...)`; a plain launch uses the native launcher of what `fn` is, which finds a known kernel
    at once.
    """
    if kwargs.get("warmup") or not isinstance(fn, KernelInterface):
        return fn.run(*args, **kwargs)
    rest = {name: value for name, value in kwargs.items() if name not in ("grid", "warmup")}
    return fn[kwargs["grid"]](*args, **rest)


class Heuristics(KernelInterface[Any]):
    """Computes arguments from the others, in the order of `values`."""

    def __init__(
        self, fn: Any, arg_names: list[str], values: dict[str, Callable[[dict[str, Any]], Any]]
    ):
        self.fn = fn
        self.values = values
        self.arg_names = arg_names

    def _computed(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """The keyword arguments, with those computed."""
        named = dict(zip(self.arg_names, args, strict=False))
        for name, heuristic in self.values.items():
            kwargs[name] = heuristic({**named, **kwargs})
        return kwargs

    def run(self, *args: Any, **kwargs: Any) -> Any:
        return launch(self.fn, args, self._computed(args, kwargs))

    def __getitem__(self, grid: Any) -> Any:
        if is_traced() or not self._launches_natively():
            return super().__getitem__(grid)
        return ComputedLauncher(self.fn[grid], grid, self.arg_names, self.values)

    def _launches_natively(self) -> bool:
        """Whether a launch does what `run` of this class does."""
        return (
            type(self) is Heuristics
            and Heuristics.run is _run
            and "run" not in self.__dict__
            and type(self.values) is dict
            and type(self.arg_names) is list
            and isinstance(self.fn, KernelInterface)
        )

    def bind(self, *args: Any, **kwargs: Any) -> Any:
        """The handle of `fn.bind`, with the constants computed from these arguments."""
        return self.fn.bind(*args, **self._computed(args, kwargs))

    @property
    def cache_key(self) -> str:
        return self.fn.cache_key


_run = Heuristics.run  # a program may replace it


def heuristics(values: dict[str, Callable[[dict[str, Any]], Any]]) -> Callable[[Any], Heuristics]:
    """Decorator: computes launch arguments; each function gets the bound arguments as a
    dictionary.
    """
    return lambda fn: Heuristics(fn, fn.arg_names, values)
