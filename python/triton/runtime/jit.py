"""`triton.jit`: the Python side of a kernel. A launch whose key is known is handled by the native
launcher and does not reach this code.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import functools
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, overload

from .. import knobs
from .._C.libtriton import (
    JITBase,
    native_specialize_impl,
    set_launch_runtime,
)
from .._lazy import lazy_names
from ..backends import BaseBackend
from . import _async_compile
from .binder import Binder, device_of_arguments, normalize_grid
from .binder import describe as _describe
from .callable import ConstexprFunction, JITCallable, _hashing, constexpr_function
from .decorated import DecoratedFunction, KernelInterface
from .dependencies import class_keys, class_walk, classes_in, functions_in
from .driver import driver
from .params import KernelParam
from .tensors import MockTensor, TensorWrapper, reinterpret
from .variants import jit_policy
from .variants.variant import Given

if TYPE_CHECKING:
    from .bound import Bound
    from .explain import Explanation

T = TypeVar("T")

__all__ = [
    "ConstexprFunction",
    "JITCallable",
    "JITFunction",
    "KernelInterface",
    "KernelParam",
    "MockTensor",
    "TensorWrapper",
    "constexpr_function",
    "get_device_key",
    "jit",
    "mangle_type",
    "native_specialize_impl",
    "reinterpret",
]


def mangle_type(arg: Any, specialize: bool = False) -> Any:
    """The signature text of one argument: "*fp32", "i32", ..."""
    return native_specialize_impl(BaseBackend, arg, False, specialize, True)[0]


def get_device_key(active: Any = None, device: Any = None) -> str:
    """Identifies a device in the kernel caches."""
    active = active or driver.active
    if device is None:
        device = active.get_current_device()
    return f"{active.target_of(device).device_type}:{device}"


class BoundCall(NamedTuple):
    """What a call chooses by its arguments."""

    kernel: Any  # None where a hook has declined its compilation
    bound: dict[str, Any]  # the arguments by parameter
    specialization: list[Any]
    options: dict[str, Any]
    active: Any  # the driver
    device: Any
    binder: Binder


class _DeviceCaches(dict):  # type: ignore[type-arg]
    """device key -> (kernels, keys, target, backend, binder), created at first use."""

    def __init__(self, function: JITFunction):
        self._function = function

    def __missing__(self, key: Any) -> Any:
        if key == "cpu":
            return self._function._caches_for(driver.for_device("cpu"), 0)
        if ":" not in str(key):  # a device of the active driver, as torch names it
            return self[get_device_key(device=key)]
        return self.setdefault(key, self._function.create_binder())

    def clear(self) -> None:
        super().clear()
        self._function._c_clear()

    def __reduce__(self) -> Any:
        return dict, ()


class JITFunction(DecoratedFunction[T], JITBase):  # type: ignore[misc]
    """A kernel, or a function that kernels call."""

    @functools.cached_property
    def device_caches(self) -> Any:
        # Threads that make their first launches at once share one.
        return self.__dict__.setdefault("device_caches", _DeviceCaches(self))

    def repr(self, specialization: Any) -> str:
        """The kernel's name for one specialisation; its last component is the symbol."""
        return self._fn_name if self._repr is None else self._repr(specialization)

    def explain(
        self,
        *args: Any,
        signature: Any = None,
        constants: Any = None,
        attrs: Any = None,
        target: Any = None,
        **kwargs: Any,
    ) -> Explanation:
        """What the compiler does for each line: vectors, pipelines, warps, layouts, estimated costs,
        and reasons why it does no more. Takes the arguments of a launch, where torch dtypes may
        replace tensors, or the `signature`, `constants` and `attrs` of an ASTSource; nothing is
        launched. Other keywords are launch options.
        """
        from .explain import explain

        return explain(self, args, kwargs, signature, constants, attrs, target)

    warmup = JITBase.warmup  # finds what it has compiled before without Python

    __getitem__ = JITBase.__getitem__  # a `Launcher`

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        raise RuntimeError(
            "Cannot call @triton.jit'd outside of the scope of a kernel; a launch has a grid: "
            f"`{self.__name__}[grid](...)`"
        )

    def __repr__(self) -> str:
        return f"JITFunction({self.module}:{self.__qualname__})"

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "run":  # of this kernel alone
            self._c_slow = True
        super().__setattr__(name, value)

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "device_caches": {}, "pre_run_hooks": []}

    def _unsafe_update_src(self, new_src: str) -> None:
        super()._unsafe_update_src(new_src)
        self.device_caches = _DeviceCaches(self)
        self._c_clear()

    def add_pre_run_hook(self, hook: Callable[..., Any]) -> None:
        super().add_pre_run_hook(hook)
        self._c_slow = True

    def create_binder(
        self, active: Any = None, device: Any = None
    ) -> tuple[dict[str, Any], dict[Any, Any], Any, Any, Binder]:
        active = active or driver.active
        target = active.get_current_target() if device is None else active.target_of(device)
        return self._binder_for(target)

    def _binder_for(self, target: Any) -> tuple[dict[str, Any], dict[Any, Any], Any, Any, Binder]:
        from ..compiler import ASTSource, CompiledKernel, compile, make_backend  # noqa: A004

        self.CompiledKernel, self.compile, self.ASTSource = CompiledKernel, compile, ASTSource
        backend = make_backend(target)
        return {}, {}, target, backend, Binder(self.__name__, self.params, backend)

    def _caches_for(self, active: Any, device: Any = None) -> Any:
        key = get_device_key(active, device)
        if key not in self.device_caches:
            self.device_caches.setdefault(key, self.create_binder(active, device))
        return self.device_caches[key]

    def run(self, *args: Any, grid: Any, warmup: bool = False, **kwargs: Any) -> Any:
        """Launches with these arguments (only compiles when `warmup`); returns the compiled
        kernel.
        """
        stream = self._take_stream(kwargs)
        self._set_debug(kwargs)
        for hook in self.pre_run_hooks:
            hook(*args, **kwargs)
        self._check_globals()
        variant = self._variant(args, kwargs, stream, warmup)
        kernel, bound, device = variant.kernel, variant.bound, variant.device
        if kernel is not None and not warmup:
            if stream is None:
                stream = variant.active.stream_for(tuple(bound.values()), device)
            self._launch(kernel, normalize_grid(grid, bound), device, stream, bound)
        return kernel

    def _variant(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], stream: Any, warmup: bool
    ) -> BoundCall:
        """The kernel for these arguments, compiled if need be."""
        bound = Binder(self.__name__, self.params).bind(args, kwargs)
        device_key = device_of_arguments(bound)
        active = driver.active if device_key is None else driver.for_device(device_key[0])
        device = active.get_current_device() if device_key is None else device_key[1]
        self._reject_removed_options(kwargs, active, stream)
        kernels, _, target, backend, binder = self._caches_for(active, device)
        caches = (kernels, target, backend, binder, device)
        specialization, options = binder.specialize(bound), binder.options(kwargs)
        key = self._key_of(specialization, options, backend, binder)
        kernel = kernels.get(key)
        if kernel is None and knobs.runtime.background and not warmup:
            from .background import serve

            kernel = serve(self, key, bound, specialization, options, caches)
        if kernel is None:
            kernel = self._compile_for(
                key, bound, specialization, options, target, backend, warmup, kernels, device
            )
        elif knobs.runtime.record:
            jit_policy.record_kernel(kernel, "own" if _launches_own(backend) else "plain")
        return BoundCall(kernel, bound, specialization, options, active, device, binder)

    def bind(self, *args: Any, **kwargs: Any) -> Bound:
        """A handle for the variant of these arguments on their device, compiled and loaded:
        `handle(grid, *args)` launches it with the run-time arguments alone.
        """
        from .bound import bind

        return bind(self, args, kwargs)

    def _set_debug(self, kwargs: dict[str, Any]) -> None:
        if kwargs.get("debug") or self.debug or knobs.runtime.debug:
            kwargs["debug"] = True

    def _key_of(
        self, specialization: list[Any], options: dict[str, Any], backend: Any, binder: Binder
    ) -> str:
        """Identifies a kernel among those of one device."""
        key = str(specialization) + class_keys(specialization)
        key += str(dict(sorted(options.items()))) + binder.changed_settings()
        if knobs.runtime.add_stages_inspection_hook is not None:
            from ..compiler.inspected import key_of_hook

            key += key_of_hook()
        return key + (" plain" if backend.has_own_launcher and not _launches_own(backend) else "")

    def _take_stream(self, kwargs: dict[str, Any]) -> Any:
        """The launch option `stream`, which is not a compile option."""
        return kwargs.pop("stream", None) if "stream" not in self.arg_names else None

    def _reject_removed_options(self, kwargs: dict[str, Any], active: Any, stream: Any) -> None:
        for name, instead in (("device_type", "target"), ("device", "device")):
            assert name not in kwargs or name in self.arg_names, (
                f"{name} option is deprecated; current {instead} will be used"
            )
        assert stream is None or getattr(active, "device_type", "") != "cpu", (
            "stream option is deprecated; current stream will be used"
        )

    def _check_globals(self) -> None:
        if self._is_outdated():
            self._renew()
        absent = object()
        for (name, _), (value, scope) in (self.used_global_vals or {}).items():
            now = scope.get(name, absent)
            if now is value:
                continue
            is_equal = type(now) is type(value) and (
                getattr(now, "value", now) == getattr(value, "value", value)
            )
            if not is_equal:
                shown = "deleted" if now is absent else now
                raise RuntimeError(
                    f"Global variable {name} has changed since we compiled this kernel, from "
                    f"{value} to {shown}"
                )

    def _renew(self) -> None:
        """A function, a class or a module's constant was bound anew: the kernels are those of before."""
        with self._hash_lock or _hashing:
            self.hash = None
            self.used_global_vals, self._bindings = {}, {}
        self.device_caches.clear()

    def _compile_for(
        self,
        key: str,
        bound: dict[str, Any],
        specialization: list[Any],
        options: dict[str, Any],
        target: Any,
        backend: Any,
        warmup: bool,
        kernels: dict[str, Any],
        device: Any,
    ) -> Any:
        signature, constants, attrs = _describe(bound, specialization, backend)
        parsed = backend.parse_options(options)
        info = (self, key, signature, target, bound, parsed, specialization, warmup, device)
        if _call_hook(knobs.runtime.jit_cache_hook, *info):
            return None
        source = self.ASTSource(self, signature, constants, attrs)
        source.launch_key = key
        source.given = Given.of(bound, specialization, options)
        _ = self.cache_key  # fills used_global_vals
        self._use_globals_of_arguments(specialization, constants)
        self._watch_globals()

        def make() -> Any:
            return self._compile_source(source, target, parsed, backend)

        def done(kernel: Any) -> Any:
            kernels[key] = kernel
            kernel._device = device  # a hook may load it
            _call_hook(knobs.runtime.jit_post_compile_hook, *info, already_compiled=True)
            return kernel

        mode = _async_compile.active_mode.get()
        if mode is None:
            return done(make())
        kernels[key] = mode.submit(
            f"{self.cache_key} {key}", make, done, functools.partial(kernels.pop, key, None)
        )
        return kernels[key]

    def _use_globals_of_arguments(
        self, specialization: list[Any], constants: dict[Any, Any]
    ) -> None:
        """What methods and functions that are arguments read must not change either."""
        walks = [walk for walk in map(class_walk, classes_in(specialization)) if walk is not None]
        readers: list[Any] = [(walk.used, walk.bindings, walk.watches_closure) for walk in walks]
        with self._hash_lock or _hashing:
            for function in functions_in(constants):
                _ = function.cache_key  # fills the rest
                used = function.used_global_vals or {}
                readers.append((used, function._bindings, function._watches_closure))
            for used, bindings, watches_closure in readers:
                self.used_global_vals = {**(self.used_global_vals or {}), **used}
                self._bindings = {**self._bindings, **bindings}
                self._watches_closure = self._watches_closure or watches_closure

    def _watch_globals(self) -> None:
        """The native launcher compares these by identity and passes all other cases to `run`."""
        used = {**self._bindings, **(self.used_global_vals or {})}
        self._c_watch = (
            tuple(
                (scope, name, value)
                for (name, _), (value, scope) in used.items()
                if isinstance(scope, dict)
            )
            or None
        )
        if self._watches_closure:
            self._c_slow = True

    def _launch(
        self,
        kernel: Any,
        grid: tuple[int, int, int],
        device: Any,
        stream: Any,
        bound: dict[str, Any],
    ) -> None:
        if isinstance(kernel, _async_compile.FutureKernel):
            kernel = kernel.result()
        if 0 in grid:
            return
        kernel._init_handles(device)
        args = tuple(bound.values())
        kernel.run(
            *grid,
            stream,
            kernel.function,
            kernel.packed_metadata,
            kernel.launch_metadata(grid, stream, *args),
            knobs.runtime.launch_enter_hook,
            knobs.runtime.launch_exit_hook,
            *args,
        )

    def preload(self, specialization_data: str) -> Any:
        """Compiles a kernel from the text that a jit hook received in another process."""
        from .jit_hooks import decode_specialization

        kernels, _, target, backend, _ = self._caches_for(driver.active)
        key, signature, constants, attrs, options = decode_specialization(
            self, specialization_data, target
        )
        source = self.ASTSource(self, signature, constants, attrs)
        parsed = backend.parse_options(options)
        kernels[key] = self._compile_source(source, target, parsed, backend)
        return kernels[key]

    def _compile_source(self, source: Any, target: Any, options: Any, backend: Any) -> Any:
        """A kernel for this process's launches."""
        # Hooks initialise the variables of linked libraries in the one module that they are told of.
        is_own = _launches_own(backend) and not getattr(options, "extern_libs", None)
        own = {"_launch_abi": "own"} if is_own else {}
        return self.compile(
            source, target=target, options=options.__dict__, _folder_view=False, **own
        )


