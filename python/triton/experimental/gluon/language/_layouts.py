"""Layouts of Gluon's language: how the elements of a tile lie in threads, and in shared memory."""

# SPDX-License-Identifier: MIT
from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any

from ...._C import libtriton
from ....language.core import _unwrap_if_constexpr, constexpr_type
from ....runtime.jit import constexpr_function


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
        fields = dataclasses.fields(self)  # type: ignore[arg-type]
        for each in fields:
            object.__setattr__(self, each.name, _plain(getattr(self, each.name)))
        for each, value in zip(fields, libtriton.complete_layout(self), strict=True):
            if getattr(self, each.name) is None:
                object.__setattr__(self, each.name, _plain(value))

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


def _shape_per_cta(shape: list[int], cga_layout: list[list[int]]) -> list[int]:
    """The part of a buffer that one CTA of a cluster holds."""
    part = list(shape)
    for basis in cga_layout:
        part = [
            extent // 2 if stride else extent for extent, stride in zip(part, basis, strict=True)
        ]
    return part


@dataclass(frozen=True, eq=False)
class NVMMASharedLayout(SharedLayout):
    """A matrix as NVIDIA's matrix instructions and TMA copies read it."""

    swizzle_byte_width: int
    element_bitwidth: int
    rank: int = 2
    transposed: bool = False
    fp4_padded: bool = False
    cga_layout: list[list[int]] = field(default_factory=list)

    @staticmethod
    @constexpr_function
    def get_default_for(
        block_shape: Any,
        dtype: Any,
        transposed: bool = False,
        fp4_padded: bool = False,
        cga_layout: Any = None,
    ) -> NVMMASharedLayout:
        """The layout with the widest swizzle that the rows of a block fill."""
        shape, split = _plain(block_shape), _plain(cga_layout) or []
        width = libtriton.nvmma_swizzle(
            _shape_per_cta(shape, split), dtype.primitive_bitwidth, transposed, fp4_padded
        )
        return NVMMASharedLayout(
            width, dtype.primitive_bitwidth, len(shape), transposed, fp4_padded, split
        )


@dataclass(frozen=True, eq=False)
class PaddedSharedLayout(SharedLayout):
    """Elements in the order of bases, with unused ones after each interval."""

    interval_padding_pairs: list[list[int]]
    offset_bases: list[list[int]]
    cga_layout: list[list[int]]
    shape: list[int]

    @staticmethod
    @constexpr_function
    def with_identity_for(
        interval_padding_pairs: Any, shape: Any, order: Any, cga_layout: Any = ()
    ) -> PaddedSharedLayout:
        """The layout whose elements follow one another along the dimensions in that order."""
        extents, split = _plain(shape), _plain(cga_layout) or []
        part = _shape_per_cta(extents, split)
        bases = [
            [1 << bit if each == dim else 0 for each in range(len(extents))]
            for dim in _plain(order)
            for bit in range(part[dim].bit_length() - 1)
        ]
        return PaddedSharedLayout(interval_padding_pairs, bases, split, extents)


@dataclass(frozen=True, eq=False)
class SharedLinearLayout(SharedLayout):
    """The coordinates that each bit of an offset, and of the CTA's index, adds."""

    offset_bases: list[list[int]]
    block_bases: list[list[int]] = field(default_factory=list)
    alignment: int = 16

    @property
    def shape(self) -> list[int]:
        """The extents that the bases span."""
        return list(libtriton.layout_attribute(self, "shape"))


def bases_per_dim(bases: list[list[int]], rank: int, skip_broadcast: bool = True) -> list[int]:
    """How far bases reach along each dimension, as a product of two per basis. A basis of zeros counts
    for the dimension of the one before it unless `skip_broadcast`.
    """
    extents = [1] * rank
    last = None
    for basis in bases:
        dim = next((index for index, stride in enumerate(basis) if stride), None)
        if dim is not None:
            last = dim
        elif skip_broadcast:
            continue
        if last is None:
            raise ValueError("the first basis is zero in all dimensions")
        extents[last] *= 2
    return extents


def warps_per_cta(layout: Any, shape: Any) -> list[int]:
    """The warps along each dimension of a tile."""
    if hasattr(layout, "warp_bases"):
        return bases_per_dim(layout.warp_bases, len(shape))
    if isinstance(layout, (SliceLayout, DotOperandLayout)):
        return warps_per_cta(layout.parent, shape)
    return list(layout.warps_per_cta)
