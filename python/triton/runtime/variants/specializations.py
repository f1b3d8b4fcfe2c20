"""`kernel.specializations(domain)` and `kernel.compile_all(domain)`: the variants that a domain of
arguments reaches, and their compilation ahead of launches.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ... import knobs
from ..._C import libtriton
from ..binder import Binder, describe, device_of_arguments
from ..dependencies import class_keys
from ..driver import driver
from ..errors import OutOfResources
from .domains import Constant, examples
from .pruning import MOST_VALUES, Reads, count_of, pruned, values_of
from .variant import Variant, target_of

# More combinations of classes are a mistake.
MOST_VARIANTS = 1 << 16

Heuristic = tuple[str, Callable[[dict[str, Any]], Any]]


class Listed:
    """A variant with the arguments and options of a launch that reaches it."""

    def __init__(
        self, variant: Variant, bound: Any, specialization: Any, options: Any, caches: Any
    ):
        self.variant = variant
        self.bound = bound
        self.specialization = specialization
        self.options = options
        self.caches = caches  # (kernels, target, backend, device) of the launches


def specializations(kernel: Any, domain: Any, target: Any = None, **options: Any) -> list[Variant]:
    """See KernelInterface.specializations."""
    return [listed.variant for listed in list_variants(kernel, domain, target, options)]


def list_variants(kernel: Any, domain: Any, target: Any, options: dict[str, Any]) -> list[Listed]:
    """Each variant once, in the order of the domain's possibilities."""
    found: dict[tuple[int, str], Listed] = {}
    for each in [domain] if isinstance(domain, Mapping) else domain:
        if not isinstance(each, Mapping):
            raise TypeError(
                f"a domain is a dict of parameters, or several in a list, got {type(each).__name__}"
            )
        for request in _requests(kernel, dict(each), options, [], False):
            for listed in request.variants(target):
                found.setdefault((id(request.function), listed.variant.key), listed)
    return list(found.values())


def _requests(
    kernel: Any,
    domain: dict[str, Any],
    options: dict[str, Any],
    heuristics: list[Heuristic],
    is_config: bool,
) -> Iterator[_Request]:
    """Goes through what decorators add to a kernel: configurations, and arguments that are computed."""
    from ..autotuner import Autotuner, Heuristics
    from ..interpreter import InterpretedFunction
    from ..jit import JITFunction

    if isinstance(kernel, JITFunction):
        yield _Request(kernel, domain, options, heuristics, is_config)
    elif isinstance(kernel, Autotuner):
        for config, left in pruned(kernel, domain):
            yield from _requests(
                kernel.fn, *_configured(kernel, config, left, options), heuristics, True
            )
    elif isinstance(kernel, Heuristics):
        added = [(name, rule) for name, rule in kernel.values.items() if name not in domain]
        yield from _requests(kernel.fn, domain, options, [*heuristics, *added], is_config)
    elif isinstance(kernel, InterpretedFunction):
        return  # nothing is compiled
    elif getattr(kernel, "fn", None) is not None:
        yield from _requests(kernel.fn, domain, options, heuristics, is_config)
    else:
        raise TypeError(f"expected a kernel, got {type(kernel).__name__}")


