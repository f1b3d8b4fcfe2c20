"""Descriptors of tensors for Hopper's copies."""
# SPDX-License-Identifier: MIT

from .._names import bind
from ._tensor_descriptor import TensorDescriptor

__all__ = ["TensorDescriptor", *bind(globals(), "TensorDescriptorIm2Col")]
