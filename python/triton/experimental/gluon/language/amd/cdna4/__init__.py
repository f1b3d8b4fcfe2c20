"""Gluon on AMD's CDNA 4 GPUs (gfx950)."""
# SPDX-License-Identifier: MIT

from typing import Any

from ......_C import libtriton
from ......runtime.jit import constexpr_function
from ...._names import bind
from ..._layouts import DotOperandLayout
from .._layouts import AMDMFMALayout
from . import async_copy


@constexpr_function
def get_mfma_scale_layout(dot_operand_layout: Any, shape: Any, scale_factor: int = 32) -> Any:
    """The layout of a tile of scales for an operand of `mfma_scaled`."""
    return libtriton.mfma_scale_layout(dot_operand_layout, list(shape), scale_factor)


@constexpr_function
def compute_efficient_padded_shared_layout(
    dot_operand_layout: Any, shape: Any, dtype: Any, is_k_contig: bool = True
) -> Any:
    """A PaddedSharedLayout for an operand of mfma in which reads meet no bank twice; None where
    there is none.
    """
    bits = dtype.primitive_bitwidth
    return libtriton.mfma_padded_layout(dot_operand_layout, list(shape), bits, is_k_contig)


__all__ = bind(
    globals(),
    (
        "buffer_load buffer_store buffer_atomic_add buffer_atomic_and buffer_atomic_min "
        "buffer_atomic_max buffer_atomic_or buffer_atomic_xor buffer_atomic_xchg mfma "
        "mfma_scaled scaled_upcast get_mfma_scale_layout "
        "compute_efficient_padded_shared_layout"
    ),
)
__all__ += ["AMDMFMALayout", "DotOperandLayout", "async_copy"]
