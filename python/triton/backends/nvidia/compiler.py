"""Options and names of the NVIDIA target; its compiler is in the native module."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, fields
from typing import Any

from ... import knobs
from ..compiler import BaseBackend, GPUTarget
from .assembler import Assembler, find_assembler


@dataclass(frozen=True)
class CUDAOptions:
    """Launch and compile options."""

    num_warps: int = 4
    num_ctas: int = 1
    num_stages: int = 3
    warp_size: int = 32
    maxnreg: int | None = None
    ptx_version: int | None = None
    ptx_options: str | None = None
    ir_override: str | None = None
    enable_fp_fusion: bool = True
    enable_reflect_ftz: bool = True
    launch_cooperative_grid: bool = False
    launch_pdl: bool = False
    supported_fp8_dtypes: tuple[str, ...] = ("fp8e5", "fp8e4b15")
    deprecated_fp8_dot_operand_dtypes: tuple[str, ...] = ()
    default_dot_input_precision: str = "tf32"
    allowed_dot_input_precisions: tuple[str, ...] = ("tf32", "tf32x3", "ieee", "bf16x3", "bf16x6")
    max_num_imprecise_acc_default: int = 0
    extern_libs: Any = None
    debug: bool = False
    sanitize_overflow: bool = True
    allow_non_constexpr_globals: bool = False
    always_compile: bool = False
    backend_name: str = "cuda"
    arch: str = ""
    instrumentation_mode: str = ""

    def __post_init__(self) -> None:
        for name in ("num_warps", "num_ctas"):
            value = getattr(self, name)
            if not isinstance(value, int) or value < 1 or value & (value - 1):
                raise ValueError(f"{name} must be a power of 2, got {value!r}")

    def hash(self) -> str:
        text = "_".join(f"{name}-{value}" for name, value in sorted(self.__dict__.items()))
        return hashlib.sha256(text.encode("utf-8")).hexdigest()


_NAMES = frozenset(field.name for field in fields(CUDAOptions))


def _capability(arch: str) -> int:
    match = re.fullmatch(r"(?:sm_?)?(\d+)[af]?", arch)
    if match is None:
        raise ValueError(f"{arch!r} is not the name of a GPU architecture; write sm90, for example")
    return int(match.group(1))


class CUDABackend(BaseBackend):
    binary_ext = "cubin"

    @staticmethod
    def supports_target(target: GPUTarget) -> bool:
        return target.backend == "cuda"

    def parse_options(self, options: dict[str, Any]) -> CUDAOptions:
        known = {
            name: value for name, value in options.items() if name in _NAMES and value is not None
        }
        known.setdefault("arch", knobs.runtime.override_arch or f"sm{self.target.arch}")
        capability = _capability(known["arch"])
        known.setdefault("enable_fp_fusion", knobs.language.default_fp_fusion)
        known.setdefault("default_dot_input_precision", knobs.language.fp32_default or "tf32")
        known.setdefault("instrumentation_mode", knobs.compilation.instrumentation_mode)
        known.setdefault(
            "allow_non_constexpr_globals", knobs.compilation.allow_non_constexpr_globals
        )
        if capability >= 89:
            known.setdefault("supported_fp8_dtypes", ("fp8e4b15", "fp8e4nv", "fp8e5"))
        if capability >= 90:
            known.setdefault("deprecated_fp8_dot_operand_dtypes", ("fp8e4b15",))
        known.setdefault("max_num_imprecise_acc_default", 2**30 if capability == 90 else 0)
        if known.get("num_ctas", 1) > 1 and capability < 90:
            raise ValueError(
                f"num_ctas={known['num_ctas']} needs a GPU of compute capability 9.0 or later; "
                f"this one is {capability // 10}.{capability % 10}"
            )
        return CUDAOptions(**known)

    def code_target(self, options: Any) -> GPUTarget:
        return GPUTarget("cuda", _capability(options.arch), self.target.warp_size)

    def _assembler(self) -> Assembler:
        return find_assembler(int(self.target.arch))

    def native_tools(self) -> dict[str, str]:
        found = self._assembler()
        return {"ptxas": found.ptxas, "nvjitlink": found.nvjitlink, "key": found.key}

    def pack_metadata(self, metadata: Any) -> tuple[int, int, int]:
        return metadata.num_warps, metadata.num_ctas, metadata.shared

    def hash(self) -> str:
        return f"cuda-{self.target.arch}-{self._assembler().key}"
