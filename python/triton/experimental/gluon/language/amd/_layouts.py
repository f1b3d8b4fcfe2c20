"""Layouts of AMD's matrix instructions."""
# SPDX-License-Identifier: MIT

from __future__ import annotations

from dataclasses import dataclass, field

from .._layouts import DistributedLayout

__all__ = ["AMDMFMALayout", "AMDWMMALayout"]


@dataclass(frozen=True, eq=False)
class AMDMFMALayout(DistributedLayout):
    """The result of CDNA's matrix instructions."""

    version: int
    instr_shape: list[int]
    transposed: bool
    warps_per_cta: list[int]
    element_bitwidth: int | None = None
    tiles_per_warp: list[int] | None = None
    cga_layout: list[list[int]] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class AMDWMMALayout(DistributedLayout):
    """The result of RDNA's matrix instructions."""

    version: int
    transposed: bool
    warp_bases: list[list[int]]
    reg_bases: list[list[int]] | None = None
    instr_shape: list[int] | None = None
    cga_layout: list[list[int]] = field(default_factory=list)
    rank: int | None = None  # type: ignore[assignment]
