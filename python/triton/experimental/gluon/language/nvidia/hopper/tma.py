"""Copies of blocks of tensors between global and shared memory."""
# SPDX-License-Identifier: MIT

from ...._names import bind

__all__ = bind(
    globals(),
    (
        "async_atomic_add async_atomic_and async_atomic_max async_atomic_min async_atomic_or "
        "async_atomic_xor async_copy_global_to_shared async_copy_global_to_shared_im2col "
        "async_copy_shared_to_global async_load async_load_im2col async_store store_wait "
        "tensor_descriptor tensor_descriptor_im2col tensor_descriptor_type "
        "tensor_descriptor_im2col_type make_tensor_descriptor"
    ),
)
