"""Descriptors of tensors for Hopper's copies."""
# SPDX-License-Identifier: MIT

from .._names import bind

__all__ = bind(globals(), "TensorDescriptor TensorDescriptorIm2Col")
