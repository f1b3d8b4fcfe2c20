"""`triton.compile` and the kernel that it returns."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import copyreg
import functools
import os
from _thread import RLock
from collections import namedtuple
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from .. import knobs
from .._C import libtriton
from .._lazy import lazy_names
from ..backends import BaseBackend, GPUTarget, backends, compiled
from ..runtime.binder import normalize_grid
from ..runtime.cache import failures_warn, triton_key
from ..runtime.driver import driver
from ..runtime.progress import Progress
from ..runtime.variants.jit_policy import guard, record
from .metadata_group import MetadataGroup, group_of_files
from .sources import ASTSource, IRSource
from .timer import CompileTimer

__all__ = [
    "ASTSource",
    "AsmDict",
    "CompileTimer",
    "CompiledKernel",
    "IRSource",
    "LazyDict",
    "compile",
    "get_cache_key",
    "make_backend",
    "max_shared_mem",
    "triton_key",
]


def make_backend(target: GPUTarget) -> BaseBackend:
    """The compiler class for a target, instantiated."""
    fitting = [backend.compiler for backend in backends.fitting(target)]
    if len(fitting) != 1:
        near = libtriton.suggest_name(target.backend, [*libtriton.target_names(), *backends])
        raise RuntimeError(
            f"{len(fitting)} compatible backends for target ({target.backend}) ({fitting}). "
            f"There should only be one.{near}"
        )
    return fitting[0](target)


def get_cache_key(
    src: Any, backend: BaseBackend, backend_options: Any, env_vars: Any = None
) -> str:
    """Identifies the inputs of a compilation that Python sees."""
    options = sorted(backend_options.__dict__.items())
    return (
        f"{triton_key()}-{src.hash()}-{backend.hash()}-{options}-{sorted((env_vars or {}).items())}"
    )


def compile(  # noqa: A001
    src: Any,
    target: GPUTarget | None = None,
    options: dict[str, Any] | None = None,
    _env_vars: Any = None,
    _folder_view: bool = True,
    _launch_abi: str = "plain",
) -> CompiledKernel:
    """Compiles an ASTSource, or the IR file at the given path.

    Options that the target does not have are ignored.

    `_folder_view` also writes the stages as files where other tools look for them. `_launch_abi`
    "own" allows code that only this package's launcher can launch.
    """
    target = target or driver.active.get_current_target()
    if not isinstance(target, GPUTarget):
        raise TypeError(f"target must be a GPUTarget, got {type(target).__name__}")
    backend = make_backend(target)
    if isinstance(src, (str, os.PathLike)):
        src = IRSource(os.fspath(src))
    parsed = backend.parse_options({**(options or {}), **src.parse_options()})
    clock = CompileTimer()
    stages: dict[str, Callable[[Any, dict[str, Any]], Any]] = {}
    backend.add_stages(stages, parsed, src.language)
    if stages:  # of another package: those of this build are native
        from .staged import compile_by_stages

        code = compile_by_stages(src, target, backend, parsed, stages)
        clock.compiled(code)
        record(src, target, parsed, "plain")
        group = MetadataGroup(code, target, parsed)
        kernel = CompiledKernel(src, group, code.hash)
        if knobs.compilation.dump_ir:
            with failures_warn(knobs.cache.dump_dir):
                compiled.write_view(code, knobs.cache.dump_dir)
        return _announce(kernel, clock)
    always = knobs.compilation.always_compile
    # Stages that users read and write are those that any launcher can launch.
    has_files = knobs.compilation.override or knobs.compilation.dump_ir
    has_hook = knobs.runtime.add_stages_inspection_hook is not None
    managed = _managed_kernel(src)
    settings = {
        **parsed.__dict__,
        "always_compile": always,
        "own_launcher": _launch_abi == "own" and not (has_files or has_hook),
        "tools": backend.native_tools(),
        "reproducer_path": knobs.compilation.reproducer_path,
        "lock_dir": knobs.cache.dir if managed else None,
    }
    if has_files:
        from . import stage_files

        key = stage_files.key_of(src, backend, parsed)
    if knobs.compilation.override and (path := stage_files.find_override(src, key, target.backend)):
        settings["ir_override"] = path

    lookup = managed.find if managed and not always else None
    abi = "own" if settings["own_launcher"] else "plain"

    _follow_packs()

    codes: list[Any] = []

    def compile_with(path: str | None) -> Any:
        code = src.compile(
            backend.code_target(parsed),
            settings if path is None else {**settings, "ir_override": path},
            None if managed else knobs.cache.dir,
            guard(lookup if path is None else None, src, target, parsed, abi),
        )
        codes.append(code)
        return code

    try:
        with Progress(f"compiling {src.name} for {target.backend}"):
            code = compile_with(None)
            if has_hook:
                from .inspected import call_hook

                code = call_hook(src, backend, parsed, code, compile_with)
        clock.compiled(code)
        record(src, target, parsed, abi)
        group = MetadataGroup(code, target, parsed)
        if managed:
            if not code.cache_hit:
                managed.store(code, backend.binary_ext, _metadata_of(group))
            group.user_files = managed.group
    finally:
        for each in codes:
            each.release_lock()
    if _folder_view and not managed:
        group.write()
        libtriton.flush_cache()  # code that compiles by hand may move or remove the folder
    kernel = CompiledKernel(src, group, code.hash)
    if knobs.compilation.dump_ir:
        stage_files.dump(kernel, key, _metadata_of(group))
    return _announce(kernel, clock)


_followed_packs = ""  # what `knobs.cache.packs` was at the last compilation


def _follow_packs() -> None:
    """Serves from the packs that the knob names now."""
    global _followed_packs
    wanted = knobs.cache.packs or ""
    if wanted != _followed_packs:
        from ..runtime.packs import use_configured

        use_configured()
        _followed_packs = wanted


def _announce(kernel: CompiledKernel, clock: CompileTimer) -> CompiledKernel:
    """Tells the user's settings of a kernel that was compiled, or found in a cache."""
    if knobs.compilation.listener is not None:
        knobs.compilation.listener(
            src=kernel.src,
            metadata=kernel.metadata._asdict(),
            metadata_group=kernel.metadata_group,
            times=clock.end(),
            cache_hit=kernel._code.cache_hit,
        )
    return kernel


