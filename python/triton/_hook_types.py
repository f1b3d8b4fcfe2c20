"""Types of the functions that can be assigned to knobs, and of their arguments."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypedDict

KernelAttr = list[str | int]  # [name, value]


@dataclass(frozen=True)
class CompileTimes:
    """Microseconds of one compilation. A cache hit has no stages."""

    ir_initialization: int  # from the kernel's text to its IR
    lowering_stages: list[tuple[str, int]]  # in order
    store_results: int

    @property
    def total_lowering(self) -> int:
        return sum(duration for _, duration in self.lowering_stages)

    @property
    def total(self) -> int:
        return self.ir_initialization + self.total_lowering + self.store_results


class CompilationListener(Protocol):
    """`knobs.compilation.listener`: called after each compilation."""

    def __call__(
        self,
        *,
        src: Any,
        metadata: dict[str, Any],
        metadata_group: dict[str, str],
        times: CompileTimes,
        cache_hit: bool,
    ) -> None: ...


class AutotuneListener(Protocol):
    """`knobs.autotuning.listener`: called when a configuration was chosen; `duration` is in seconds."""

    def __call__(
        self,
        *,
        fn: Any,
        key: tuple[Any, ...],
        best_config: Any,
        configs_timings: dict[Any, list[float]],
        duration: float | None,
        cache_hit: bool,
    ) -> None: ...


class BuildImpl(Protocol):
    """`knobs.build.impl`: compiles a C file to a shared object and returns its path."""

    def __call__(
        self,
        name: str,
        src: str,
        srcdir: str,
        library_dirs: list[str],
        include_dirs: list[str],
        libraries: list[str],
        /,
    ) -> str: ...


class Benchmarker(Protocol):
    """Returns milliseconds per call: one for each quantile."""

    def __call__(
        self, kernel_call: Callable[[], Any], *, quantiles: list[float], **kwargs: Any
    ) -> Sequence[float]: ...


class Buffer(Protocol):
    """Memory from an allocator."""

    def data_ptr(self) -> int: ...


class LaunchHook(Protocol):
    """Called before or after a launch."""

    def __call__(self, metadata: Any) -> None: ...


class InitHandleHook(Protocol):
    """Called before or after a kernel is loaded; before loading, module and function are None."""

    def __call__(
        self,
        module: object | None,
        function: Callable[..., Any] | None,
        name: str,
        metadata_group: dict[str, str],
        hash: str,  # noqa: A002
    ) -> None: ...


class JITHookCompileInfo(TypedDict):
    """The argument `compile` of a JITHook."""

    key: str
    signature: dict[Any, str]
    device: int
    constants: None
    num_warps: int
    num_ctas: int
    num_stages: int
    enable_fp_fusion: bool
    launch_cooperative_grid: bool
    extern_libs: tuple[tuple[str, str], ...]
    configs: list[dict[tuple[int, ...], list[KernelAttr]]]
    specialization_data: str
    is_warmup: bool


class JITHook(Protocol):
    """Called before and after the compilation of a launch; a true result of the first call prevents
    it.
    """

    def __call__(
        self,
        *,
        key: str,
        repr: str,  # noqa: A002
        fn: Any,
        compile: JITHookCompileInfo,  # noqa: A002
        is_manual_warmup: bool,
        already_compiled: bool,
    ) -> bool | None: ...


class PipelineStagesHook(Protocol):
    """Called with the stages of a compilation."""

    def __call__(self, stages: Any, options: Any, language: Any, capability: Any) -> Any: ...
