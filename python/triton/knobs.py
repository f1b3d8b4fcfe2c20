"""Settings, read from the environment when they are used; an assignment takes precedence until
`reset()`.
"""

# SPDX-License-Identifier: MIT
#
# The compiler reads no environment variable: the caller passes the settings that matter to it as options.
from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, Generic, TypeVar

from ._C import libtriton
from ._nvidia_tool import NvidiaTool, env_nvidia_tool
from ._settings import (
    ClassType,
    Env,
    GetType,
    SetType,
    base_knobs,
    env,
    env_base,
    env_bool,
    env_choice,
    env_class,
    env_int,
    env_opt_bool,
    env_opt_str,
    env_str,
    env_str_callable_default,
    getenv,
    getenv_bool,
    setenv,
    toenv,
)
from ._warnings import FP_FUSION_DEFAULT_WARNING, warn_once

__all__ = [
    "FP_FUSION_DEFAULT_WARNING",
    "ClassType",
    "Env",
    "F",
    "GetType",
    "HookChain",
    "NvidiaTool",
    "SetType",
    "amd",
    "autotuning",
    "base_knobs",
    "build",
    "cache",
    "compilation",
    "env",
    "env_base",
    "env_bool",
    "env_class",
    "env_int",
    "env_nvidia_tool",
    "env_opt_bool",
    "env_opt_str",
    "env_str",
    "env_str_callable_default",
    "getenv",
    "getenv_bool",
    "language",
    "nvidia",
    "propagate_env",
    "proton",
    "redis",
    "refresh_knobs",
    "runtime",
    "setenv",
    "toenv",
    "warn_once",
    "xla",
]

F = TypeVar("F", bound=Callable[..., Any])
knobs_type = TypeVar("knobs_type", bound=base_knobs)

# Whether assigning a knob also sets its environment variable, so that child processes agree.
propagate_env: bool = True

# Types of functions that are assigned to knobs, and of their arguments.
_LAZY = {
    name: "._hook_types"
    for name in (
        "AutotuneListener",
        "BuildImpl",
        "CompilationListener",
        "CompileTimes",
        "InitHandleHook",
        "JITHook",
        "JITHookCompileInfo",
        "KernelAttr",
        "LaunchHook",
        "PipelineStagesHook",
    )
}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    import importlib

    return getattr(importlib.import_module(_LAZY[name], __package__), name)


class HookChain(Generic[F]):
    """Functions that are called one after another. Always true, so that a hook added later is not
    missed.
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


class build_knobs(base_knobs):
    """The user's C compiler, for `triton.runtime.build`."""

    cc = env_opt_str("CC")
    cudacrt_path = env_opt_str("TRITON_CUDACRT_PATH")
    cudart_path = env_opt_str("TRITON_CUDART_PATH")
    impl: Any = None  # a BuildImpl that replaces the compiler

    @property
    def backend_dirs(self) -> set[str]:
        return {path for path in (self.cudacrt_path, self.cudart_path) if path is not None}


class _env_folder(env_str_callable_default):
    """A path without a trailing slash; an empty variable counts as unset."""

    def get(self) -> str:
        text = getenv(self.key)
        return os.path.normpath(text) if text else self.default_factory()