def _configured(
    kernel: Any, config: Any, domain: dict[str, Any], options: dict[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """The domain and options under one configuration."""
    given = config.all_kwargs()
    conflicts = given.keys() & (domain.keys() | options.keys())
    if conflicts:
        raise ValueError(
            f"the domain of {kernel.base_fn.__name__} names {', '.join(sorted(conflicts))}, which its "
            "configurations give; leave them out"
        )
    names = kernel.arg_names
    arguments = {name: Constant(value) for name, value in given.items() if name in names}
    rest = {name: value for name, value in given.items() if name not in names}
    return {**domain, **arguments}, {**options, **rest}


class _Request:
    """A kernel, the possibilities of its parameters and options, and the arguments that are computed."""

    def __init__(
        self,
        function: Any,
        domain: dict[str, Any],
        options: dict[str, Any],
        heuristics: list[Heuristic],
        is_config: bool,
    ):
        self.function = function
        self.options = options
        self.heuristics = heuristics
        self.is_config = is_config
        self.computed = {name for name, _ in heuristics}
        self.domain, self.option_domain = self._split(domain)

    def _split(self, domain: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """What is given for parameters, defaults filled in, and the rest, which are options."""
        given, missing = {}, []
        for param in self.function.params:
            if param.name in domain:
                given[param.name] = domain[param.name]
            elif param.name in self.computed:
                continue
            elif param.is_variadic:
                given[param.name] = ()
            elif param.has_default:
                given[param.name] = Constant(param.default)
            else:
                missing.append(f"`{param.name}`")
        if missing:
            raise TypeError(f"the domain of {self.function.__name__} lacks {', '.join(missing)}")
        rest = {name: value for name, value in domain.items() if name not in given}
        return given, rest

    def variants(self, target: Any) -> Iterator[Listed]:
        caches = self._caches(target)
        binder = caches[3]
        self._reject_unknown(binder)
        for options in self._all_options():
            parsed = self._parse(caches[2], binder.options(options))
            if parsed is not None:
                yield from self._of_options(caches, binder.options(options), parsed)

    def _reject_unknown(self, binder: Binder) -> None:
        for name in {**self.option_domain, **self.options}:
            if name not in binder.option_names:
                near = libtriton.suggest_name(name, [*binder.names, *binder.option_names])
                raise KeyError(
                    f"{self.function.__name__} has neither a parameter nor an option `{name}`{near}"
                )

    def _all_options(self) -> Iterator[dict[str, Any]]:
        names = list(self.option_domain)
        choices = [list(examples(self.option_domain[name], True)) for name in names]
        is_debug = self.function.debug or knobs.runtime.debug
        for chosen in itertools.product(*choices):
            options = {**self.options, **dict(zip(names, chosen, strict=True))}
            yield {**options, "debug": True} if is_debug or options.get("debug") else options

    def _parse(self, backend: Any, options: dict[str, Any]) -> Any:
        try:
            return backend.parse_options(options)
        except OutOfResources:
            if not self.is_config:
                raise
            return None  # tuning leaves such a configuration out, too

    def _caches(self, target: Any) -> tuple[Any, Any, Any, Binder, Any]:
        """kernels, target, backend, binder and device of launches; without a target those of the launches that
        have the domain's arrays, or else of the current device.
        """
        function = self.function
        if target is None:
            arrays = {}
            for name, given in self.domain.items():
                if not function.params[function.arg_names.index(name)].is_constexpr:
                    arrays[name] = next(examples(given, False), None)
            device_key = device_of_arguments(arrays)
            active = driver.active if device_key is None else driver.for_device(device_key[0])
            device = active.get_current_device() if device_key is None else device_key[1]
            kernels, _, found, backend, binder = function._caches_for(active, device)
            return kernels, found, backend, binder, device
        wanted = target_of(target)
        active = driver.active
        if active.get_current_target() == wanted:
            device = active.get_current_device()
            kernels, _, found, backend, binder = function._caches_for(active, device)
            return kernels, found, backend, binder, device
        kernels, _, _, backend, binder = function._binder_for(wanted)
        return kernels, wanted, backend, binder, None

    def _of_options(self, caches: Any, options: dict[str, Any], parsed: Any) -> Iterator[Listed]:
        from ..jit import _launches_own

        kernels, target, backend, binder, device = caches
        abi = "own" if _launches_own(backend) else "plain"
        seen = set()
        for bound, specialization in self._combinations(binder):
            key = self.function._key_of(specialization, options, backend, binder)
            if key in seen:
                continue
            seen.add(key)
            described = describe(bound, specialization, backend)
            variant = Variant(self.function, *described, parsed, target, abi, key)
            yield Listed(
                variant, bound, specialization, options, (kernels, target, backend, device)
            )

    def _combinations(self, binder: Binder) -> Iterator[tuple[dict[str, Any], list[Any]]]:
        """(arguments, specialization): of each class once, but of each value where heuristics read it."""
        read: set[str] = set()
        while True:
            found, more = self._with_values_of(read, binder)
            if not more - read:
                yield from found
                return
            read |= more

    def _with_values_of(
        self, read: set[str], binder: Binder
    ) -> tuple[list[tuple[dict[str, Any], list[Any]]], set[str]]:
        """The combinations with every value of the parameters in `read`; and which the heuristics read."""
        names = list(self.domain)
        choices = [self._choices(name, name in read, binder) for name in names]
        count = math.prod(map(len, choices))
        if count > (MOST_VALUES if read else MOST_VARIANTS):
            raise ValueError(self._too_many(count, read))
        reads: set[str] = set()
        found: dict[str, tuple[dict[str, Any], list[Any]]] = {}
        for chosen in itertools.product(*choices):
            values = {name: choice[0] for name, choice in zip(names, chosen, strict=True)}
            classes = {name: choice[1] for name, choice in zip(names, chosen, strict=True)}
            for name, rule in self.heuristics:
                values[name] = self._computed(name, rule, Reads(values, reads))
                param = self.function.params[self.function.arg_names.index(name)]
                classes[name] = binder._specialize_one(param, values[name])
            bound = {name: values[name] for name in self.function.arg_names}
            specialization = [classes[name] for name in self.function.arg_names]
            found.setdefault(_text(specialization), (bound, specialization))
        return list(found.values()), reads & self.domain.keys()

    def _computed(self, name: str, rule: Any, values: dict[str, Any]) -> Any:
        try:
            return rule(values)
        except Exception as error:
            raise ValueError(
                f"the heuristic `{name}` of {self.function.__name__} cannot be computed for a domain: "
                f"{type(error).__name__}: {error}; list its results: domain[{name!r}] = [...]"
            ) from error

    def _choices(self, name: str, is_read: bool, binder: Binder) -> list[tuple[Any, Any]]:
        """(value, its class) of what a parameter may be given."""
        param = self.function.params[self.function.arg_names.index(name)]
        given = self.domain[name]
        if is_read and count_of(given) > MOST_VALUES:
            raise ValueError(self._too_many(count_of(given), {name}))
        found: dict[str, tuple[Any, Any]] = {}
        for value in values_of(given) if is_read else examples(given, param.is_constexpr):
            kind = binder._specialize_one(param, value)
            found.setdefault(repr(value) if is_read else _text(kind), (value, kind))
        if not found:
            raise ValueError(f"the domain of {self.function.__name__} gives `{name}` no value")
        return list(found.values())

    def _too_many(self, count: int, read: set[str]) -> str:
        name = self.function.__name__
        if read:
            return (
                f"the heuristics of {name} read the values of {', '.join(sorted(read))}: {count} "
                "combinations; narrow the domain, or list the results of the heuristics in it"
            )
        return f"the domain of {name} has {count} variants, more than {MOST_VARIANTS}; narrow it"


def _text(specialization: Any) -> str:
    return str(specialization) + class_keys(specialization)
