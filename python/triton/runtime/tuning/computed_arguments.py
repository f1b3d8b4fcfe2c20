"""`triton.heuristics`: launch settings that are computed from the arguments."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from collections.abc import Callable
from typing import Any

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

    def bind(self, *args: Any, **kwargs: Any) -> Any:
        """The handle of `fn.bind`, with the constants computed from these arguments."""
        return self.fn.bind(*args, **self._computed(args, kwargs))

    @property
    def cache_key(self) -> str:
        return self.fn.cache_key


def heuristics(values: dict[str, Callable[[dict[str, Any]], Any]]) -> Callable[[Any], Heuristics]:
    """Decorator: computes launch arguments; each function gets the bound arguments as a
    dictionary.
    """
    return lambda fn: Heuristics(fn, fn.arg_names, values)
