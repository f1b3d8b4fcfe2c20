"""Layouts of Gluon's language: how the elements of a tile lie in threads, and in shared memory."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any

from ...._C import libtriton
from ....language.core import _unwrap_if_constexpr, constexpr_type


def _plain(value: Any) -> Any:
    """Without constexpr, and with lists in place of tuples."""
    value = _unwrap_if_constexpr(value)
    if isinstance(value, (list, tuple)) or type(value).__name__ == "tuple":
        return [_plain(item) for item in value]
    return value


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


class Layout:
    """What all layouts have in common. The compiler's own table says which fields fit."""

    def __post_init__(self) -> None:
        for each in dataclasses.fields(self):  # type: ignore[arg-type]
            value = _plain(getattr(self, each.name))
            if value is None and each.default_factory is list:
                value = []
            object.__setattr__(self, each.name, value)
        libtriton.check_layout(self)

    def _fields(self) -> tuple[Any, ...]:
        names = [each.name for each in dataclasses.fields(self)]  # type: ignore[arg-type]
        return tuple(_frozen(getattr(self, name)) for name in names)

    def __eq__(self, other: Any) -> bool:
        return type(self) is type(other) and self._fields() == other._fields()

    def __hash__(self) -> int:
        return hash((type(self).__name__, self._fields()))

    @property
    def type(self) -> Any:
        return constexpr_type(self)

    def format_tensor_view(self, shape: list[int]) -> str:
        """A drawing of a tile of that shape: where each element is."""
        return str(libtriton.layout_view(self, _plain(list(shape)), False))

    def format_hardware_view(self, shape: list[int]) -> str:
        """A drawing of what each register of each thread, or each place in shared memory, holds."""
        return str(libtriton.layout_view(self, _plain(list(shape)), True))

    def mangle(self) -> str:
        """The layout in names of specialised functions."""
        return str(libtriton.layout_text(self))


class DistributedLayout(Layout):
    """A layout of tiles whose elements threads hold."""

    @property
    def rank(self) -> int:
        """The number of dimensions of the tiles."""
        return int(libtriton.layout_attribute(self, "rank"))


class SharedLayout(Layout):
    """A layout of buffers in shared memory."""


@dataclass(frozen=True, eq=False)
class AutoLayout(DistributedLayout):
    """A layout that follows from those of the tiles that the tile is computed with."""


@dataclass(frozen=True, eq=False)
class CoalescedLayout(DistributedLayout):
    """The layout in which a warp's accesses to memory are adjacent."""


@dataclass(frozen=True, eq=False)
class BlockedLayout(DistributedLayout):
    """Boxes of elements per thread, of threads per warp, of warps; `order` names dimensions from the
    fastest on.
    """

    size_per_thread: list[int]
    threads_per_warp: list[int]
    warps_per_cta: list[int]
    order: list[int]
    cga_layout: list[list[int]] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class SliceLayout(DistributedLayout):
    """Another layout with one dimension removed."""

    dim: int
    parent: DistributedLayout


@dataclass(frozen=True, eq=False)
class DistributedLinearLayout(DistributedLayout):
    """The coordinates that each bit of a register's, lane's, warp's and CTA's index adds."""

    reg_bases: list[list[int]]
    lane_bases: list[list[int]]
    warp_bases: list[list[int]]
    block_bases: list[list[int]]
    shape: list[int]


@dataclass(frozen=True, eq=False)
class DotOperandLayout(DistributedLayout):
    """An operand of a dot whose result has the parent layout."""

    operand_index: int
    parent: DistributedLayout
    k_width: int


@dataclass(frozen=True, eq=False)
class NVMMADistributedLayout(DistributedLayout):
    """The result of NVIDIA's matrix instructions."""

    version: list[int]
    warps_per_cta: list[int]
    instr_shape: list[int]
    cga_layout: list[list[int]] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class SwizzledSharedLayout(SharedLayout):
    """Rows whose vectors are permuted by XOR with the row."""

    vec: int
    per_phase: int
    max_phase: int
    order: list[int]
    cga_layout: list[list[int]] = field(default_factory=list)
