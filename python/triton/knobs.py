"""Settings, read from the environment when they are used; an assignment takes precedence until
`reset()`.
"""

# SPDX-License-Identifier: MIT
#
# The compiler reads no environment variable: what matters to it is passed on as an option by the
# caller.
from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ._C import libtriton


class Env:
    """Assign it to a knob to go back to the environment: `knobs.cache.dir = knobs.env`."""


env = Env()

# Whether assigning a knob also sets its environment variable, so that child processes agree.
propagate_env: bool = True

_TRUE = ("1", "true", "on", "yes", "y")


def getenv(key: str, default: str | None = None) -> str | None:
    value = os.environ.get(key)
    return default if value is None else value.strip()


def setenv(key: str, value: str | None) -> None:
    if not propagate_env:
        return
    if value is None:
        os.environ.pop(key, None)
    else:
        os.environ[key] = value


class Knob:
    """One setting of a group: an environment variable, a default, and how its text is read."""

    def __init__(
        self,
        key: str | None,
        default: Any = None,
        parse: Callable[[str], Any] = str,
        once: bool = False,
    ):
        self.key, self.default, self.parse, self.once = key, default, parse, once

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def from_environment(self, group: Any) -> Any:
        text = getenv(self.key) if self.key else None
        if text is None or (text == "" and self.parse is not str):
            return self.default(group) if callable(self.default) else self.default
        return self.parse(text)

    def __get__(self, group: Any, owner: type) -> Any:
        if group is None:
            return self
        if self.name not in group.__dict__:
            value = self.from_environment(group)
            if not self.once:
                return value
            group.__dict__[self.name] = value
        return group.__dict__[self.name]

    def __set__(self, group: Any, value: Any) -> None:
        if isinstance(value, Env):
            group.__dict__.pop(self.name, None)
        else:
            group.__dict__[self.name] = value
            if self.key:
                setenv(self.key, self.to_text(value))
        _settings_changed()

    def __delete__(self, group: Any) -> None:
        group.__dict__.pop(self.name, None)
        _settings_changed()

    def to_text(self, value: Any) -> str | None:
        if value is None:
            return None
        return ("1" if value else "0") if isinstance(value, bool) else str(value)


def _flag(key: str, default: bool = False, once: bool = False) -> Knob:
    return Knob(key, default, lambda text: text.lower() in _TRUE, once)


def _flag_or_none(key: str) -> Knob:
    return Knob(key, None, lambda text: text.lower() in _TRUE)


def _under_home(leaf: str) -> Callable[[Any], str]:
    return lambda group: os.path.join(group.home_dir, ".triton", leaf)


def _class_at(path: str) -> type:
    """The class that "module:Class" names."""
    import importlib

    module, separator, name = path.partition(":")
    if not separator:
        raise RuntimeError(f"Unable to read {path}: expected module:Class")
    return getattr(importlib.import_module(module), name)


