"""Triton kernels in JAX programs, on CPUs and NVIDIA GPUs, under `jax.jit` or eagerly.

import triton.jax as tj
out = tj.triton_call(x, y, kernel=add_kernel, out_type=jax.typeof(x), grid=(n // 128,), BLOCK=128)
"""
# SPDX-License-Identifier: MIT

from .api import triton_call

__all__ = ["triton_call"]
