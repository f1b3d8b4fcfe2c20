"""Options and names of the CPU target; its compiler is in the native module."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import functools
from typing import Any

from ... import knobs
from ..._C import libtriton
from ..compiler import BaseBackend, GPUTarget
from ..options import TargetOptions, option_class


@option_class
class CPUOptions(TargetOptions):
    """Launch and compile options. Those for warps, stages, clusters and libraries of GPU code are
    accepted and have no effect. `sanitize` is a list of checks of a launch, such as "bounds,nan"
    (docs/sanitizer.md). `ir_override` is the path of a `*.ttir` to compile instead. `arch` is LLVM's name
    of the processor whose instructions are used, such as "x86-64-v3"; the default is this machine's.
    """

    num_cpu_threads: int = 0
    maxnreg: int | None = None
    launch_pdl: bool = False
    allowed_dot_input_precisions: tuple[str, ...] = ("ieee", "tf32", "tf32x3", "bf16x3", "bf16x6")
    backend_name: str = "cpu"


@functools.lru_cache
def _host_arch() -> str:
    return libtriton.driver_cpu.host_target()[1]


class CPUBackend(BaseBackend):
    binary_ext = "so"

    @staticmethod
    def supports_target(target: GPUTarget) -> bool:
        return target.backend == "cpu"

    def parse_options(self, options: dict[str, Any]) -> CPUOptions:
        known = CPUOptions.known(options)
        known.setdefault("arch", knobs.runtime.cpu_arch or self.target.arch or _host_arch())
        return CPUOptions(**known)

    def code_target(self, options: Any) -> GPUTarget:
        return GPUTarget("cpu", options.arch, self.target.warp_size)

    def pack_metadata(self, metadata: Any) -> tuple[int, int, int]:
        return metadata.num_warps, metadata.num_ctas, metadata.shared

    def hash(self) -> str:
        return f"cpu-{self.target.arch or _host_arch()}"