def _compile_plain(src: Any, target: GPUTarget, options: dict[str, Any], device: int) -> Any:
    """The same kernel for arguments that the code of the launch ABI `own` does not fit."""
    from . import compile as compile_now

    kernel = compile_now(src, target=target, options=options, _folder_view=False)
    kernel._init_handles(device)
    return kernel


def max_shared_mem(device: Any) -> int:
    """Limit of shared memory per CTA, in bytes."""
    return driver.active.utils.get_device_properties(device)["max_shared_mem"]


def _managed_kernel(src: Any) -> Any:
    """The kernel in the cache that the user chose; None for the default cache."""
    if knobs.cache.manager_class is None:
        return None
    from .managed_cache import ManagedKernel

    return ManagedKernel(src)


def _load_code(artifact: bytes) -> Any:
    return libtriton.load_artifact(artifact)


# Pickle passes kernels between processes; the native object is pickled as the bytes of its artifact.
copyreg.pickle(libtriton.CompiledData, lambda code: (_load_code, (code.artifact,)))


# A kernel is loaded once: a second module would replace the first while another thread launches it.
_loading = RLock()
os.register_at_fork(after_in_child=_loading._at_fork_reinit)  # type: ignore[attr-defined]


class LazyDict:
    """A dictionary whose later entries are computed at first access."""

    def __init__(self, data: dict[str, Any]):
        self.data = data
        self.extras: list[tuple[Callable[..., dict[str, Any]], tuple[Any, ...]]] = []

    def get(self) -> dict[str, Any]:
        for func, args in self.extras:
            self.data = {**self.data, **func(*args)}
        self.extras.clear()
        return self.data

    def add(self, func: Callable[..., dict[str, Any]], args: tuple[Any, ...]) -> None:
        self.extras.append((func, args))