class cache_knobs(base_knobs):
    home_dir = env_str_callable_default("TRITON_HOME", lambda: os.path.expanduser("~/"))
    dump_dir = env_str_callable_default("TRITON_DUMP_DIR", lambda: cache.get_triton_dir("dump"))
    override_dir = env_str_callable_default(
        "TRITON_OVERRIDE_DIR", lambda: cache.get_triton_dir("override")
    )
    dir = _env_folder("TRITON_CACHE_DIR", lambda: cache.get_triton_dir("cache"))
    manager_class = env_class[Any]("TRITON_CACHE_MANAGER", "CacheManager")
    remote_manager_class = env_class[Any]("TRITON_REMOTE_CACHE_BACKEND", "RemoteCacheBackend")
    # Files of kernels, with `:` between them, that are looked at before the folder; the public key that signs them.
    packs = env_opt_str("TRITON_PACKS")
    pack_key = env_opt_str("TRITON_PACK_KEY")
    # A secret that signs the files of a remote cache; unsigned ones are then ignored.
    remote_key = env_opt_str("TRITON_REMOTE_CACHE_KEY")

    def get_triton_dir(self, dirname: str) -> str:
        return os.path.join(self.home_dir, ".triton", dirname)

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Compiled kernels are on disk at the end of the scope: the folder may then be removed."""
        with super().scope():
            try:
                yield
            finally:
                libtriton.flush_cache()


class redis_knobs(base_knobs):
    key_format = env_str("TRITON_REDIS_KEY_FORMAT", "triton:{key}:{filename}")
    host = env_str("TRITON_REDIS_HOST", "localhost")
    port = env_int("TRITON_REDIS_PORT", 6379)


class compilation_knobs(base_knobs):
    override = env_bool("TRITON_KERNEL_OVERRIDE")
    dump_ir = env_bool("TRITON_KERNEL_DUMP")
    dump_ir_extract_di_local_variables = env_bool("LLVM_EXTRACT_DI_LOCAL_VARIABLES")
    store_binary_only = env_bool("TRITON_STORE_BINARY_ONLY")
    always_compile = env_bool("TRITON_ALWAYS_COMPILE")
    use_ir_loc = env_opt_str("USE_IR_LOC")
    enable_asan = env_bool("TRITON_ENABLE_ASAN")
    disable_line_info = env_bool("TRITON_DISABLE_LINE_INFO")
    front_end_debugging = env_bool("TRITON_FRONT_END_DEBUGGING")
    allow_non_constexpr_globals = env_bool("TRITON_ALLOW_NON_CONSTEXPR_GLOBALS")
    instrumentation_mode: str = env_str("TRITON_INSTRUMENTATION_MODE", "").get()
    reproducer_path = env_opt_str("TRITON_REPRODUCER_PATH")
    fpsan_homomorphic_casts = env_bool("TRITON_FPSAN_HOMOMORPHIC_CASTS")
    listener: Any = None


class autotuning_knobs(base_knobs):
    cache = env_bool("TRITON_CACHE_AUTOTUNING")
    print = env_bool("TRITON_PRINT_AUTOTUNING")
    # model: three configurations are timed at most, which a model of times proposes.
    search = env_choice("TRITON_AUTOTUNE_SEARCH", "exhaustive", "model")
    # pow2: integers of keys without a class of their own count as the power of two above.
    key_class = env_choice("TRITON_AUTOTUNE_KEY_CLASS", "exact", "pow2")
    # A lock file, or redis:NAME: decisions of autotuners, read by every process and written by one of them.
    lock = env_opt_str("TRITON_LOCK")
    # Seconds that a process waits for another one that decides.
    lock_wait = env_int("TRITON_LOCK_WAIT", 300)
    listener: Any = None


class runtime_knobs(base_knobs):
    interpret = env_bool("TRITON_INTERPRET")
    debug: bool = env_bool("TRITON_DEBUG").get()
    sanitize = env_str("TRITON_SANITIZE", "")
    # own: launches of `kernel[grid]` may use code that only this package's launcher can launch.
    launch_abi = env_choice("TRITON_LAUNCH_ABI", "own", "plain")
    override_arch = env_opt_str("TRITON_OVERRIDE_ARCH")
    cpu_arch = env_opt_str("TRITON_CPU_ARCH")
    default_backend = env_opt_str("TRITON_DEFAULT_BACKEND")
    # cpu, cuda, or a simulated GPU: sim, sim:80, sim:gfx942
    device = env_opt_str("TRITON_DEVICE")
    # auto: what takes long is said on stderr if that is a terminal.
    progress = env_choice("TRITON_PROGRESS", "auto", "on", "off")
    # What happens where no cache has a kernel, or an autotuned kernel has no decision.
    jit = env_choice("TRITON_JIT", "allow", "warn", "forbid")
    # Whether a generic variant serves a launch while its own is compiled.
    background = env_bool("TRITON_BACKGROUND")
    # A file to which the variants that a run needs are appended.
    record = env_opt_str("TRITON_RECORD")
    sim_seed = env_int("TRITON_SIM_SEED", 0)
    # Instructions of the warps of a CTA after which the simulator stops; 0: its own limit.
    sim_limit = env_int("TRITON_SIM_LIMIT", 0)
    # Whether launches on the simulated GPU are counted, for `kernel.counters`.
    sim_counters = env_bool("TRITON_SIM_COUNTERS")
    # Number of simulated GPUs.
    sim_devices = env_int("TRITON_SIM_DEVICES", 1)
    # Seconds that all programs of a launch on the CPU may wait for each other; 0: for ever.
    cpu_wait_limit = env_int("TRITON_CPU_WAIT_LIMIT", 10)

    launch_enter_hook: Any = HookChain()
    launch_exit_hook: Any = HookChain(reversed=True)
    kernel_load_start_hook: Any = HookChain()
    kernel_load_end_hook: Any = HookChain(reversed=True)
    kernel_unload_hook: Any = HookChain(reversed=True)
    jit_cache_hook: Any = None
    jit_post_compile_hook: Any = None
    add_stages_inspection_hook: Any = None


class language_knobs(base_knobs):
    fp32_default = env_opt_str("TRITON_F32_DEFAULT")
    default_fp_fusion = env_bool("TRITON_DEFAULT_FP_FUSION", True)
    force_disable_fp_fusion = env_bool("TRITON_FORCE_DISABLE_FP_FUSION")

    def fp_fusion_enabled(self, requested: bool | None) -> bool:
        chosen = self.default_fp_fusion if requested is None else requested
        return chosen and not self.force_disable_fp_fusion


class nvidia_knobs(base_knobs):
    cuobjdump = env_nvidia_tool("cuobjdump")
    nvdisasm = env_nvidia_tool("nvdisasm")
    ptxas = env_nvidia_tool("ptxas")
    ptxas_blackwell = env_nvidia_tool("ptxas-blackwell")
    dump_nvptx = env_bool("NVPTX_ENABLE_DUMP")
    disable_ptxas_opt = env_bool("DISABLE_PTXAS_OPT")
    ptxas_options = env_opt_str("PTXAS_OPTIONS")
    # Time limit in seconds for one run of ptxas or nvJitLink; 0: none.
    ptxas_timeout = env_int("TRITON_PTXAS_TIMEOUT", 600)
    mock_ptx_version = env_opt_str("TRITON_MOCK_PTX_VERSION")
    dump_ptxas_log = env_bool("TRITON_DUMP_PTXAS_LOG")
    libdevice_path = env_opt_str("TRITON_LIBDEVICE_PATH")
    libcuda_path = env_opt_str("TRITON_LIBCUDA_PATH")
    check_pointers = env_bool("TRITON_CHECK_POINTERS")
    cuda_home = env_opt_str("CUDA_HOME")
    cuda_path = env_opt_str("CUDA_PATH")
    visible_devices = env_opt_str("CUDA_VISIBLE_DEVICES")

    def chosen_path(self, tool: str) -> str | None:
        """The path that the user set for one of the tools; None where there is none."""
        chosen = self.knob_descriptors[tool].chosen(self)
        return chosen.path if isinstance(chosen, NvidiaTool) else chosen


class amd_knobs(base_knobs):
    codegen_path = env_opt_str("TRITON_AMD_CODEGEN_PATH")
    use_buffer_ops = env_bool("AMDGCN_USE_BUFFER_OPS", True)
    use_buffer_atomics = env_bool("AMDGCN_USE_BUFFER_ATOMICS", True)
    buffer_ops_analyze_small_tensor_range = env_bool("AMDGCN_ANALYZE_SMALL_TENSOR_RANGE")
    dump_amdgcn = env_bool("AMDGCN_ENABLE_DUMP")
    libhip_path = env_opt_str("TRITON_LIBHIP_PATH")
    use_block_pingpong = env_opt_bool("TRITON_HIP_USE_BLOCK_PINGPONG")
    use_in_thread_transpose = env_opt_bool("TRITON_HIP_USE_IN_THREAD_TRANSPOSE")
    use_async_copy = env_opt_bool("TRITON_HIP_USE_ASYNC_COPY")
    use_coexec_scheduler = env_opt_bool("TRITON_HIP_USE_COEXEC_SCHEDULER")
    use_expert_scheduling = env_opt_bool("TRITON_HIP_USE_EXPERT_SCHEDULING")
    scalarize_packed_fops = env_bool("AMDGCN_SCALARIZE_PACKED_FOPS")
    dump_mir = env_opt_str("TRITON_DUMP_MIR")
    swap_mir = env_opt_str("TRITON_SWAP_MIR")
    swap_mir_enable_misched = env_bool("TRITON_SWAP_MIR_ENABLE_MISCHED")


class proton_knobs(base_knobs):
    disable = env_bool("TRITON_PROTON_DISABLE")
    enable_nvtx = env_bool("TRITON_ENABLE_NVTX", True)
    enable_hw_trace = env_bool("TRITON_ENABLE_HW_TRACE")
    profile_buffer_size = env_int("TRITON_PROFILE_BUFFER_SIZE", 64 << 20)
    profile_metric_buffer_size = env_int("TRITON_PROFILE_METRIC_BUFFER_SIZE", 64 << 20)


class xla_knobs(base_knobs):
    # Whether other packages are patched when they are imported (docs/xla.md).
    compat = env_bool("TRITON_XLA_COMPAT", True)


def _settings_changed() -> None:
    """Kernels compiled under other settings are not reused from memory; hooks need the slow launch
    path.
    """
    libtriton.bump_epoch()
    apply_to_launches()


def apply_to_launches() -> None:
    """Passes settings to the native launcher that it does not read itself."""
    libtriton.driver_cuda.set_check_pointers(nvidia.check_pointers)
    libtriton.driver_cpu.set_wait_limit(runtime.cpu_wait_limit)
    libtriton.driver_sim.set_settings(
        runtime.sim_seed, runtime.sim_limit, runtime.sim_counters, runtime.sim_devices
    )
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
        or runtime.add_stages_inspection_hook is not None
        or nvidia.check_pointers
        or libtriton.driver_sim.is_collecting()
    )


def refresh_knobs() -> None:
    """Reads the settings that are cached at import again."""
    runtime.debug = env_bool("TRITON_DEBUG").get()
    compilation.instrumentation_mode = env_str("TRITON_INSTRUMENTATION_MODE", "").get()


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