set_launch_runtime(JITFunction.run, driver, _async_compile.FutureKernel)


def _call_hook(hook: Callable[..., Any] | None, *info: Any, **more: Any) -> Any:
    if hook is None:
        return None
    from .jit_hooks import call_hook

    return call_hook(hook, *info, **more)


def _launches_own(backend: Any) -> bool:
    """Whether launches may use code that only this package's launcher can launch."""
    return backend.has_own_launcher and knobs.runtime.launch_abi == "own"


@overload
def jit(fn: Callable[..., Any]) -> Any: ...


@overload
def jit(
    fn: None = None,
    *,
    version: Any = None,
    repr: Callable[[Any], str] | None = None,
    launch_metadata: Callable[..., Any] | None = None,
    do_not_specialize: Any = None,
    do_not_specialize_on_alignment: Any = None,
    debug: bool | None = None,
    noinline: bool | None = None,
) -> Callable[[Callable[..., Any]], Any]: ...


def jit(
    fn: Any = None,
    *,
    version: Any = None,
    repr: Callable[[Any], str] | None = None,  # noqa: A002
    launch_metadata: Callable[..., Any] | None = None,
    do_not_specialize: Any = None,
    do_not_specialize_on_alignment: Any = None,
    debug: bool | None = None,
    noinline: bool | None = None,
) -> Any:
    """Decorator: makes a kernel from a Python function. Its body is compiled at the first launch."""

    def decorate(function: Any) -> Any:
        if not callable(function):
            raise TypeError(f"@triton.jit decorates functions, got {type(function).__name__}")
        options = dict(
            version=version,
            do_not_specialize=do_not_specialize,
            debug=debug,
            noinline=noinline,
            repr=repr,
            do_not_specialize_on_alignment=do_not_specialize_on_alignment,
            launch_metadata=launch_metadata,
        )
        if knobs.runtime.interpret:
            from .interpreter import InterpretedFunction

            return InterpretedFunction(function, **options)
        return JITFunction(function, **options)

    return decorate if fn is None else decorate(fn)


__getattr__ = lazy_names(
    __name__,
    {
        "triton.runtime.callable": "BoundConstexprFunction=BoundConstexprMethod",
        "triton.runtime.jit_hooks": "JitFunctionInfo",
        "triton._function_names": "GLUON_MODULE INDENT_PATTERN P R TRITON_MODULE U compute_cache_key convert_to_tuple_if_list create_function_from_signature get_cache_invalidating_env_vars get_def_col_number get_def_line_number get_full_name serialize_specialization_data",
        "triton.compiler.compiler": "get_cache_key",
        "triton._C.libtriton": "ir",
        "triton._utils": "find_paths_if get_iterable_path is_namedtuple type_canonicalisation_dict",
    },
)
