"""`kernel.bind(...)`: handles for one variant of a kernel on one device."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

from .._C import libtriton
from . import _async_compile
from .binder import GPU_DRIVERS, arrays_in, normalize_grid
from .dependencies import class_keys
from .tensors import MockTensor

if TYPE_CHECKING:
    from .autotuner import Autotuner
    from .jit import BoundCall, JITFunction


def bind(function: JITFunction, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Bound:
    """The handle for the variant that a launch with these arguments takes."""
    for name in ("grid", "stream"):
        if name in kwargs and name not in function.arg_names:
            raise TypeError(
                f"{function.__name__}.bind() takes no `{name}`; it is an argument of the handle: "
                f"`handle(grid, ..., stream=...)`"
            )
    function._set_debug(kwargs)
    function._check_globals()
    wrapped = tuple(map(MockTensor.wrap_dtype, args))
    variant = function._variant(wrapped, kwargs, None, warmup=True)
    kernel = variant.kernel
    if isinstance(kernel, _async_compile.FutureKernel):
        kernel = kernel.result()
    if kernel is None:
        raise RuntimeError(f"`jit_cache_hook` has declined to compile {function.__name__}")
    kernel._init_handles(variant.device)
    return Bound(function, kernel, variant)


def bind_tuned(tuner: Autotuner, args: tuple[Any, ...], kwargs: dict[str, Any], grid: Any) -> Any:
    """The handle for the configuration that the autotuner chooses for these arguments."""
    outer, tuner.nargs = tuner.nargs, dict(zip(tuner.arg_names, args, strict=False))
    try:
        if grid is None and len(tuner.configs) > 1 and tuner._key_of(kwargs) not in tuner.cache:
            raise ValueError(
                f"no configuration of {tuner.base_fn.__name__} is chosen yet for these arguments; launch it "
                f"once, or pass the `grid` to time the configurations with"
            )
        config = tuner._config_for(args, {**kwargs, "grid": grid})
        settings = config.all_kwargs()
        if config.pre_hook is None:
            return tuner.fn.bind(*args, **kwargs, **settings)
        config.pre_hook({**tuner.nargs, **kwargs, **settings})
        return HookedHandle(tuner.fn.bind(*args, **kwargs, **settings), config.pre_hook, settings)
    finally:
        tuner.nargs = outer


class HookedHandle:
    """A handle whose configuration has a hook, which is called with all arguments before a launch."""

    def __init__(
        self, handle: Any, hook: Callable[[dict[str, Any]], Any], settings: dict[str, Any]
    ):
        self.handle, self.hook, self._settings = handle, hook, settings

    def __call__(self, grid: Any, *args: Any, **kwargs: Any) -> Any:
        given = {name: value for name, value in kwargs.items() if name != "stream"}
        self.hook({**self.handle._values(args, given), **self._settings})
        return self.handle(grid, *args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if name == "handle":
            raise AttributeError(name)
        return getattr(self.handle, name)

    def __repr__(self) -> str:
        return f"<with a hook: {self.handle!r}>"


class InterpretedHandle:
    """What `bind` makes of a kernel that is interpreted: its constants, for launches of any arguments."""

    def __init__(self, function: Any, bound: dict[str, Any]):
        self.fn = function
        constant = {param.name for param in function.params if param.is_constexpr}
        self.constants = {name: value for name, value in bound.items() if name in constant}
        self._names = [name for name in bound if name not in constant]

    def __call__(self, grid: Any, *args: Any, stream: Any = None, **kwargs: Any) -> Any:
        given = dict(zip(self._names, args, strict=False))
        return self.fn[grid](**given, **self.constants, **kwargs)


class Bound(libtriton.BoundLaunch):
    """One variant of a kernel, loaded on one device. `handle(grid, *args, stream=None)` launches it
    with the kernel's arguments but for the constants, which are those that `bind` was given, as are
    the launch options. It returns the compiled kernel.
    """

    fn: JITFunction
    kernel: Any  # the CompiledKernel
    constants: dict[str, Any]
    options: dict[str, Any]

    def __new__(cls, function: JITFunction, kernel: Any, variant: BoundCall) -> Bound:
        constants = tuple(
            (variant.bound[param.name],) if param.is_constexpr else None
            for param in function.params
        )
        return super().__new__(cls, function, kernel, constants)

    def __init__(self, function: JITFunction, kernel: Any, variant: BoundCall):
        self.fn, self.kernel, self._variant = function, kernel, variant._replace(kernel=kernel)
        values = variant.bound
        self.constants = {p.name: values[p.name] for p in function.params if p.is_constexpr}
        self.options = variant.options
        runtime = [p for p in function.params if not p.is_constexpr]
        self._runtime = [p for p in runtime if not p.is_variadic]
        self._variadic = next((p for p in runtime if p.is_variadic), None)
        self._key = class_keys(variant.specialization)
        if self._variadic is None:
            self._accept(*(values[param.name] for param in self._runtime))

    @property
    def device(self) -> str:
        """The device that it launches on."""
        kind = getattr(self._variant.active, "device_type", self.kernel.metadata.target.backend)
        return kind if kind == "cpu" else f"{kind}:{self._variant.device}"

    def __repr__(self) -> str:
        signature = [
            f"{param.name}: {_words(*known)}"
            if not param.is_constexpr
            else f"{param.name}={self.constants[param.name]!r}"
            for param, known in zip(self.fn.params, self._variant.specialization, strict=True)
        ]
        signature += [f"{name}={value!r}" for name, value in self.options.items()]
        return f"<handle of {self.fn.__name__}({', '.join(signature)}) on {self.device}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError(
            f"a handle of {self.fn.__name__} cannot be pickled: its kernel is loaded on a device of "
            f"this process; bind it anew in the other one"
        )

    # The native part calls this for arguments that it has not seen yet, and where there are hooks.
    def _launch_checked(self, *args: Any, **kwargs: Any) -> Any:
        function, (_, _, _, options, active, device, _) = self.fn, self._variant
        if not args:
            raise TypeError(
                f"a handle of {function.__name__} takes a grid, as in `handle((1,), ...)`"
            )
        grid = args[0]
        stream = function._take_stream(kwargs)
        values = self._values(args[1:], kwargs)
        for hook in function.pre_run_hooks:
            hook(*values.values(), **options)
        function._reject_removed_options({}, active, stream)
        self._check(values)
        self._check_devices(values)
        if stream is None:
            stream = active.stream_for(tuple(values.values()), device)
        function._launch(self.kernel, normalize_grid(grid, values), device, stream, values)
        return self.kernel

    def _values(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        """All arguments by parameter, constants included."""
        if len(args) > len(self._runtime) and self._variadic is None:
            self._reject_count(len(args))
        given = dict(zip((param.name for param in self._runtime), args, strict=False))
        for name, value in kwargs.items():
            self._check_keyword(name, value, given)
            given[name] = value
        rest = args[len(self._runtime) :]
        values: dict[str, Any] = {}
        for param in self.fn.params:
            if param is self._variadic:
                values[param.name] = rest
            elif param.is_constexpr:
                values[param.name] = self.constants[param.name]
            elif param.name in given or param.has_default:
                values[param.name] = given.get(param.name, param.default)
            else:
                self._reject_count(len(given))
        return values

    def _reject_count(self, count: int) -> NoReturn:
        names = ", ".join(f"`{param.name}`" for param in self._runtime)
        raise TypeError(
            f"a handle of {self.fn.__name__} takes a grid and {len(self._runtime)} run-time "
            f"arguments, {names}; {count} were given. Constants are those that `bind` was given"
        )

    def _check_keyword(self, name: str, value: Any, given: dict[str, Any]) -> None:
        if name in given:
            raise TypeError(f"a handle of {self.fn.__name__} got multiple values for `{name}`")
        fixed = {**self.options, **self.constants}
        if name in self.constants or name in fixed:
            if type(value) is type(fixed[name]) and value == fixed[name]:
                return
            raise ValueError(
                f"`{name}` is {value!r}, and this handle of {self.fn.__name__} was bound with "
                f"{fixed[name]!r}; {self._instead()}"
            )
        if name not in {param.name for param in self._runtime}:
            near = libtriton.suggest_name(name, [param.name for param in self._runtime])
            raise TypeError(
                f"`{name}` is no run-time argument of {self.fn.__name__}{near}; launch options are "
                f"arguments of `{self.fn.__name__}.bind(...)`"
            )

    def _check(self, values: dict[str, Any]) -> None:
        """Raises an error for the first argument that the variant is not for."""
        binder, wanted = self._variant.binder, self._variant.specialization
        found = binder.specialize(values)
        if str(found) == str(wanted) and class_keys(found) == self._key:
            return
        for param, now, known in zip(self.fn.params, found, wanted, strict=True):
            if str(now) == str(known) and class_keys([now]) == class_keys([known]):
                continue
            shown = _shown(values[param.name])
            error = ValueError if now[0] == known[0] else TypeError
            raise error(
                f"argument `{param.name}` is {shown}{_words(*now)}; this handle of "
                f"{self.fn.__name__} is for {_words(*known)}; {self._instead()}"
            )

    def _check_devices(self, values: dict[str, Any]) -> None:
        """Raises an error for an array of another GPU that this one has no access to."""
        kind = getattr(self._variant.active, "device_type", "")
        for name, (own, index), array in arrays_in(values):
            if own != kind or kind not in GPU_DRIVERS or index == self._variant.device:
                continue
            if not GPU_DRIVERS[kind].can_access(array, self._variant.device):
                raise ValueError(
                    f"argument `{name}` is on {own}:{index}, and this handle of {self.fn.__name__} is for "
                    f"{self.device}, which has no access to it; enable peer access, or bind another one there"
                )

    def _instead(self) -> str:
        name = self.fn.__name__
        return f"bind another one, or launch `{name}[grid](...)`, which chooses the variant"


def _shown(value: Any) -> str:
    return f"{value!r}, " if isinstance(value, (int, float, str)) else ""


def _words(kind: Any, key: Any) -> str:
    """The class of an argument in words."""
    if kind == "constexpr":
        return "None" if key is None else f"the constant {key!r}"
    if isinstance(kind, tuple):
        parts = key if isinstance(key, tuple) else (None,) * len(kind)
        return f"a tuple of ({', '.join(map(_words, kind, parts))})"
    if not isinstance(key, str):
        return str(kind)
    if kind.startswith("*"):
        size = ", of at most 2 GiB" if "S" in key else ""
        return f"`{kind}` {'aligned' if 'D' in key else 'not aligned'} to 16 bytes{size}"
    if kind.startswith(("i", "u")):
        return f"`{kind}` {'divisible' if 'D' in key else 'not divisible'} by 16"
    return f"`{kind}`"


libtriton.call_natively(Bound)