class AsmDict(Mapping):  # type: ignore[type-arg]
    """Stage name -> text or bytes; stages that are not stored are computed at access. `sass`, the
    disassembly for an NVIDIA GPU, is not listed: it needs a tool of CUDA.
    """

    def __init__(self, code: Any):
        self._code = code

    def __getitem__(self, stage: str) -> Any:
        if stage == "sass" and "cubin" in compiled.stages(self._code):
            return self._sass
        return compiled.stage(self._code, stage)

    @functools.cached_property
    def _sass(self) -> str | None:
        from ..tools.disasm import get_sass

        return get_sass(self["cubin"])

    def __iter__(self) -> Iterator[str]:
        return iter(compiled.stages(self._code))

    def __len__(self) -> int:
        return len(compiled.stages(self._code))

    def __repr__(self) -> str:
        return f"AsmDict({', '.join(self)})"


@functools.lru_cache(maxsize=64)
def _metadata_class(fields: tuple[str, ...]) -> Any:
    return namedtuple("KernelMetadata", sorted(fields))


def _metadata_of(group: MetadataGroup) -> dict[str, Any]:
    return {
        **group.options.__dict__,
        **group.code.metadata,
        "name": group.code.name,
        "hash": group.code.hash,
        "target": group.target,
        "triton_version": libtriton.version(),
    }


