"""The configurations that `early_config_prune` leaves of an autotuner's, for a domain of arguments."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import contextlib
import functools
import inspect
import itertools
import math
import sys
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

from ..._dtype_names import canonicalize_dtype
from .domains import Constant, _Pointee, examples

# More combinations of values take too long.
MOST_VALUES = 1 << 20
_MOST_CALLS = 1 << 14


class Reads(dict):  # type: ignore[type-arg]
    """The arguments as a function of the user's sees them; remembers which it reads."""

    def __init__(self, values: dict[str, Any], reads: set[str]):
        super().__init__(values)
        self.reads = reads

    def __getitem__(self, name: str) -> Any:
        self.reads.add(name)
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        self.reads.add(name)
        return super().get(name, default)

    def _all(self) -> None:
        self.reads.update(self)

    def keys(self) -> Any:
        self._all()
        return super().keys()

    def values(self) -> Any:
        self._all()
        return super().values()

    def items(self) -> Any:
        self._all()
        return super().items()


def count_of(given: Any) -> int:
    if given is int:
        return 2**64
    if isinstance(given, range):
        return len(given)
    return sum(map(count_of, given)) if isinstance(given, (list, set, frozenset)) else 1


def values_of(given: Any) -> Iterator[Any]:
    """All values, where a function sees more of them than their classes."""
    if isinstance(given, (list, set, frozenset)):
        for each in given:
            yield from values_of(each)
    elif isinstance(given, range):
        yield from given
    else:
        yield from examples(given, False)


def pruned(tuner: Any, domain: dict[str, Any]) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Each configuration with the part of the domain for which tuning times it. Those that a `perf_model`
    would leave out are among them, and all are where the domain does not tell what is left.
    """
    left = None
    if tuner.early_config_prune and len(tuner.configs) > 1:
        left = _Pruning(tuner, domain).left()
    yield from left or ((config, domain) for config in tuner.configs)


class _Pruning:
    """Calls of `early_config_prune` for the values of a domain that it reads."""

    def __init__(self, tuner: Any, domain: dict[str, Any]):
        self.tuner = tuner
        self.domain = domain
        function = tuner.fn
        while not hasattr(function, "params") and hasattr(function, "fn"):  # Heuristics
            function = function.fn
        params = getattr(function, "params", ())  # none where a kernel is interpreted
        self.constants = {param.name for param in params if param.is_constexpr} & domain.keys()
        self.named = set(inspect.signature(tuner.early_config_prune).parameters) & domain.keys()

    def left(self) -> list[tuple[Any, dict[str, Any]]] | None:
        """None where the function cannot be called for this domain."""
        read = self.constants | self.named
        while True:
            names = [name for name in self.domain if name in read]
            if math.prod(count_of(self.domain[name]) for name in names) > _MOST_CALLS:
                return None
            choices = [list(values_of(self.domain[name])) for name in names]
            reads: set[str] = set()
            try:
                found = [
                    (chosen, self._call(dict(zip(names, chosen, strict=True)), reads))
                    for chosen in itertools.product(*choices)
                ]
            except Exception:  # it asks of an argument what its class does not tell
                return None
            reads &= self.domain.keys()
            if reads <= read:
                return self._by_config(names, found)
            read |= reads

    def _call(self, chosen: dict[str, Any], reads: set[str]) -> list[Any]:
        values = {name: next(examples(given, False)) for name, given in self.domain.items()}
        values.update(chosen)
        shown = {name: _shown(value) for name, value in values.items()}
        keywords = {name: shown[name] for name in self.constants | self.named}
        return list(
            self.tuner.early_config_prune(list(self.tuner.configs), Reads(shown, reads), **keywords)
        )

    def _by_config(
        self, names: list[str], found: list[tuple[tuple[Any, ...], list[Any]]]
    ) -> list[tuple[Any, dict[str, Any]]]:
        """The domain of each configuration: values of the last name are listed together."""
        groups: dict[Any, tuple[Any, dict[str, Any]]] = {}
        for chosen, configs in found:
            for config in configs:
                fixed = [Constant(value) for value in chosen]
                key = (config, *map(id, chosen[:-1]))
                part = dict(zip(names, fixed, strict=True))
                known = groups.setdefault(key, (config, {**self.domain, **part}))[1]
                if names:
                    last = names[-1]
                    listed = known[last] if isinstance(known[last], list) else []
                    known[last] = [*listed, fixed[-1]]
        return list(groups.values())


def _shown(value: Any) -> Any:
    """A stand-in of a tensor with the dtype that a tensor has."""
    if not isinstance(value, _Pointee):
        return value
    from ...language.core import dtype

    element = dtype(value.dtype)
    return SimpleNamespace(
        dtype=_of_torch(value.dtype) or element,
        data_ptr=value.data_ptr,
        element_size=lambda: max(element.primitive_bitwidth // 8, 1),
    )


@functools.cache
def _of_torch(name: str) -> Any:
    """torch's dtype; None where it has none, or is not there."""
    torch = sys.modules.get("torch")
    for each in vars(torch).values() if torch else ():
        if isinstance(each, torch.dtype):  # type: ignore[union-attr]
            with contextlib.suppress(KeyError):
                if canonicalize_dtype(str(each)) == name:
                    return each
    return None
