"""Options common to all targets: checks of their numbers, and a hash."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, ClassVar

from .._C import libtriton

FP8_DTYPES = tuple(
    name for name, _, kind, bits, *_ in libtriton.element_types() if (kind, bits) == ("float", 8)
)


class TargetOptions:
    """Base of the dataclasses of options."""

    max_warps: ClassVar[int | None] = None  # of a CTA; None: no limit
    num_warps: int
    warp_size: int
    extern_libs: Any

    def __post_init__(self) -> None:
        for name in ("num_warps", "num_ctas"):
            value = getattr(self, name)
            if not isinstance(value, int) or value < 1 or value & (value - 1):
                raise AssertionError(f"{name} must be a power of 2, got {value!r}")
        if self.max_warps is not None and self.num_warps > self.max_warps:
            from ..runtime.errors import OutOfResources

            lanes = self.warp_size  # tuning skips such a configuration
            raise OutOfResources(self.num_warps * lanes, self.max_warps * lanes, "threads")
        if isinstance(self.extern_libs, Mapping):  # in a hashable form
            object.__setattr__(self, "extern_libs", tuple(sorted(self.extern_libs.items())))

    def hash(self) -> str:
        text = "_".join(f"{name}-{value}" for name, value in sorted(self.__dict__.items()))
        return hashlib.sha256(text.encode("utf-8")).hexdigest()
