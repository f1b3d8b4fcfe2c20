"""`triton.language.target_info`: the target of the compilation; on the host, the active device's.
"""

# SPDX-License-Identifier: MIT
from __future__ import annotations

from typing import Any

from .._lazy import lazy_names

__all__ = [
    "cuda_capability_geq",
    "current_target",
    "is_cuda",
    "is_hip",
    "is_hip_cdna3",
    "is_hip_cdna4",
    "is_hip_gfx1250",
]


def current_target() -> Any:
    """The active driver's target, or None where there is no driver."""
    from ..runtime import driver

    try:
        return driver.active.get_current_target()
    except RuntimeError:
        return None


def _is(backend: str, arch: str | None = None) -> bool:
    target = current_target()
    return (
        target is not None and target.backend == backend and (arch is None or target.arch == arch)
    )


def is_cuda() -> bool:
    return _is("cuda")


def is_hip() -> bool:
    return _is("hip")


def is_hip_cdna3() -> bool:
    return _is("hip", "gfx942")


def is_hip_cdna4() -> bool:
    return _is("hip", "gfx950")


def is_hip_gfx1250() -> bool:
    return _is("hip", "gfx1250")


def cuda_capability_geq(major: int, minor: int = 0) -> bool:
    """Whether the target is an NVIDIA GPU of at least that compute capability."""
    return is_cuda() and current_target().arch >= major * 10 + minor


__getattr__ = lazy_names(
    __name__,
    {
        "triton.runtime.jit": "constexpr_function",
        "triton.runtime.driver": "driver",
    },
)
