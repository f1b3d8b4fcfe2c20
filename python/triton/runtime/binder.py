"""Binds call arguments, and determines their specialisation and their device."""

# SPDX-License-Identifier: MIT
#
# The native launcher does the same for calls whose key it has; this is the complete form, which also raises the errors.
from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from .._C import libtriton
from .._C.libtriton import elements_of, native_specialize_impl
from .._utils import Path

if TYPE_CHECKING:
    from .params import KernelParam

MAX_GRID = 2**32 - 1
_NO_DEVICE = (int, float, bool, str, type(None))


class Binder:
    """Binds the arguments of one kernel's calls. Only binding works without a backend."""

    def __init__(self, kernel_name: str, params: list[KernelParam], backend: Any = None):
        self.kernel_name = kernel_name
        self.params = params
        self.backend = backend
        self.variadic = next((param for param in params if param.is_variadic), None)
        # As in Triton, positions reach parameters after a bare `*`, too; after `*args` only keywords do.
        self.positional = params if self.variadic is None else params[: self.variadic.num]
        self.names = {param.name for param in params}
        self.defaults = backend.parse_options({}).__dict__ if backend else {}
        self.option_names = frozenset(self.defaults)
        # (process, key): what was begun in the background, and generic variants that do not compile.
        self.in_background: set[tuple[int, str]] = set()
        self.failed: set[tuple[int, str]] = set()

    def __call__(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[dict[str, Any], list[Any], dict[str, Any]]:
        bound = self.bind(args, kwargs)
        return bound, self.specialize(bound), self.options(kwargs)

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """Parameter name -> argument, defaults filled in, in the order of the parameters."""
        if len(args) > len(self.positional) and self.variadic is None:
            raise TypeError(
                f"{self.kernel_name}() takes {len(self.positional)} positional arguments but "
                f"{len(args)} were given"
            )
        bound: dict[str, Any] = {}
        missing = []
        for index, param in enumerate(self.params):
            if param is self.variadic:
                bound[param.name] = tuple(map(_plain, args[len(self.positional) :]))
            elif index < min(len(args), len(self.positional)):
                if param.name in kwargs:
                    raise TypeError(
                        f"{self.kernel_name}() got multiple values for argument '{param.name}'"
                    )
                bound[param.name] = _plain(args[index])
            elif param.name in kwargs:
                bound[param.name] = _plain(kwargs[param.name])
            elif param.has_default:
                bound[param.name] = param.default
            else:
                missing.append(f"'{param.name}'")
        if missing:
            raise TypeError(
                f"{self.kernel_name}() missing {len(missing)} required positional "
                f"argument{'s'[: len(missing) != 1]}: "
                + ", ".join(missing)
                + self._misspelt(kwargs, [name.strip("'") for name in missing])
            )
        return bound

    def _misspelt(self, kwargs: dict[str, Any], missing: list[str]) -> str:
        """For each keyword that is nearly the name of a missing argument, which one it is."""
        unknown = [name for name in kwargs if name not in self.names]
        hints = {name: libtriton.suggest_name(name, missing) for name in unknown}
        return "".join(f"; `{name}` is no parameter{hint}" for name, hint in hints.items() if hint)

    def options(self, kwargs: dict[str, Any]) -> dict[str, Any]:
        """The keywords that are not arguments; a parameter that has an option's name sets both."""
        options = {}
        for name, value in kwargs.items():
            if name in self.option_names:
                options[name] = getattr(value, "value", value)
            elif name not in self.names:
                near = libtriton.suggest_name(name, [*self.names, *self.option_names])
                raise KeyError(f"Keyword argument {name} was specified but unrecognised{near}")
        return options

    def changed_settings(self) -> str:
        """Options whose settings differ from their initial values; usually ""."""
        now = self.backend.parse_options({}).__dict__
        if now == self.defaults:
            return ""
        return str({name: value for name, value in now.items() if value != self.defaults[name]})

    def specialize(self, bound: dict[str, Any]) -> list[Any]:
        """(type, key) of every argument."""
        return [self._specialize_one(param, bound[param.name]) for param in self.params]

    def _check_constant(self, param: KernelParam, arg: Any) -> None:
        """NumPy's arrays are no constants: comparing two of them has no truth."""
        if not isinstance(arg, type) and hasattr(arg, "__array_interface__") and arg.shape != ():
            raise TypeError(
                f"argument `{param.name}` of {self.kernel_name} is a constexpr, got {_described(arg)}; a constexpr "
                f"is known when the kernel is compiled: pass a number, or leave out the annotation "
                f"`{param.name}: tl.constexpr` to pass a pointer"
            )

    def _specialize_one(self, param: Any, arg: Any) -> tuple[Any, Any]:
        if param.is_constexpr:
            self._check_constant(param, arg)
            return "constexpr", constant_key(arg)
        fixed = param.annotation_type
        if fixed == "u1" or fixed.startswith(("fp", "bf")):
            return fixed, None
        try:
            kind, key = native_specialize_impl(
                type(self.backend),
                arg,
                param.is_const,
                not param.do_not_specialize,
                not param.do_not_specialize_on_alignment,
            )
        except (TypeError, OverflowError, RuntimeError) as error:
            where = f"(argument `{param.name}` of {self.kernel_name})"
            raise type(error)(f"{error} {where}{_hint(arg)}") from None
        return fixed or kind, key


def describe(
    bound: dict[str, Any], specialization: list[Any], backend: Any
) -> tuple[Any, Any, Any]:
    """signature by name, constants and attributes by path."""
    constants, attrs = {}, {}

    def visit(path: Path, kind: Any, key: Any, value: Any) -> None:
        if isinstance(kind, tuple):
            for index, part in enumerate(zip(kind, key, elements_of(value), strict=True)):
                visit((*path, index), *part)
        elif kind == "constexpr":
            constants[path] = tuple(value) if isinstance(value, list) else value
        elif isinstance(key, str):
            attrs[path] = backend.parse_attr(key)

    for index, (value, (kind, key)) in enumerate(zip(bound.values(), specialization, strict=True)):
        visit((index,), kind, key, value)
    signature = {name: kind for name, (kind, _) in zip(bound, specialization, strict=True)}
    return signature, constants, attrs


def _plain(arg: Any) -> Any:
    """numpy's scalars are converted to Python numbers; arrays can be written, scalars cannot."""
    if type(arg) is tuple:
        return tuple(map(_plain, arg))
    if type(arg).__module__ != "numpy" or hasattr(arg, "__setitem__"):
        return arg
    return arg.item() if hasattr(arg, "item") else arg


def _described(arg: Any) -> str:
    shape = getattr(arg, "shape", None)
    name = f"{type(arg).__module__}.{type(arg).__qualname__}".removeprefix("builtins.")
    return f"a {name}" if shape is None else f"a {name} of shape {tuple(shape)}"


def _hint(arg: Any) -> str:
    """What to pass in the place of an argument that kernels do not take."""
    if isinstance(arg, list):
        return "; pass a tuple, or an array for elements that the kernel indexes"
    if isinstance(arg, complex):
        return "; pass its real and imaginary parts"
    if isinstance(arg, int) or (hasattr(arg, "shape") and not isinstance(arg, type)):
        return ""
    return "; annotate the parameter as `tl.constexpr` where it is a constant"


def constant_key(value: Any) -> Any:
    """The text of a constant in a key: equal only for values that compile alike."""
    from ..language.core import constexpr
    from .callable import JITCallable

    if isinstance(value, constexpr):
        value = value.value
    if isinstance(value, JITCallable):
        return value.cache_key
    if isinstance(value, list):
        return tuple(constant_key(item) for item in value)
    return value


def arrays_in(bound: dict[str, Any]) -> Iterator[tuple[str, tuple[str, int], Any]]:
    """(argument, device, array) of every array in the arguments."""
    for name, arg in bound.items():
        yield from _devices(name, arg)


def _devices(name: str, arg: Any) -> Iterator[tuple[str, tuple[str, int], Any]]:
    if isinstance(arg, _NO_DEVICE):
        return
    parts = elements_of(arg)
    if parts is not None:
        for index, item in enumerate(parts):
            yield from _devices(f"{name}[{index}]", item)
        return
    try:
        device = libtriton.device_of(arg)
    except (TypeError, RuntimeError) as error:
        raise type(error)(f"{error} (argument `{name}`)") from None
    if device is not None:
        yield name, device, arg


# The native drivers that know which host arrays a GPU can read.
GPU_DRIVERS = {"cuda": libtriton.driver_cuda, "hip": libtriton.driver_hip}


def _without_reachable(arrays: list[Any]) -> list[Any]:
    """Removes host arrays that the GPU of the other arguments can read: pinned ones."""
    kinds = {device[0] for _, device, _ in arrays}
    if len(kinds) != 2 or "cpu" not in kinds or not kinds & GPU_DRIVERS.keys():
        return arrays
    (gpu,) = kinds - {"cpu"}
    return [
        (name, device, arg)
        for name, device, arg in arrays
        if device[0] == gpu or not GPU_DRIVERS[gpu].can_access(arg)
    ]


def _without_empty(arrays: list[Any]) -> list[Any]:
    """Removes arrays whose address is null, unless all are such: a kernel gets the same pointer from any device."""
    if len({device for _, device, _ in arrays}) < 2:
        return arrays
    return [entry for entry in arrays if libtriton.address_of(entry[2])] or arrays


def _current_with_access(kind: str, arrays: list[Any]) -> tuple[str, int] | None:
    """The current GPU, if kernels on it can access all of these arrays, which are on another one."""
    driver = GPU_DRIVERS[kind]
    current = driver.current_device()
    return (kind, current) if all(driver.can_access(a, current) for *_, a in arrays) else None


def device_of_arguments(bound: dict[str, Any]) -> tuple[str, int] | None:
    """The device that launches, None without arrays. GPUs: the current one where the arrays are on several, or if it
    can access all of them; else the one that they are on. Access to memory of peers is the program's to enable.
    """
    arrays = _without_reachable(_without_empty(list(arrays_in(bound))))
    if not arrays:
        return None
    devices = {device for _, device, _ in arrays}
    kinds = {kind for kind, _ in devices}
    first: tuple[str, int] = arrays[0][1]
    if len(kinds) > 1 or (len(devices) > 1 and not kinds <= GPU_DRIVERS.keys()):
        raise ValueError(_device_conflict(arrays, kinds))
    if first[0] not in GPU_DRIVERS:
        return first
    current = first[0], GPU_DRIVERS[first[0]].current_device()
    if len(devices) > 1 or current == first:
        return current
    return _current_with_access(first[0], arrays) or first


def _device_conflict(arrays: list[Any], kinds: set[str]) -> str:
    devices = ", ".join(
        f"`{name}` on {kind if kind == 'cpu' else f'{kind}:{index}'}"
        for name, (kind, index), _ in arrays
    )
    hint = ""
    if kinds in ({"cpu", "cuda"}, {"cpu", "hip"}):
        hint = ". Pointer argument cannot be accessed from Triton (cpu tensor?)"
    return f"arguments are on different devices: {devices}; a kernel runs on one device{hint}"


def normalize_grid(grid: Any, bound: dict[str, Any]) -> tuple[int, int, int]:
    """Three extents from a tuple or list of one to three integers, or from a function of the bound
    arguments.
    """
    if callable(grid):
        grid = grid(bound)
    if not isinstance(grid, (tuple, list)):
        raise TypeError(
            f"grid must be a tuple or list of 1 to 3 integers, got {type(grid).__name__} "
            f"{grid!r}; write `kernel[(n,)](...)`"
        )
    if not 1 <= len(grid) <= 3:
        raise ValueError(f"grid must have 1 to 3 dimensions, got {len(grid)}: {grid!r}")
    extents = [1, 1, 1]
    for axis, extent in enumerate(grid):
        try:
            extents[axis] = operator.index(extent)
        except TypeError:
            raise TypeError(
                f"grid dimension {axis} must be an integer, got {type(extent).__name__} {extent!r}"
            ) from None
        if not 0 <= extents[axis] <= MAX_GRID:
            raise ValueError(
                f"grid dimension {axis} is {extents[axis]}; it must be between 0 and {MAX_GRID}"
            )
    return extents[0], extents[1], extents[2]
