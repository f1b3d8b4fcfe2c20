"""Copies of blocks of tensors by the tensor data mover."""
# SPDX-License-Identifier: MIT

from ...._names import CDNA5, bind

__all__ = bind(
    globals(),
    (
        "update_tensor_descriptor async_load async_store async_wait make_tensor_descriptor "
        "tensor_descriptor tensor_descriptor_type prefetch async_scatter async_gather"
    ),
    CDNA5,
)
