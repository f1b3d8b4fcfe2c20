"""Options and names of the NVIDIA target; its compiler is in the native module."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import re
from typing import Any, ClassVar

from ... import knobs
from ..._C import libtriton
from ..._lazy import lazy_names
from ..compiler import BaseBackend, GPUTarget, SimulatedTarget
from ..options import TargetOptions, option_class
from ..stages import CompiledStage, compile_ttir, takes_descriptors
from .assembler import Assembler, find_assembler


@option_class
class CUDAOptions(TargetOptions):
    """Launch and compile options.

    `num_stages` is for loops with a `tl.dot`; others follow `tl.range(..., num_stages=N)` alone.
    `ptx_version` (80 is 8.0) and `ptx_options` (command-line words) are passed to ptxas.
    `extern_libs` maps library names to files of LLVM bitcode: they define functions that
    `extern_elementwise` calls by that library's name without a path, and that libdevice lacks.
    `ir_override` is the path of a file `*.ttir`, `*.ttgir`, `*.llir` or `*.ptx` that replaces that
    stage. `enable_reflect_ftz` is accepted and has no effect: denormals are kept.
    """

    warp_size: int = 32
    maxnreg: int | None = None
    ptx_version: int | None = None
    ptx_options: str | None = None
    enable_reflect_ftz: bool = True
    launch_pdl: bool = False
    supported_fp8_dtypes: tuple[str, ...] = ("fp8e5", "fp8e4b15")
    default_dot_input_precision: str = "tf32"
    allowed_dot_input_precisions: tuple[str, ...] = ("tf32", "tf32x3", "ieee", "bf16x3", "bf16x6")
    backend_name: str = "cuda"
    instrumentation_mode: str = ""

    max_threads: ClassVar[int | None] = 1024


def _capability(arch: str) -> int:
    match = re.fullmatch(r"(?:sm_?)?(\d+)[af]?(?:\+tma)?", arch)
    if match is None:
        raise ValueError(f"{arch!r} is not the name of a GPU architecture; write sm90, for example")
    return int(match.group(1))


def _assembler_options() -> str | None:
    """The settings' options for ptxas."""
    words = ["--opt-level=0"] if knobs.nvidia.disable_ptxas_opt else []
    return " ".join([*words, *(knobs.nvidia.ptxas_options or "").split()]) or None


class CUDABackend(BaseBackend):
    binary_ext = "cubin"
    has_own_launcher = True

    def __init__(self, target: GPUTarget) -> None:
        super().__init__(target)
        self.is_simulated = isinstance(target, SimulatedTarget)
        if self.is_simulated:
            self.binary_ext = "ptx"

    @staticmethod
    def supports_target(target: GPUTarget) -> bool:
        return target.backend == "cuda"

    def parse_options(self, options: dict[str, Any]) -> CUDAOptions:
        known = CUDAOptions.known(options)
        known.setdefault("ptx_options", None if self.is_simulated else _assembler_options())
        arch = str(self.target.arch)
        known.setdefault(
            "arch", knobs.runtime.override_arch or (arch if arch.startswith("sm") else f"sm{arch}")
        )
        capability = _capability(known["arch"])
        features = libtriton.nvidia_arch(capability)
        if features["has_fp8"]:
            known.setdefault("supported_fp8_dtypes", ("fp8e4b15", "fp8e4nv", "fp8e5"))
        if features["has_clusters"]:
            known.setdefault("deprecated_fp8_dot_operand_dtypes", ("fp8e4b15",))
        known.setdefault("max_num_imprecise_acc_default", 2**30 if features["has_wgmma"] else 0)
        if known.get("num_ctas", 1) > 1 and not features["has_clusters"]:
            raise ValueError(
                f"num_ctas={known['num_ctas']} needs a GPU of compute capability 9.0 or later; "
                f"this one is {capability // 10}.{capability % 10}"
            )
        return CUDAOptions(**known)

    def code_target(self, options: Any) -> GPUTarget:
        # "sm_90" also runs on later GPUs; "sm90" and "sm_90a" use all features of 9.0.
        is_portable = re.fullmatch(r"sm_\d+", options.arch)
        arch = options.arch if is_portable else _capability(options.arch)
        if options.arch.endswith("+tma"):  # descriptors use TMA
            arch = f"{arch}+tma"
        if self.is_simulated:
            arch = f"{arch}{libtriton.driver_sim.FEATURE}"
        return GPUTarget("cuda", arch, self.target.warp_size)

    def _assembler(self) -> Assembler:
        return find_assembler(_capability(str(self.target.arch)))

    def native_tools(self) -> dict[str, Any]:
        if self.is_simulated:
            return {}
        assembler = self._assembler()
        return {
            "ptxas": assembler.ptxas,
            "nvjitlink": assembler.nvjitlink,
            "key": assembler.key,
            "seconds_limit": knobs.nvidia.ptxas_timeout,
        }

    def pack_metadata(self, metadata: Any) -> tuple[int, int, int]:
        return metadata.num_warps, metadata.num_ctas, metadata.shared

    def hash(self) -> str:
        return f"cuda-{self.target.arch}-{'sim' if self.is_simulated else self._assembler().key}"

    # The stages of a kernel one by one, for code that drives the compiler itself: `module` is the result of
    # `ASTSource.make_ir` or of the previous stage. The first stage compiles and raises all errors.

    def make_ttir(
        self, module: Any, metadata: dict[str, Any], options: CUDAOptions, capability: Any
    ) -> CompiledStage:
        target = self.code_target(options)
        if takes_descriptors(module):  # the caller creates tensor maps for them
            target = GPUTarget(target.backend, f"{target.arch}+maps", target.warp_size)
        return compile_ttir(module, metadata, options, target)

    def make_ttgir(
        self, module: CompiledStage, metadata: dict[str, Any], options: Any, capability: Any
    ) -> CompiledStage:
        return module.at("ttgir")

    def make_llir(
        self, module: CompiledStage, metadata: dict[str, Any], options: Any, capability: Any = None
    ) -> str:
        return str(module.at("llir"))

    def make_ptx(
        self, module: Any, metadata: dict[str, Any], options: Any, capability: Any = None
    ) -> str:
        """`module` is the text of the LLVM IR that `make_llir` returned with this `metadata`."""
        return str(metadata[CompiledStage.KEY].at("ptx"))


__getattr__ = lazy_names(
    __name__,
    {
        "triton.backends.compiler": "Language",
        "triton.runtime.errors": "PTXASError",
        "triton._C.libtriton": "ir",
        "triton.backends.nvidia.ptx_versions": "file_hash get_ptx_version_from_options get_ptxas get_ptxas_version min_dot_size ptx_get_version sm_arch_from_capability",
    },
)