class CompiledKernel:
    """Machine code for one specialisation of a kernel. Its `__dict__` contains everything that
    another process needs.
    """

    def __init__(self, src: Any, metadata_group: Mapping[str, str], hash: str):  # noqa: A002
        group = metadata_group
        if not isinstance(group, MetadataGroup):
            group = group_of_files(group)
        self.src = src
        self.hash = hash
        self.name = group.code.name
        self.asm = AsmDict(group.code)
        fields = _metadata_of(group)
        self.metadata = _metadata_class(tuple(fields))(**fields)
        backend = make_backend(group.target)
        self.packed_metadata = backend.pack_metadata(self.metadata)
        self.metadata_group = group
        self.module: Any = None
        self.function: Any = None
        self._run: Any = None
        self._code = group.code
        self._options = group.options.__dict__
        self._binary_ext = backend.binary_ext
        self._device: int | None = None  # the device that it is loaded on, or will be
        self._loaded_by: int | None = None  # the process that loaded it

    def __del__(self) -> None:
        """Unloads the code; a forked child leaves that to its parent."""
        if self.__dict__.get("module") is None or self._loaded_by != os.getpid():
            return
        self._call_load_hook(knobs.runtime.kernel_unload_hook)
        self.module = self.function = self._run = None

    def _init_handles(self, device: int | None = None) -> None:
        """Loads the code onto a device, by default the current one. It may be called again, also in
        another process after unpickling.
        """
        if self.module is not None:
            return
        with _loading:
            if self.module is None:  # no other thread has loaded it meanwhile
                self._load(device)

    def _load(self, device: int | None) -> None:
        active = driver.for_device(self.metadata.target.device_type)
        if device is not None or self._device is None:
            self._device = active.get_current_device() if device is None else device
        self._call_load_hook(knobs.runtime.kernel_load_start_hook)
        module, self.function = compiled.load(self._code, self._device)
        self._run = active.launcher_cls(self.src, self.metadata)
        if compiled.has_own_abi(self._code):
            self._run.make_plain = functools.partial(
                _compile_plain, self.src, self.metadata.target, self._options, self._device
            )
        self.module = module
        self._loaded_by = os.getpid()
        self._call_load_hook(knobs.runtime.kernel_load_end_hook)

    def _call_load_hook(self, hook: Any) -> None:
        if hook is not None and getattr(hook, "calls", True):
            hook(self.module, self.function, self.name, self.metadata_group, self.hash)

    @property
    def run(self) -> Any:
        """`run(x, y, z, stream, function, packed_metadata, launch_metadata, enter_hook, exit_hook,
        *args)`.
        """
        if self._run is None:
            self._init_handles()
        return self._run

    def _loaded(self) -> tuple[int, int, int]:
        self._init_handles()
        return compiled.resources(self._code, self.function)

    def _resources(self) -> tuple[int, int, int]:
        """Registers and spilled words per thread, maximum threads per CTA: the driver's where the
        code is loaded, else those of ptxas, which need no device.
        """
        known = compiled.assembled(self._code) if self.module is None else None
        return self._loaded() if known is None else known

    @property
    def n_regs(self) -> int:
        return self._resources()[0]

    @property
    def n_spills(self) -> int:
        return self._resources()[1]

    @property
    def n_max_threads(self) -> int:
        return self._resources()[2]

    @property
    def counters(self) -> Any:
        """What the simulated GPU has counted in the last launch, by name."""
        from ..backends.sim.counters import counters_of

        return counters_of(self.function, self.name)

    @property
    def kernel(self) -> Any:
        """The binary."""
        return self.asm[self._binary_ext]

    def launch_metadata(self, grid: Any, stream: Any, *args: Any) -> LazyDict | None:
        """The argument of launch hooks; None while there are none."""
        enter = knobs.runtime.launch_enter_hook
        if enter is None or (isinstance(enter, knobs.HookChain) and not enter.calls):
            return None
        fields = LazyDict({"name": self.name, "function": self.function, "stream": stream})
        describe = getattr(self.src.fn, "launch_metadata", None)
        if describe is not None:
            fields.add(
                describe, (grid, self.metadata, dict(zip(self.src.fn.arg_names, args, strict=True)))
            )
        return fields

    def _with_constants(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """The arguments of every parameter, from those of a launch."""
        kinds = list(self.src.signature.values())
        if "constexpr" not in kinds or len(args) == len(kinds):
            return args  # a descriptor argument is several parameters
        passed = [index for index, kind in enumerate(kinds) if kind != "constexpr"]
        if len(args) == len(passed):
            by_index = dict(zip(passed, args, strict=True))
        elif (passed[-1] if passed else -1) < len(args) < len(kinds):
            by_index = dict(enumerate(args))
        else:
            raise TypeError(
                f"{self.name} takes all its {len(kinds)} arguments, constants included, or its "
                f"{len(passed)} that are not constants; {len(args)} were given"
            )
        return tuple(
            by_index[index] if index in by_index else self.src.constants.get((index,))
            for index in range(len(kinds))
        )

    def __getitem__(self, grid: Any) -> Callable[..., None]:
        """`kernel[grid](*args)` with all arguments of the kernel; trailing constants, or all
        constants, may be omitted.
        """
        self._init_handles()
        extents = normalize_grid(grid, {})

        def runner(*args: Any, stream: Any = None) -> None:
            args = self._with_constants(args)
            if stream is None:
                active = driver.for_device(self.metadata.target.device_type)
                stream = active.stream_for(args, self._device)
            self.run(
                *extents,
                stream,
                self.function,
                self.packed_metadata,
                self.launch_metadata(extents, stream, *args),
                knobs.runtime.launch_enter_hook,
                knobs.runtime.launch_exit_hook,
                *args,
            )

        return runner

    def __repr__(self) -> str:
        return f"CompiledKernel({self.name}, {self.metadata.target.backend}, {self.hash[:12]})"


__getattr__ = lazy_names(
    __name__,
    {
        "triton.backends.compiler": "Language",
        "triton.runtime.errors": "OutOfResources",
        "triton.tools.disasm": "get_sass",
        "triton._C.libtriton": "ir",
        "triton.runtime.cache": "get_cache_manager get_dump_manager get_override_manager",
        "triton._function_names": "get_cache_invalidating_env_vars",
    },
)