class Group:
    """Settings of one area."""

    @property
    def knobs(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self._names()}

    @classmethod
    def _names(cls) -> list[str]:
        return [name for name, value in vars(cls).items() if isinstance(value, Knob)]

    def copy(self) -> Any:
        twin = type(self)()
        twin.__dict__.update(self.__dict__)
        return twin

    def reset(self) -> Any:
        """Forgets every assignment."""
        for name in self._names():
            self.__dict__.pop(name, None)
        _settings_changed()
        return self

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Restores values and environment on leaving."""
        keys = [
            knob.key for knob in vars(type(self)).values() if isinstance(knob, Knob) and knob.key
        ]
        values, environment = dict(self.__dict__), {key: os.environ.get(key) for key in keys}
        try:
            yield
        finally:
            self.__dict__.clear()
            self.__dict__.update(values)
            for key, text in environment.items():
                os.environ.pop(key, None)
                if text is not None:
                    os.environ[key] = text
            _settings_changed()


class HookChain:
    """Functions that are called one after another. Always true, so that a hook added later is
    still seen.
    """

    def __init__(self, reversed: bool = False):  # noqa: A002
        self.calls: list[Callable[..., Any]] = []
        self.reversed = reversed

    def add(self, func: Callable[..., Any]) -> None:
        if func not in self.calls:
            self.calls.append(func)
            _settings_changed()

    def remove(self, func: Callable[..., Any]) -> None:
        if func in self.calls:
            self.calls.remove(func)
            _settings_changed()

    def __call__(self, *args: Any, **kwargs: Any) -> None:
        for call in self.calls[::-1] if self.reversed else self.calls[:]:
            call(*args, **kwargs)


class build_knobs(Group):
    cc = Knob("CC")
    cudacrt_path = Knob("TRITON_CUDACRT_PATH")
    cudart_path = Knob("TRITON_CUDART_PATH")
    impl = Knob(None)


class cache_knobs(Group):
    home_dir = Knob("TRITON_HOME", lambda group: os.path.expanduser("~/"))
    dump_dir = Knob("TRITON_DUMP_DIR", _under_home("dump"))
    override_dir = Knob("TRITON_OVERRIDE_DIR", _under_home("override"))
    dir = Knob("TRITON_CACHE_DIR", _under_home("cache"), os.path.normpath)
    manager_class = Knob("TRITON_CACHE_MANAGER", None, _class_at)
    remote_manager_class = Knob("TRITON_REMOTE_CACHE_BACKEND", None, _class_at)


class redis_knobs(Group):
    key_format = Knob("TRITON_REDIS_KEY_FORMAT", "triton:{key}:{filename}")
    host = Knob("TRITON_REDIS_HOST", "localhost")
    port = Knob("TRITON_REDIS_PORT", 6379, int)


class compilation_knobs(Group):
    override = _flag("TRITON_KERNEL_OVERRIDE")
    dump_ir = _flag("TRITON_KERNEL_DUMP")
    dump_ir_extract_di_local_variables = _flag("LLVM_EXTRACT_DI_LOCAL_VARIABLES")
    store_binary_only = _flag("TRITON_STORE_BINARY_ONLY")
    always_compile = _flag("TRITON_ALWAYS_COMPILE")
    use_ir_loc = Knob("USE_IR_LOC")
    enable_asan = _flag("TRITON_ENABLE_ASAN")
    disable_line_info = _flag("TRITON_DISABLE_LINE_INFO")
    front_end_debugging = _flag("TRITON_FRONT_END_DEBUGGING")
    allow_non_constexpr_globals = _flag("TRITON_ALLOW_NON_CONSTEXPR_GLOBALS")
    instrumentation_mode = Knob("TRITON_INSTRUMENTATION_MODE", "", once=True)
    listener = Knob(None)


class autotuning_knobs(Group):
    cache = _flag("TRITON_CACHE_AUTOTUNING")
    print = _flag("TRITON_PRINT_AUTOTUNING")
    listener = Knob(None)


class runtime_knobs(Group):
    interpret = _flag("TRITON_INTERPRET")
    debug = _flag("TRITON_DEBUG", once=True)
    sanitize = Knob("TRITON_SANITIZE", "")
    override_arch = Knob("TRITON_OVERRIDE_ARCH")
    default_backend = Knob("TRITON_DEFAULT_BACKEND")
    launch_enter_hook = Knob(None)
    launch_exit_hook = Knob(None)
    kernel_load_start_hook = Knob(None)
    kernel_load_end_hook = Knob(None)
    kernel_unload_hook = Knob(None)
    jit_cache_hook = Knob(None)
    jit_post_compile_hook = Knob(None)
    add_stages_inspection_hook = Knob(None)

    def __init__(self) -> None:
        # Written past the descriptors: these are no assignments of the user's.
        self.__dict__.update(
            launch_enter_hook=HookChain(),
            launch_exit_hook=HookChain(reversed=True),
            kernel_load_start_hook=HookChain(),
            kernel_load_end_hook=HookChain(reversed=True),
            kernel_unload_hook=HookChain(reversed=True),
        )

    def reset(self) -> Any:
        super().reset()
        self.__init__()  # type: ignore[misc]
        return self


class language_knobs(Group):
    fp32_default = Knob("TRITON_F32_DEFAULT")
    default_fp_fusion = _flag("TRITON_DEFAULT_FP_FUSION", True)


class nvidia_knobs(Group):
    cuobjdump = Knob("TRITON_CUOBJDUMP_PATH")
    nvdisasm = Knob("TRITON_NVDISASM_PATH")
    ptxas = Knob("TRITON_PTXAS_PATH")
    ptxas_blackwell = Knob("TRITON_PTXAS_BLACKWELL_PATH")
    dump_nvptx = _flag("NVPTX_ENABLE_DUMP")
    disable_ptxas_opt = _flag("DISABLE_PTXAS_OPT")
    ptxas_options = Knob("PTXAS_OPTIONS")
    mock_ptx_version = Knob("TRITON_MOCK_PTX_VERSION")
    dump_ptxas_log = _flag("TRITON_DUMP_PTXAS_LOG")
    libdevice_path = Knob("TRITON_LIBDEVICE_PATH")
    libcuda_path = Knob("TRITON_LIBCUDA_PATH")
    check_pointers = _flag("TRITON_CHECK_POINTERS")
    cuda_home = Knob("CUDA_HOME")
    cuda_path = Knob("CUDA_PATH")
    visible_devices = Knob("CUDA_VISIBLE_DEVICES")


class amd_knobs(Group):
    use_buffer_ops = _flag("AMDGCN_USE_BUFFER_OPS", True)
    use_buffer_atomics = _flag("AMDGCN_USE_BUFFER_ATOMICS", True)
    buffer_ops_analyze_small_tensor_range = _flag("AMDGCN_ANALYZE_SMALL_TENSOR_RANGE")
    dump_amdgcn = _flag("AMDGCN_ENABLE_DUMP")
    libhip_path = Knob("TRITON_LIBHIP_PATH")
    use_block_pingpong = _flag_or_none("TRITON_HIP_USE_BLOCK_PINGPONG")
    use_in_thread_transpose = _flag_or_none("TRITON_HIP_USE_IN_THREAD_TRANSPOSE")
    use_async_copy = _flag_or_none("TRITON_HIP_USE_ASYNC_COPY")
    scalarize_packed_fops = _flag("AMDGCN_SCALARIZE_PACKED_FOPS")


class proton_knobs(Group):
    disable = _flag("TRITON_PROTON_DISABLE")


class xla_knobs(Group):
    # Whether other packages are completed when they are imported (docs/xla.md).
    compat = _flag("TRITON_XLA_COMPAT", True)


def _settings_changed() -> None:
    """Kernels compiled under other settings are not reused from memory; hooks need the slow way of
    launching.
    """
    libtriton.bump_epoch()
    apply_to_launches()


def apply_to_launches() -> None:
    """Tells the native launcher what it does not read by itself."""
    libtriton.driver_cuda.set_check_pointers(nvidia.check_pointers)
    libtriton.set_slow_launch(_launches_are_observed())


def _launches_are_observed() -> bool:
    hooks = (runtime.launch_enter_hook, runtime.launch_exit_hook)
    observed = any(
        hook.calls if isinstance(hook, HookChain) else hook is not None for hook in hooks
    )
    return (
        observed
        or runtime.jit_cache_hook is not None
        or runtime.jit_post_compile_hook is not None
        or nvidia.check_pointers
    )


def refresh_knobs() -> None:
    """Reads the settings that are kept from their first use once more."""
    for group in (compilation, runtime):
        for name, knob in vars(type(group)).items():
            if isinstance(knob, Knob) and knob.once:
                group.__dict__.pop(name, None)
    _settings_changed()


runtime = runtime_knobs()
build = build_knobs()
cache = cache_knobs()
redis = redis_knobs()
compilation = compilation_knobs()
autotuning = autotuning_knobs()
language = language_knobs()
nvidia = nvidia_knobs()
amd = amd_knobs()
proton = proton_knobs()
xla = xla_knobs()
