"""Gluon on AMD's CDNA 4 GPUs (gfx950)."""
# SPDX-License-Identifier: MIT

from ...._names import bind
from . import async_copy

__all__ = bind(
    globals(),
    (
        "buffer_load buffer_store buffer_atomic_add buffer_atomic_and buffer_atomic_min "
        "buffer_atomic_max buffer_atomic_or buffer_atomic_xor buffer_atomic_xchg mfma "
        "mfma_scaled scaled_upcast get_mfma_scale_layout "
        "compute_efficient_padded_shared_layout"
    ),
)
__all__ += ["async_copy"]
