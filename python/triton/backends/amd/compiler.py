"""Options and names of the AMD target; its compiler is in the native module."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from ... import knobs
from ..._C import libtriton
from ..._lazy import lazy_names
from ..compiler import BaseBackend, GPUTarget, SimulatedTarget
from ..options import FP8_DTYPES, TargetOptions, option_class
from ..stages import CompiledStage, compile_ttir


@option_class
class HIPOptions(TargetOptions):
    """Launch and compile options.

    `waves_per_eu` is the number of waves that a SIMD unit must have room for; `matrix_instr_nonkdim` 16 or 32, the
    rows and columns of a matrix instruction. `allow_flush_denorm` allows float32 denormals to become zero.
    `kpack` is the number of matrix instructions, 1 or 2, whose operands one load from LDS brings. Where these two are 0
    the compiler chooses; Triton's default of `kpack` is 1. `use_buffer_ops` allows buffer instructions where an access
    is known to be less than 2 GiB from its base. `use_async_copy` lets pipelined loads go to LDS without registers, or
    not; None: the architecture decides.
    `ir_override` is the path of a file that replaces a stage. `schedule_hint` and `cluster_dims` are accepted
    and have no effect.
    """

    waves_per_eu: int = 0
    num_stages: int = 2
    warp_size: int = 64
    cluster_dims: tuple[int, int, int] = (1, 1, 1)
    # All but Triton's own format.
    supported_fp8_dtypes: tuple[str, ...] = tuple(name for name in FP8_DTYPES if name != "fp8e4b15")
    matrix_instr_nonkdim: int = 0
    kpack: int = 0
    allow_flush_denorm: bool = False
    use_buffer_ops: bool = True
    use_async_copy: bool | None = None
    backend_name: str = "hip"
    instrumentation_mode: str = ""
    schedule_hint: str = "none"

    max_threads: ClassVar[int | None] = 1024

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.num_ctas != 1:
            raise ValueError(f"num_ctas={self.num_ctas}: AMD GPUs have no clusters of CTAs")
        for name, allowed in (("matrix_instr_nonkdim", (0, 16, 32)), ("kpack", (0, 1, 2))):
            if getattr(self, name) not in allowed:
                words = ", ".join(map(str, allowed))
                raise ValueError(f"{name} must be one of {words}, got {getattr(self, name)!r}")


def get_min_dot_size(target: GPUTarget) -> Callable[[Any, Any], tuple[int, int, int]]:
    """The smallest (m, n, k) of a dot of two types: there is no limit."""
    return lambda lhs_type, rhs_type: (1, 1, 1)


class HIPBackend(BaseBackend):
    binary_ext = "hsaco"
    specializes_storage = True

    def __init__(self, target: GPUTarget) -> None:
        super().__init__(target)
        if not isinstance(target.arch, str) or not target.arch.startswith("gfx"):
            raise ValueError(
                f"{target.arch!r} is not the name of an AMD GPU; write gfx942, for example"
            )
        self.is_simulated = isinstance(target, SimulatedTarget)
        if self.is_simulated:
            self.binary_ext = "ptx"

    @staticmethod
    def supports_target(target: GPUTarget) -> bool:
        return target.backend == "hip"

    def parse_options(self, options: dict[str, Any]) -> HIPOptions:
        known = HIPOptions.known(options)
        known.setdefault("arch", knobs.runtime.override_arch or str(self.target.arch))
        known.setdefault("warp_size", libtriton.warp_size("hip", known["arch"]))
        known.setdefault("use_buffer_ops", knobs.amd.use_buffer_ops)
        known.setdefault("use_async_copy", knobs.amd.use_async_copy)
        if libtriton.amd_arch(known["arch"]).get("has_xf32"):
            known.setdefault(
                "allowed_dot_input_precisions",
                (*HIPOptions.allowed_dot_input_precisions, "tf32"),
            )
        return HIPOptions(**known)

    def code_target(self, options: Any) -> GPUTarget:
        arch = options.arch + (libtriton.driver_sim.FEATURE if self.is_simulated else "")
        return GPUTarget("hip", arch, options.warp_size)

    @staticmethod
    def get_tensor_specialization(arg: Any, align: bool = True, **kwargs: Any) -> str:
        key = BaseBackend.get_tensor_specialization(arg, align)
        return key + ("S" if libtriton.is_within_2gib(arg) else "")

    @staticmethod
    def is_within_2gb(arg: Any) -> bool:
        return libtriton.is_within_2gib(arg)

    def pack_metadata(self, metadata: Any) -> tuple[int, int, int]:
        return metadata.num_warps, metadata.num_ctas, metadata.shared

    def get_codegen_implementation(self, options: Any) -> dict[str, Any]:
        return {"min_dot_size": get_min_dot_size(self.target)}

    def get_module_map(self) -> dict[str, Any]:
        from ...language.extra.hip import libdevice

        return {"triton.language.extra.libdevice": libdevice}

    def hash(self) -> str:
        return f"hip-{self.target.arch}{'-sim' if self.is_simulated else ''}"

    # The stages of a kernel one by one, for code that drives the compiler itself: `module` is the result of
    # `ASTSource.make_ir` or of the previous stage. The first stage compiles and raises all errors.

    def make_ttir(
        self, module: Any, metadata: dict[str, Any], options: HIPOptions
    ) -> CompiledStage:
        return compile_ttir(module, metadata, options, self.code_target(options))

    @staticmethod
    def make_ttgir(module: CompiledStage, metadata: dict[str, Any], options: Any) -> CompiledStage:
        return module.at("ttgir")

    @staticmethod
    def make_llir(module: CompiledStage, metadata: dict[str, Any], options: Any) -> str:
        return str(module.at("llir"))

    @staticmethod
    def make_amdgcn(module: Any, metadata: dict[str, Any], options: Any) -> str:
        """`module` is the text that `make_llir` returned with this `metadata`."""
        return str(metadata[CompiledStage.KEY].at("amdgcn"))

    @staticmethod
    def make_hsaco(module: Any, metadata: dict[str, Any], options: Any) -> bytes:
        return metadata[CompiledStage.KEY].at("hsaco").content


__getattr__ = lazy_names(
    __name__,
    {
        "triton.backends.compiler": "Language",
        "triton._C.libtriton": "ir",
    },
)
