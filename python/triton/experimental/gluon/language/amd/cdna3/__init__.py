"""Gluon on AMD's CDNA 3 GPUs (gfx942)."""
# SPDX-License-Identifier: MIT

from ...._names import bind

__all__ = bind(
    globals(),
    (
        "buffer_load buffer_store buffer_atomic_add buffer_atomic_and buffer_atomic_min "
        "buffer_atomic_max buffer_atomic_or buffer_atomic_xor buffer_atomic_xchg mfma "
        "scaled_upcast"
    ),
)
